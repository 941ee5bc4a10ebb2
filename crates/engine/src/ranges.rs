//! What a step may not leave behind: a value outside its range.
//!
//! Looked at when all statements are done, so that a value may pass through on its way.

use design::model::{OperationId, StateId, SubjectId};

use crate::execute::Execute;
use crate::outcome::{Outside, Place};
use crate::overlay::Status;
use crate::program::operation::{Check, ColumnRule, Kind, Op};
use crate::program::{KeyPartRule, Program, RangeRule};
use crate::{NULL, Truth, Word};

/// The first key among the arguments that has a part outside its range.
pub(crate) fn outside_key<T: Truth>(
    program: &Program,
    truth: &T,
    op: &Op,
    params: &[Word],
) -> Option<Outside> {
    op.key_values.iter().find_map(|rule| {
        let words = &params[rule.field.range()];
        let first = words.first().copied().unwrap_or(NULL);
        let used = match rule.stride {
            0 => 0..1,
            // an optional collection may be null as a whole
            stride => rule.first as usize..(1 + first.max(0) as usize * stride as usize),
        };
        let keys = words.get(used).unwrap_or_default().iter().step_by(rule.stride.max(1) as usize);
        keys.filter(|key| **key != NULL)
            .find_map(|key| key_part(program, truth, rule.subject, *key))
    })
}

/// The first part of a key that lies outside its range, parents' parts among them.
fn key_part<T: Truth>(
    program: &Program,
    truth: &T,
    subject: SubjectId,
    key: Word,
) -> Option<Outside> {
    program.subject(subject).key_ranges.iter().find_map(|rule| match *rule {
        KeyPartRule::Range(part, range) => {
            let value = truth.key_part(subject, key, part);
            let place = Place::Key { subject, part };
            (!range.contains(value)).then_some(Outside { place, value })
        }
        KeyPartRule::Refers(part, other) => {
            key_part(program, truth, other, truth.key_part(subject, key, part))
        }
    })
}

/// What the step would leave outside its range: of several the first in the order of declaration, and
/// only then what it would send.
pub(crate) fn outside<T: Truth>(execute: &Execute<'_, '_, T>) -> Option<Outside> {
    let program = execute.eval.program;
    let mut found = First::default();
    let overlay = &*execute.eval.env.overlay;
    for (index, entry) in overlay.entries.iter().enumerate() {
        if overlay.status(index) != Status::Changed {
            continue;
        }
        let Some(words) = overlay.words(index) else { continue };
        let rules = program.subject(entry.subject);
        match entry.state {
            Some(state) => found.look(entry.subject, &rules.states[state.index()].ranges, words),
            None => {
                found.look(entry.subject, &rules.ranges, words);
                if !rules.key_ranges.is_empty() {
                    let truth = execute.eval.env.truth;
                    found.keep(
                        (entry.subject.0, 0),
                        key_part(program, truth, entry.subject, entry.key),
                    );
                }
            }
        }
    }
    for (subject, _, log, _, part) in &execute.out.appends {
        let ranges = state_ranges(program, *subject, *log);
        found.look(*subject, ranges, execute.out.part(*part));
    }
    for (subject, state, _, attr, part) in &execute.out.ephemerals {
        let ranges = state_ranges(program, *subject, *state);
        for rule in ranges.iter().filter(|rule| rule.attr == *attr) {
            found.look(*subject, &[RangeRule { offset: 0, ..*rule }], execute.out.part(*part));
        }
    }
    let sends = || {
        execute
            .out
            .sends
            .iter()
            .find_map(|(operation, _, args)| sent(program, *operation, execute.out.part(*args)))
    };
    found.0.map(|(_, outside)| outside).or_else(sends)
}

fn state_ranges(program: &Program, subject: SubjectId, state: StateId) -> &[RangeRule] {
    &program.subject(subject).states[state.index()].ranges
}

/// A call to the world outside never leaves with an argument outside its range. A message does: it
/// is refused where it arrives.
fn sent(program: &Program, operation: OperationId, args: &[Word]) -> Option<Outside> {
    let op = &program.operations[operation.index()];
    if op.kind != Kind::Effect {
        return None;
    }
    let single = op.values.iter().find_map(|rule| {
        let Check::Within(range) = rule.check else { return None };
        let value = args.get(rule.field.offset as usize).copied().unwrap_or(NULL);
        let place = Place::Sent { operation, param: rule.param };
        (value != NULL && !range.contains(value)).then_some(Outside { place, value })
    });
    let in_list = |rule: &ColumnRule| {
        let Check::Within(range) = rule.check else { return None };
        let mut words = rule.words(args);
        let (index, value) = words.find(|(_, value)| *value != NULL && !range.contains(*value))?;
        let place = Place::InSent { operation, param: rule.param, index, field: rule.field };
        Some(Outside { place, value })
    };
    single.or_else(|| op.columns.iter().find_map(in_list))
}

/// The first of the records in a list with a field outside its range.
fn in_list(subject: SubjectId, rule: &RangeRule, words: &[Word]) -> Option<Outside> {
    let (field, stride) = rule.field?;
    let words = words.get(rule.offset as usize..)?;
    let length = usize::try_from(*words.first()?).unwrap_or(0);
    let column = words[1..].iter().skip(field as usize).step_by(stride as usize).take(length);
    let outside = |value: &Word| *value != NULL && !rule.range.contains(*value);
    let (index, value) = (0..).zip(column).find(|(_, value)| outside(value))?;
    let place = Place::InAttribute { subject, attr: rule.attr, index, field };
    Some(Outside { place, value: *value })
}

/// The first in the order of declaration; of the same attribute of several records, the one that was
/// looked at first.
#[derive(Default)]
struct First(Option<((u32, u32), Outside)>);

impl First {
    fn look(&mut self, subject: SubjectId, ranges: &[RangeRule], words: &[Word]) {
        for rule in ranges {
            if rule.field.is_some() {
                let outside = in_list(subject, rule, words);
                self.keep((subject.0, rule.attr.0 + 1), outside);
                continue;
            }
            let value = words.get(rule.offset as usize).copied().unwrap_or(NULL);
            if value != NULL && !rule.range.contains(value) {
                let place = Place::Attribute { subject, attr: rule.attr };
                self.keep((subject.0, rule.attr.0 + 1), Some(Outside { place, value }));
            }
        }
    }

    fn keep(&mut self, order: (u32, u32), outside: Option<Outside>) {
        if let Some(outside) = outside
            && self.0.is_none_or(|(known, _)| order < known)
        {
            self.0 = Some((order, outside));
        }
    }
}
