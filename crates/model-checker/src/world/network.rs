//! Messages on their way: so many, one by one; or, where each may be lost and doubled without end, the set
//! of all that were ever sent, with one bit for each that can be.

use design::model::{Operation, OperationId};
use engine::{NULL, Word};
use rustc_hash::FxHashMap;

use super::flow::{PlaceOf, Scope};
use super::parts::{MessagePlan, Network, ROWS, SentPlan, SlotName};
use super::plan::Maker;
use super::slots::{Codec, Kind};
use super::sorts::{Sorts, message_targets};
use crate::WorldError;

/// More different messages than this are not kept as a set.
pub(crate) const SENT_MAX: usize = 1024;

impl Maker<'_> {
    pub(super) fn messages(&mut self, places: usize) -> Result<(), WorldError> {
        self.plan.messages_max = self.settings.messages;
        let targets = message_targets(self.design).into_iter().enumerate();
        let targets: Vec<OperationId> =
            targets.filter(|(_, target)| *target).map(|(at, _)| OperationId::of(at)).collect();
        if self.settings.network.is_set() {
            return self.sent(&targets, places);
        }
        for operation in targets {
            let held = &self.design.operations[operation.index()];
            let first = self.plan.slots.list.len() as u32;
            let mut key = 1;
            // as many as messages may be under way at once, and each of them for every record
            let each = held.each.is_some();
            let records = match held.params.first().and_then(|param| param.ty.subject()) {
                Some(subject) if each => self.universe.keys[subject.index()].len as u32,
                _ => 1,
            };
            let count = self.settings.messages * records;
            for at in 0..count {
                // 0: none; 1: from nowhere; then from each place
                let codec = Codec::Range { low: 0, count: places as u64 + 2 };
                self.slot(SlotName::Message { operation, at }, codec, false, Kind::Plain);
                let start = self.plan.slots.list.len() as u32;
                for (number, param) in held.params.iter().enumerate() {
                    let what = || format!("{}.{}", held.name, param.name);
                    let place = PlaceOf::Local(Scope::Operation(operation.0), param.local);
                    self.value(SlotName::MessageArg, &param.ty, (place, None), &what)?;
                    if number == 0 {
                        key = 1 + self.plan.slots.list.len() as u32 - start;
                    }
                }
            }
            let width = self.plan.slots.list.len() as u32 - first;
            let stride = width.checked_div(count).unwrap_or(0);
            let ordered = held.hears.is_some();
            let sorted = if ordered { key } else { stride };
            let plan = MessagePlan { operation, first, stride, count, ordered, each, sorted };
            self.plan.messages.push(plan);
        }
        Ok(())
    }

    /// A bit for each message that can be sent.
    fn sent(&mut self, targets: &[OperationId], places: usize) -> Result<(), WorldError> {
        // Where each is owed once, two that are the same but from different places are two.
        let owed = self.settings.network == Network::Owed;
        let from = owed.then_some(places as Word + 1);
        let mut plans = Vec::new();
        let mut all = 0;
        for operation in targets {
            let held = &self.design.operations[operation.index()];
            let (columns, kinds) = match self.columns(*operation, held)? {
                Ok(columns) => columns,
                Err(why) => {
                    self.plan.no_set = Some(why);
                    return Ok(());
                }
            };
            let columns: Vec<Vec<Word>> =
                from.map(|count| (0..count).collect()).into_iter().chain(columns).collect();
            all += columns.iter().map(Vec::len).fold(1_usize, usize::saturating_mul);
            if all > SENT_MAX {
                self.plan.no_set = Some(format!(
                    "there are more than {SENT_MAX} different messages, up to `{}`",
                    held.name
                ));
                return Ok(());
            }
            plans.push((*operation, product(&columns), kinds));
        }
        for (operation, rows, kinds) in plans {
            let kinds: Vec<Kind> = from.map(|_| Kind::Plain).into_iter().chain(kinds).collect();
            let index: FxHashMap<Vec<Word>, u32> =
                rows.iter().enumerate().map(|(at, row)| (row.clone(), at as u32)).collect();
            let placed = from.is_some();
            let count = rows.len() as u32;
            let first = self.bits(count, |row| SlotName::Sent { operation, row });
            let owed = owed.then(|| self.bits(count, |row| SlotName::Owed { operation, row }));
            self.plan.sent.push(SentPlan { operation, rows, index, kinds, placed, first, owed });
        }
        if owed {
            let codec = Codec::Range { low: 0, count: 2 };
            self.plan.silent = Some(self.slot(SlotName::Silent, codec, false, Kind::Plain));
        }
        Ok(())
    }

    fn bits(&mut self, count: u32, name: impl Fn(u32) -> SlotName) -> u32 {
        let first = self.plan.slots.list.len() as u32;
        for row in (0..count).step_by(ROWS as usize) {
            let bits = ROWS.min(count - row);
            self.slot(name(row), Codec::Range { low: 0, count: 1 << bits }, false, Kind::Plain);
        }
        first
    }

    /// Every value of each parameter, or why they cannot be listed.
    #[expect(clippy::type_complexity, reason = "the columns and their kinds, or why not")]
    fn columns(
        &self,
        operation: OperationId,
        held: &Operation,
    ) -> Result<Result<(Vec<Vec<Word>>, Vec<Kind>), String>, WorldError> {
        let (mut columns, mut kinds) = (Vec::new(), Vec::new());
        for param in &held.params {
            let what = || format!("{}.{}", held.name, param.name);
            let sort = self
                .universe
                .sorts
                .place(PlaceOf::Local(Scope::Operation(operation.0), param.local));
            let scalar = engine::width_of(&param.ty) == 1;
            let (codec, kind) = match scalar {
                true => self.codec(&param.ty, sort, &what)?,
                false => (Codec::Ignored, Kind::Plain),
            };
            let computed = matches!(kind, Kind::Digest | Kind::Signature | Kind::Call);
            let mut values: Vec<Word> = match &codec {
                Codec::Range { low, count } if !computed && *count <= SENT_MAX as u64 => {
                    (*low..*low + *count as Word).collect()
                }
                Codec::Listed(values) if !computed => values.to_vec(),
                _ => return Ok(Err(format!("not every value of `{}` can be listed", what()))),
            };
            if param.ty.is_optional() || self.settings.all_nullable {
                values.push(NULL);
            }
            columns.push(values);
            kinds.push(kind);
        }
        Ok(Ok((columns, kinds)))
    }
}

fn product(columns: &[Vec<Word>]) -> Vec<Vec<Word>> {
    columns.iter().fold(vec![Vec::new()], |rows: Vec<Vec<Word>>, column| {
        let longer = |row: &Vec<Word>, word: &Word| row.iter().chain([word]).copied().collect();
        rows.iter().flat_map(|row| column.iter().map(move |word| longer(row, word))).collect()
    })
}

/// The classes of values that messages carry.
pub(crate) fn carried(design: &design::model::Design, sorts: &Sorts) -> Vec<usize> {
    let targets = message_targets(design);
    let operations = design.operations.iter().enumerate().filter(|(at, _)| targets[*at]);
    let mut list: Vec<usize> = operations
        .flat_map(|(at, held)| held.params.iter().map(move |param| (at, param)))
        .filter_map(|(at, param)| sorts.local(OperationId::of(at), param.local))
        .collect();
    list.sort_unstable();
    list.dedup();
    list
}
