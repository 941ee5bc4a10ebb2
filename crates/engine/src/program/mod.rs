//! A design lowered once, to be evaluated many times.

mod constants;
mod hashes;
mod lists;
mod lookup;
mod lower;
mod lower_compare;
mod lower_expr;
mod lower_stmt;
pub(crate) mod node;
pub(crate) mod operation;
mod params;
mod shape;
mod stmt_node;
mod subject;
pub(crate) mod timed;

use design::model::{
    Design, EventId, Goal, OperationId, OperationKind, Protection, Span, StateId, SubjectId,
};

pub(crate) use lists::{Expression, LeadsToRule, Lists};
pub use lookup::{Column, Equality, column, equality};
use lower::Lower;
use node::{Loop, NodeId};
use operation::Op;
pub use shape::Shape;
use subject::subject_rules;
pub(crate) use subject::{CountedBy, KeyPart, KeyPartRule, RangeRule, SubjectRules};

use crate::{Layout, ParamsLayout, StateLayout, Word};

/// A design in the form that [`crate::step`] and [`crate::holds`] evaluate.
#[derive(Debug)]
pub struct Program {
    pub(crate) lists: Lists,
    pub(crate) loops: Vec<Loop>,
    /// for each node: does its value depend on the clock?
    pub(crate) timed: Vec<bool>,
    pub(crate) subjects: Vec<SubjectRules>,
    /// does any subject keep counters?
    pub(crate) counts: bool,
    /// has anything a range that a step may write or send?
    pub(crate) ranged: bool,
    pub(crate) operations: Vec<Op>,
    invariants: Vec<GoalRule>,
    recoveries: Vec<GoalRule>,
    leads: Vec<Option<LeadsToRule>>,
    events: Vec<Shape>,
    texts: Vec<String>,
    /// the handle of the empty text, which is no part of a key
    pub(crate) empty_text: Word,
}

#[derive(Debug)]
pub(crate) struct GoalRule {
    pub body: Expression,
    pub uses_old: bool,
    pub span: Span,
}

impl Program {
    pub fn new(design: &Design) -> Program {
        Program::without(design, &[])
    }

    /// The design with these protections taken away. Clauses, `exists`, `fresh` and assignments
    /// are gone from the program; the others are for the caller to act on (`repair_removed` and
    /// its kin).
    ///
    /// Without `exists`, an absent record reads as its defaults (null where there is none) and is
    /// made by the first write; without `fresh`, a record that is there is replaced.
    pub fn without(design: &Design, protections: &[Protection]) -> Program {
        let mut lower = Lower::new(design, protections);
        let subjects = (0..design.subjects.len())
            .map(|index| subject_rules(&mut lower, SubjectId::of(index)))
            .collect();
        let operations = design
            .operations
            .iter()
            .enumerate()
            .map(|(index, operation)| lower.operation(OperationId::of(index), operation))
            .collect();
        let invariants = goals(&mut lower, &design.invariants);
        let recoveries = goals(&mut lower, &design.recoveries);
        let leads = design.leads.iter().map(|held| lower.leads_to(held)).collect();
        let events = design
            .events
            .iter()
            .map(|event| {
                let mut offset = 0;
                let field = |(name, ty): &(String, _)| {
                    (name.clone(), operation::shape_of_type(ty, &mut offset))
                };
                Shape::Record(event.fields.iter().map(field).collect())
            })
            .collect();
        let empty_text = lower.texts.handle("");
        let timed = timed::timed(&lower.lists, &lower.loops);
        Program {
            timed,
            lists: lower.lists,
            loops: lower.loops,
            counts: design.subjects.iter().any(|subject| !subject.counters.is_empty()),
            ranged: is_ranged(design),
            subjects,
            operations,
            invariants,
            recoveries,
            leads,
            events,
            texts: lower.texts.list,
            empty_text,
        }
    }

    /// The texts written in the design, and the empty one: the caller's pool starts with them,
    /// handles 0, 1, ….
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    pub fn layout(&self, subject: SubjectId) -> &Layout {
        &self.subjects[subject.index()].layout
    }

    /// Of a cache, an ephemeral or a log.
    pub fn state(&self, subject: SubjectId, state: StateId) -> &StateLayout {
        &self.subjects[subject.index()].states[state.index()].layout
    }

    /// A record as it is before anything is assigned: what an implicit subject reads as.
    pub fn defaults(&self, subject: SubjectId) -> &[Word] {
        &self.subjects[subject.index()].defaults
    }

    pub fn params(&self, operation: OperationId) -> &ParamsLayout {
        &self.operations[operation.index()].params
    }

    /// The words of a parameter that the caller may leave out.
    pub fn param_default(&self, operation: OperationId, param: usize) -> Option<&[Word]> {
        self.operations[operation.index()].param_rules.get(param)?.default.as_deref()
    }

    pub fn event(&self, event: EventId) -> &Shape {
        &self.events[event.index()]
    }

    /// Of a read: its answer. Of an effect: the body of its call.
    pub fn result(&self, operation: OperationId) -> Option<&Shape> {
        self.operations[operation.index()].result.as_ref().map(|(_, shape)| shape)
    }

    /// The repair is not run.
    /// The columns by which goals look records up, each once.
    pub fn columns(&self) -> Vec<(SubjectId, Column)> {
        let mut all: Vec<(SubjectId, Column)> =
            self.loops.iter().filter_map(Loop::column).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    pub fn repair_removed(&self, operation: OperationId) -> bool {
        self.operations[operation.index()].removed.repair
    }

    /// What this operation sends is called right away, outside its commit.
    pub fn outbox_removed(&self, operation: OperationId) -> bool {
        self.operations[operation.index()].removed.outbox
    }

    /// Each attempt of this effect is a new call to the world.
    pub fn key_removed(&self, operation: OperationId) -> bool {
        self.operations[operation.index()].removed.key
    }

    /// This read may be answered from any older state.
    pub fn at_least_removed(&self, operation: OperationId) -> bool {
        self.operations[operation.index()].removed.at_least
    }

    /// A repetition of this call is a new call: it has no idempotency key.
    pub fn keyed_removed(&self, operation: OperationId) -> bool {
        self.operations[operation.index()].removed.keyed
    }

    pub(crate) fn goal(&self, goal: Goal) -> Option<&GoalRule> {
        match goal {
            Goal::Invariant(index) => self.invariants.get(index as usize),
            Goal::Recovery(index) => self.recoveries.get(index as usize),
            // judged of each record by itself
            Goal::LeadsTo(_) => None,
        }
    }

    pub(crate) fn leads_to(&self, index: u32) -> Option<&LeadsToRule> {
        self.leads.get(index as usize)?.as_ref()
    }

    pub(crate) fn subject(&self, subject: SubjectId) -> &SubjectRules {
        &self.subjects[subject.index()]
    }

    pub(crate) fn span(&self, node: NodeId) -> Span {
        self.lists.spans[node as usize]
    }
}

fn is_ranged(design: &Design) -> bool {
    design.subjects.iter().any(|subject| {
        subject.keys.iter().any(|key| key.range.is_some())
            || subject.attributes.iter().any(|held| held.range.is_some() || held.ty.has_ranges())
    }) || design.operations.iter().any(|operation| {
        matches!(operation.kind, OperationKind::Effect(_))
            && operation.params.iter().any(|held| held.range.is_some() || held.ty.has_ranges())
    })
}

fn goals<'d>(lower: &mut Lower<'d>, list: &'d [design::model::Invariant]) -> Vec<GoalRule> {
    list.iter()
        .map(|invariant| GoalRule {
            body: lower.invariant(invariant),
            uses_old: invariant.uses_old,
            span: invariant.span,
        })
        .collect()
}
