//! What is known of a subject when its records are evaluated.

use design::model::{AttrId, Attribute, CounterId, Range, StateId, Subject, SubjectId, Type};

use super::lists::Expression;
use super::lower::Lower;
use super::lower_expr::is_block;
use crate::{Layout, NULL, StateLayout, Word};

#[derive(Debug)]
pub(crate) struct SubjectRules {
    pub layout: Layout,
    pub defaults: Vec<Word>,
    /// words that must have a value when the record is made
    pub required: Vec<u32>,
    pub implicit: bool,
    pub states: Vec<StateRules>,
    /// counters of the parent over this subject
    pub counted: Vec<CountedBy>,
    pub parent: Option<SubjectId>,
    /// a parent that a step makes: it is there while this record is
    pub explicit_parent: Option<SubjectId>,
    /// of each part of the key, from 0
    pub key_parts: Vec<KeyPart>,
    /// how many counters it keeps
    pub counters: u32,
    /// of truth, in the order of declaration
    pub ranges: Vec<RangeRule>,
    /// parts of its key that have a range, or refer to a record whose key has one
    pub key_ranges: Vec<KeyPartRule>,
}

/// A word that lies in a range, or is null.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RangeRule {
    pub attr: AttrId,
    pub offset: u32,
    /// a field of each of the records in a list: which, of how many
    pub field: Option<(u32, u32)>,
    pub range: Range,
}

/// Every range of an attribute that stands there.
fn ranges_of(attr: AttrId, attribute: &Attribute, offset: u32) -> Vec<RangeRule> {
    let fields = attribute.ty.fields().unwrap_or(&[]);
    let mut rules = Vec::new();
    if let Some(range) = attribute.range {
        rules.push(RangeRule { attr, offset, field: None, range });
    }
    for (at, held) in fields.iter().enumerate() {
        if let Some(range) = held.range {
            let field = Some((at as u32, fields.len() as u32));
            rules.push(RangeRule { attr, offset, field, range });
        }
    }
    rules
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum KeyPartRule {
    Range(u32, Range),
    Refers(u32, SubjectId),
}

/// What a part of a key may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KeyPart {
    Text,
    Record(SubjectId),
    Other,
}

#[derive(Debug)]
pub(crate) struct StateRules {
    pub layout: StateLayout,
    pub defaults: Vec<Word>,
    pub ranges: Vec<RangeRule>,
}

/// A counter in the parent's record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedBy {
    /// in the parent's record
    pub offset: u32,
    pub filter: Option<Expression>,
    pub value: Option<Expression>,
}

pub(super) fn subject_rules(lower: &mut Lower<'_>, id: SubjectId) -> SubjectRules {
    let design = lower.design;
    let subject = &design.subjects[id.index()];
    let layout = lower.layouts[id.index()].clone();
    let mut defaults = vec![0; layout.width as usize];
    let mut required = Vec::new();
    let mut ranges = Vec::new();
    for (index, attribute) in subject.attributes.iter().enumerate() {
        if let Some(field) = layout.attribute(AttrId::of(index)) {
            defaults[field.range()].copy_from_slice(&default_of(lower, attribute, field.width));
            if !attribute.ty.is_optional() {
                required.push(field.offset);
            }
            ranges.extend(ranges_of(AttrId::of(index), attribute, field.offset));
        }
    }
    let states = (0..subject.states.len())
        .map(|state| state_rules(lower, subject, StateId::of(state)))
        .collect();
    let parts = subject.keys.iter().enumerate();
    let key_ranges = parts.filter_map(|(part, key)| {
        let part = part as u32;
        let refers = key.ty.subject().filter(|other| design.has_key_ranges(*other));
        let range = key.range.map(|range| KeyPartRule::Range(part, range));
        range.or(refers.map(|other| KeyPartRule::Refers(part, other)))
    });
    let key_ranges = key_ranges.collect();
    let mut counted = Vec::new();
    if let Some(parent) = subject.parent {
        let parent_layout = lower.layouts[parent.index()].clone();
        for (index, counter) in design.subjects[parent.index()].counters.iter().enumerate() {
            if counter.child == id {
                let locals = &counter.locals;
                counted.push(CountedBy {
                    offset: parent_layout.counter(CounterId::of(index)),
                    filter: counter.filter.as_ref().map(|expr| lower.expression(expr, locals)),
                    value: counter.value.as_ref().map(|expr| lower.expression(expr, locals)),
                });
            }
        }
    }
    SubjectRules {
        layout,
        defaults,
        required,
        implicit: subject.implicit,
        states,
        counted,
        parent: subject.parent,
        explicit_parent: design.explicit_parent(id),
        key_parts: subject.keys.iter().map(|key| key_part(&key.ty)).collect(),
        counters: subject.counters.len() as u32,
        ranges,
        key_ranges,
    }
}

fn key_part(ty: &Type) -> KeyPart {
    match ty {
        Type::Text => KeyPart::Text,
        Type::Ref(subject) => KeyPart::Record(*subject),
        _ => KeyPart::Other,
    }
}

fn state_rules(lower: &mut Lower<'_>, subject: &Subject, state: StateId) -> StateRules {
    let layout = StateLayout::of(subject, state);
    let mut defaults = vec![0; layout.width as usize];
    let mut ranges = Vec::new();
    for (attr, field) in &layout.fields {
        let attribute = &subject.attributes[attr.index()];
        ranges.extend(ranges_of(*attr, attribute, field.offset));
        defaults[field.range()].copy_from_slice(&default_of(lower, attribute, field.width));
    }
    StateRules { layout, defaults, ranges }
}

/// Where the design gives no default: null, or an empty collection.
fn default_of(lower: &mut Lower<'_>, attribute: &Attribute, width: u32) -> Vec<Word> {
    match &attribute.default {
        Some(value) => lower.texts.sized(value, width),
        None => {
            let mut words = vec![0; width as usize];
            if attribute.ty.is_optional() || !is_block(&attribute.ty) {
                words[0] = NULL;
            }
            words
        }
    }
}
