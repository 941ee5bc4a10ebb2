//! How values of one type become values of another.

use design::model::*;

use super::{Following, Site};

/// The easiest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rule {
    /// they are stored alike
    Same,
    /// each value is written anew, and every value can be
    Each,
    /// each value is looked at: not every one has a place
    Some,
    Never,
}

/// Numbers up to this have an exact equal among decimals, which count millionths.
const WHOLE_MAX: i64 = i64::MAX / 1_000_000;

impl Following<'_> {
    /// What becomes of a word of an enumeration there.
    pub fn word<'w>(&'w self, word: &'w str, is: &[String], site: Site) -> &'w str {
        let fits = |held: &&super::Word| {
            held.old == word && held.of.is_none_or(|of| of == site) && is.contains(&held.new)
        };
        // what is said of one place counts before what is said of all
        let own = self.words.iter().filter(fits).find(|held| held.of.is_some());
        own.or_else(|| self.words.iter().find(fits)).map_or(word, |held| held.new.as_str())
    }

    pub fn rule(&self, was: &Type, is: &Type, site: Site) -> Rule {
        match (was, is) {
            (Type::Optional(was), Type::Optional(is)) => self.rule(was, is, site),
            (Type::Optional(was), is) => self.rule(was, is, site).max(Rule::Some),
            (was, Type::Optional(is)) => self.rule(was, is, site).max(Rule::Each),
            (Type::Enum(a), Type::Enum(b)) => {
                let is = &self.new.enumerations[b.index()].constants;
                let was = self.old.enumerations[a.index()].constants.iter();
                let was: Vec<&str> = was.map(|word| self.word(word, is, site)).collect();
                let known = |word: &&str| is.iter().any(|other| other == word);
                if !was.iter().all(known) {
                    Rule::Some
                } else if was.len() <= is.len() && was.iter().zip(is).all(|(a, b)| a == b) {
                    // they are stored by their places
                    Rule::Same
                } else {
                    Rule::Each
                }
            }
            (Type::Ref(a), Type::Ref(b)) => {
                let same = self.subject(*a) == Some(*b) && self.same_key(*a, *b);
                if same { Rule::Same } else { Rule::Never }
            }
            (Type::Digest(a), Type::Digest(b)) => {
                let same = self.blobs.get(a.index()).copied().flatten() == Some(*b);
                if same { Rule::Same } else { Rule::Never }
            }
            (Type::List { of: was, max: a }, Type::List { of: is, max: b })
            | (Type::Set { of: was, max: a }, Type::Set { of: is, max: b }) => {
                let inner = self.rule(was, is, site);
                if b < a { inner.max(Rule::Some) } else { inner }
            }
            (Type::Map { key: k, value: v, max: a }, Type::Map { key: l, value: w, max: b }) => {
                let inner = self.rule(k, l, site).max(self.rule(v, w, site));
                if b < a { inner.max(Rule::Some) } else { inner }
            }
            (Type::Struct(was), Type::Struct(is)) => self.struct_rule(was, is, site),
            (Type::Record(was), Type::Record(is)) => {
                let names = |fields: &[(String, Type)]| -> Vec<String> {
                    fields.iter().map(|(name, _)| name.clone()).collect()
                };
                if names(was) != names(is) {
                    return Rule::Never;
                }
                let rules = was.iter().zip(is).map(|((_, a), (_, b))| self.rule(a, b, site));
                rules.max().unwrap_or(Rule::Same)
            }
            (Type::Int, Type::Decimal | Type::Money(_)) => Rule::Some,
            // what an amount is of is said, and was meant before; another currency is another amount
            (Type::Decimal, Type::Money(_)) | (Type::Money(_), Type::Decimal) => Rule::Same,
            (was, is) if was == is => Rule::Same,
            _ => Rule::Never,
        }
    }

    /// Fields follow by name. None is dropped; a new one is empty in what is stored, so it is optional.
    fn struct_rule(&self, was: &[StructField], is: &[StructField], site: Site) -> Rule {
        let mut all = Rule::Same;
        for (at, field) in is.iter().enumerate() {
            let held = was.iter().position(|held| held.name == field.name);
            all = all.max(match held {
                Some(from) => {
                    let held = &was[from];
                    let (before, after) = ((&held.ty, held.range), (&field.ty, field.range));
                    let moved = if from == at { Rule::Same } else { Rule::Each };
                    self.rule_within(before, after, site).max(moved)
                }
                None if field.ty.is_optional() => Rule::Each,
                None => Rule::Never,
            });
        }
        let kept = |held: &StructField| is.iter().any(|field| field.name == held.name);
        if was.iter().all(kept) { all } else { Rule::Never }
    }

    /// The same of something whose values lie in ranges.
    pub fn rule_within(
        &self,
        (was, before): (&Type, Option<Range>),
        (is, after): (&Type, Option<Range>),
        site: Site,
    ) -> Rule {
        let mut rule = self.rule(was, is, site);
        let (number, decimal) = (was.required() == &Type::Int, is.required().is_decimal());
        if number && decimal && rule == Rule::Some {
            let small = |range: Range| range.low >= -WHOLE_MAX && range.high <= WHOLE_MAX;
            let nulls = was.is_optional() && !is.is_optional();
            if before.is_some_and(small) && !nulls {
                rule = Rule::Each;
            }
        }
        // ends of ranges of another type are counted in another unit
        let alike = !(number && decimal);
        let within = wider(before, after) && (after.is_none() || alike);
        if rule != Rule::Never && !within { rule.max(Rule::Some) } else { rule }
    }

    /// Are records of the two found under the same keys?
    pub fn same_key(&self, was: SubjectId, is: SubjectId) -> bool {
        let (was, is) = (&self.old.subjects[was.index()].keys, &self.new.subjects[is.index()].keys);
        let same = |(a, b): (&Key, &Key)| self.rule(&a.ty, &b.ty, Site::Elsewhere) == Rule::Same;
        was.len() == is.len() && was.iter().zip(is).all(same)
    }

    /// Could a record have a key that the new subject does not take?
    pub fn key_narrower(&self, was: SubjectId, is: SubjectId) -> bool {
        let (was, is) = (&self.old.subjects[was.index()].keys, &self.new.subjects[is.index()].keys);
        was.iter().zip(is).any(|(a, b)| {
            let inner = match (a.ty.subject(), b.ty.subject()) {
                (Some(a), Some(b)) => self.key_narrower(a, b),
                _ => false,
            };
            inner || !wider(a.range, b.range)
        })
    }
}

/// Takes the second range whatever the first takes?
fn wider(was: Option<Range>, is: Option<Range>) -> bool {
    match (was, is) {
        (_, None) => true,
        (Some(was), Some(is)) => is.low <= was.low && was.high <= is.high,
        (None, Some(_)) => false,
    }
}
