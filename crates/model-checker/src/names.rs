//! Values and places in the design's own words.

use design::model::{AttrId, OperationId, StructField, SubjectId, Type};
use engine::{HashPart, NULL, Truth, Word};

use crate::StateLine;
use crate::machine::{Extras, Machine, NOW, View};
use crate::world::universe::BASE;

impl Machine {
    /// Records, messages and calls that the world has no room for.
    pub(crate) fn extra_lines(&self, extras: &Extras) -> Vec<StateLine> {
        let lines = extras.records.iter().map(|extra| StateLine {
            record: self.show_key(extra.subject, extra.key),
            attribute: String::new(),
            value: if extra.words.is_some() { "present" } else { "absent" }.into(),
        });
        let sends = extras.sends.iter().map(|(operation, _)| StateLine {
            record: format!("send {}", self.design.operations[operation.index()].name),
            attribute: String::new(),
            value: "under way, beyond the room of this world".into(),
        });
        lines.chain(sends).collect()
    }

    /// A value of a type; a collection takes all its words.
    pub(crate) fn show(&self, ty: &Type, words: &[Word]) -> String {
        let Some(&word) = words.first() else { return String::new() };
        if let Type::Struct(fields) = ty {
            let field = |(field, word): (&StructField, &Word)| {
                format!("{}: {}", field.name, self.show(&field.ty, &[*word]))
            };
            let shown: Vec<String> = fields.iter().zip(words).map(field).collect();
            return format!("{{{}}}", shown.join(", "));
        }
        if word == NULL {
            return "null".into();
        }
        let list = |of: &Type, open: char, close: char| {
            let width = engine::width_of(of) as usize;
            let shown: Vec<String> = words[1..]
                .chunks_exact(width)
                .take(word as usize)
                .map(|element| self.show(of, element))
                .collect();
            format!("{open}{}{close}", shown.join(", "))
        };
        match ty.required() {
            Type::Bool => if word == 0 { "false" } else { "true" }.into(),
            Type::Enum(id) => {
                let constants = &self.design.enumerations[id.index()].constants;
                constants.get(word as usize).cloned().unwrap_or_else(|| word.to_string())
            }
            Type::Ref(subject) => self.show_key(*subject, word),
            Type::Actor => self.show_principal(word),
            Type::Time => self.show_time(word - BASE),
            Type::Duration => self.clock.show(word),
            Type::Decimal | Type::Money(_) => decimal(word),
            Type::Hash => self.show_digest(word),
            Type::Signature => match self.universe.signs.get((word - 1) as usize) {
                Some((effect, key)) => {
                    format!("signature of {}", self.effect_key(*effect, *key))
                }
                None => "made-up signature".into(),
            },
            Type::Proof => if word == 1 { "right proof" } else { "wrong proof" }.into(),
            ty if ty.is_opaque() => {
                let sorts = &self.universe.sorts;
                match sorts.pool.get(word as usize) {
                    Some(text) if sorts.is_opaque(word) => text.clone(),
                    // as it is written
                    Some(text) => format!("{text:?}"),
                    None => word.to_string(),
                }
            }
            Type::List { of, .. } => list(of, '[', ']'),
            Type::Set { of, .. } => list(of, '{', '}'),
            Type::Map { key, value, .. } => {
                let shown: Vec<String> = (0..word as usize)
                    .filter_map(|at| Some((words.get(1 + 2 * at)?, words.get(2 + 2 * at)?)))
                    .map(|(k, v)| format!("{}: {}", self.show(key, &[*k]), self.show(value, &[*v])))
                    .collect();
                format!("{{{}}}", shown.join(", "))
            }
            _ => word.to_string(),
        }
    }

    /// `now+10m`, `between now-10m and now`
    fn show_time(&self, distance: Word) -> String {
        let unit = self.clock.per_unit;
        if distance < -self.settings.horizon * unit {
            return "long ago".into();
        }
        let at = |units: Word| match units {
            0 => "now".to_string(),
            1.. => format!("now+{}", self.clock.show(units * unit)),
            _ => format!("now-{}", self.clock.show(-units * unit)),
        };
        let units = distance.div_euclid(unit);
        match distance.rem_euclid(unit) {
            0 => at(units),
            _ => format!("between {} and {}", at(units), at(units + 1)),
        }
    }

    /// `hash(statement-1, READ, now+1)`
    fn show_digest(&self, digest: Word) -> String {
        let Some(term) = self.terms.term(digest).filter(|term| !term.0.is_empty()) else {
            return "digest of something else".into();
        };
        let shown: Vec<String> = term
            .0
            .iter()
            .zip(&term.1)
            .map(|(part, word)| {
                let ty = match part {
                    HashPart::Bool => Type::Bool,
                    HashPart::Decimal => Type::Decimal,
                    HashPart::Time => Type::Time,
                    HashPart::Duration => Type::Duration,
                    HashPart::Actor => Type::Actor,
                    HashPart::Digest => Type::Hash,
                    HashPart::Int => Type::Int,
                    HashPart::Enum(constants) => {
                        let constant = constants.get(*word as usize);
                        return constant.cloned().unwrap_or_else(|| word.to_string());
                    }
                    HashPart::Text | HashPart::Bytes | HashPart::PublicKey | HashPart::Blob => {
                        Type::Text
                    }
                };
                self.show(&ty, &[*word])
            })
            .collect();
        format!("hash({})", shown.join(", "))
    }

    pub(crate) fn show_principal(&self, principal: Word) -> String {
        self.universe
            .principals
            .get(principal as usize)
            .map_or_else(|| principal.to_string(), |held| held.name.clone())
    }

    /// `resource-1`, or with several parts `Rm(tm-1, rm-2)`.
    pub(crate) fn show_key(&self, subject: SubjectId, key: Word) -> String {
        let held = &self.design.subjects[subject.index()];
        if key < 0 {
            return format!("{}(?)", held.name);
        }
        let view = View::new(self, &[], NOW);
        let parts: Vec<String> = (0..held.keys.len() as u32)
            .zip(&held.keys)
            .map(|(at, part)| self.show(&part.ty, &[view.key_part(subject, key, at)]))
            .collect();
        match (parts.len(), &held.keys[0].ty) {
            (1, Type::Int | Type::Bool | Type::Enum(_)) => {
                format!("{}({})", held.name, parts[0])
            }
            (1, _) => parts[0].clone(),
            _ => format!("{}({})", held.name, parts.join(", ")),
        }
    }

    /// `OwnerEpoch.current`
    pub(crate) fn attribute_name(&self, subject: SubjectId, attr: AttrId) -> String {
        let held = &self.design.subjects[subject.index()];
        let attribute = &held.attributes[attr.index()];
        format!("{}.{}", held.states[attribute.state.index()].name, attribute.name)
    }

    /// The arguments of a call, by name.
    /// `vote(member: member-1, term: 2)`
    pub(crate) fn show_message(&self, operation: OperationId, args: &[Word]) -> String {
        let params = self.show_params(operation, args);
        let params: Vec<String> =
            params.into_iter().map(|(name, value)| format!("{name}: {value}")).collect();
        format!("{}({})", self.design.operations[operation.index()].name, params.join(", "))
    }

    pub(crate) fn show_params(&self, id: OperationId, words: &[Word]) -> Vec<(String, String)> {
        let operation = &self.design.operations[id.index()];
        let layout = self.program.params(id);
        operation
            .params
            .iter()
            .zip(&layout.fields)
            .map(|(param, field)| {
                let value = words.get(field.range()).unwrap_or(&[]);
                (param.name.clone(), self.show(&param.ty, value))
            })
            .collect()
    }
}

fn decimal(word: Word) -> String {
    let sign = if word < 0 { "-" } else { "" };
    let (whole, part) = (word.unsigned_abs() / 1_000_000, word.unsigned_abs() % 1_000_000);
    if part == 0 {
        return format!("{sign}{whole}");
    }
    let digits = format!("{part:06}");
    format!("{sign}{whole}.{}", digits.trim_end_matches('0'))
}
