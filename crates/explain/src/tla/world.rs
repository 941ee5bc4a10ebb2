//! What there is in the small world: what was taken away, the names of things, and principals.

use std::cell::RefCell;
use std::collections::BTreeSet;

use design::model::{
    ActorId, AttrId, ClauseRef, Design, Expr, ExprKind, Fault, Operation, OperationId,
    OperationKind, Protection, StateKind, StmtKind, SubjectId, Type, visit,
};

use super::flow::{Flow, Place, root};
use super::text::{quoted, set};
use super::time::Clock;

/// A design as it is being written down, and what of it could not be.
pub(super) struct World<'a> {
    pub design: &'a Design,
    pub without: &'a [Protection],
    pub flow: Flow,
    pub clock: Clock,
    /// which operations are called by messages alone
    pub targets: Vec<bool>,
    /// whose records a statement makes, under a key that it computes
    grown: BTreeSet<SubjectId>,
    problems: RefCell<BTreeSet<String>>,
}

fn grown(design: &Design) -> BTreeSet<SubjectId> {
    let mut found = BTreeSet::new();
    for body in design.operations.iter().flat_map(visit::bodies) {
        visit::each_statement(body, &mut |statement| {
            if let StmtKind::New { subject, .. } = &statement.kind {
                found.insert(*subject);
            }
        });
    }
    found
}

impl<'a> World<'a> {
    pub fn of(design: &'a Design, without: &'a [Protection]) -> World<'a> {
        World {
            design,
            without,
            flow: Flow::of(design),
            clock: Clock::of(design),
            targets: visit::message_targets(design),
            grown: grown(design),
            problems: RefCell::default(),
        }
    }

    /// Notes something that has no translation; what it returns stands in its place.
    pub fn refuse(&self, what: impl Into<String>) -> String {
        self.problems.borrow_mut().insert(what.into());
        "FALSE".into()
    }

    pub fn problems(&self) -> Vec<String> {
        self.problems.borrow().iter().cloned().collect()
    }

    pub fn setting(&self, name: &str, otherwise: i64) -> i64 {
        let held = self.design.world.settings.iter().find(|(held, _)| held == name);
        held.map_or(otherwise, |(_, value)| *value)
    }

    pub fn on(&self, fault: Fault) -> bool {
        self.design.world.faults.iter().any(|setting| setting.fault == fault)
    }

    pub fn budget(&self, fault: Fault) -> Option<u32> {
        let setting = self.design.world.faults.iter().find(|setting| setting.fault == fault);
        setting.and_then(|setting| setting.budget)
    }

    // What was taken away.

    pub fn is_clause_gone(&self, of: OperationId, which: ClauseRef) -> bool {
        self.without.iter().any(|protection| {
            matches!(protection, Protection::Clause { operation, clause }
                if *operation == of && *clause == which)
        })
    }

    pub fn is_repair_gone(&self, of: OperationId) -> bool {
        let gone =
            |p: &Protection| matches!(p, Protection::Repair { operation } if *operation == of);
        self.without.iter().any(gone)
    }

    pub fn is_key_gone(&self, of: OperationId) -> bool {
        let gone = |p: &Protection| matches!(p, Protection::Key { operation } if *operation == of);
        self.without.iter().any(gone)
    }

    pub fn is_keyed_gone(&self, of: OperationId) -> bool {
        let gone =
            |p: &Protection| matches!(p, Protection::Keyed { operation } if *operation == of);
        self.without.iter().any(gone)
    }

    pub fn is_outbox_gone(&self, of: OperationId) -> bool {
        let gone =
            |p: &Protection| matches!(p, Protection::Outbox { operation } if *operation == of);
        self.without.iter().any(gone)
    }

    pub fn is_statement_gone(&self, of: OperationId, id: design::model::StmtId) -> bool {
        self.without.iter().any(|protection| {
            matches!(protection, Protection::Assignment { operation, statements }
                if *operation == of && statements.contains(&id))
        })
    }

    // Names.

    pub fn subject(&self, id: SubjectId) -> &'a design::model::Subject {
        &self.design.subjects[id.index()]
    }

    pub fn keys(&self, id: SubjectId) -> String {
        format!("{}Keys", self.subject(id).name)
    }

    pub fn there(&self, id: SubjectId) -> String {
        format!("{}_there", self.subject(id).name)
    }

    pub fn attr(&self, id: SubjectId, attr: AttrId) -> String {
        let subject = self.subject(id);
        let held = &subject.attributes[attr.index()];
        let same = |other: &&design::model::Attribute| {
            other.name == held.name
                && matches!(subject.states[other.state.index()].kind, StateKind::Truth)
        };
        if subject.attributes.iter().filter(same).count() > 1 {
            return format!(
                "{}_{}_{}",
                subject.name,
                subject.states[held.state.index()].name,
                held.name
            );
        }
        format!("{}_{}", subject.name, held.name)
    }

    pub fn log(&self, id: SubjectId, log: design::model::StateId, end: bool) -> String {
        let subject = self.subject(id);
        let which = if end { "end" } else { "start" };
        format!("{}_{}_{which}", subject.name, subject.states[log.index()].name)
    }

    pub fn memory(&self, actor: ActorId, field: design::model::MemoryId) -> String {
        let held = &self.design.actors[actor.index()];
        format!("Memory_{}_{}", held.name, held.memory[field.index()].name)
    }

    pub fn operation(&self, id: OperationId) -> String {
        let held = &self.design.operations[id.index()];
        format!("{}_{}", self.design.actors[held.actor.index()].name, held.name)
    }

    pub fn outbox(&self, id: OperationId) -> String {
        format!("Outbox_{}", self.design.operations[id.index()].name)
    }

    pub fn outside(&self, id: OperationId) -> String {
        format!("World_{}", self.design.operations[id.index()].name)
    }

    /// Is it part of truth, and kept? A time that nothing reads is not.
    pub fn kept(&self, id: SubjectId, attr: AttrId) -> bool {
        let subject = self.subject(id);
        let held = &subject.attributes[attr.index()];
        subject.states[held.state.index()].kind == StateKind::Truth
            && !self.clock.unread.contains(&(id, attr))
    }

    // Principals.

    fn principal_names(&self, actor: ActorId) -> Vec<String> {
        let actor = root(self.design, actor);
        let held = &self.design.actors[actor.index()];
        let count = self.design.world.actors.get(actor.index()).copied().unwrap_or(1).max(1);
        if held.is_world {
            return vec![quoted(&held.name)];
        }
        (1..=count).map(|at| quoted(&format!("{}-{at}", held.name))).collect()
    }

    fn roots(&self) -> impl Iterator<Item = ActorId> + '_ {
        let all = (0..self.design.actors.len()).map(ActorId::of);
        all.filter(|actor| root(self.design, *actor) == *actor)
    }

    pub fn all_principals(&self) -> Vec<String> {
        self.roots().flat_map(|actor| self.principal_names(actor)).collect()
    }

    /// Those who may act as this actor: its own, and those of actors that may be the same person.
    pub fn principals(&self, actor: ActorId) -> Vec<String> {
        let actor = root(self.design, actor);
        let mut names = self.principal_names(actor);
        for other in self.roots() {
            if other != actor && self.may_be_one(actor, other) {
                names.extend(self.principal_names(other));
            }
        }
        names
    }

    fn may_be_one(&self, actor: ActorId, other: ActorId) -> bool {
        let world = |actor: ActorId| self.design.actors[actor.index()].is_world;
        !world(actor)
            && !world(other)
            && self.flow.same(Place::Me(actor), Place::Me(other))
            && !self.are_apart(actor, other)
    }

    fn are_apart(&self, one: ActorId, other: ActorId) -> bool {
        let of = |actor: ActorId, is: ActorId| root(self.design, actor) == is;
        let actors = || (0..self.design.actors.len()).map(ActorId::of);
        let says = |from: ActorId, to: ActorId| {
            actors()
                .filter(|id| of(*id, from))
                .any(|id| self.design.actors[id.index()].apart.iter().any(|apart| of(*apart, to)))
        };
        says(one, other) || says(other, one)
    }

    /// Does it matter who calls?
    pub fn is_personal(&self, operation: &Operation) -> bool {
        let mut personal = !operation.memory.is_empty();
        visit::operation_exprs(operation, &mut |expr| {
            visit::each(expr, &mut |part| personal |= matches!(part.kind, ExprKind::Me));
        });
        personal
    }

    /// The set of those who call it, as far as that makes a difference.
    pub fn callers(&self, operation: &Operation) -> String {
        if self.is_personal(operation) {
            set(&self.principals(operation.actor))
        } else {
            set(&self.principal_names(operation.actor)[..1])
        }
    }

    /// Can there be records with other keys than those of the world?
    pub fn grows(&self, subject: SubjectId) -> bool {
        self.grown.contains(&subject)
    }

    /// The place where the records that these arguments name live.
    pub fn place(&self, operation: &Operation, args: &[String]) -> Option<String> {
        operation.params.iter().zip(args).find_map(|(param, arg)| {
            let subject = param.ty.subject()?;
            let part = self.subject(subject).place?;
            Some(self.part(subject, arg, part))
        })
    }

    pub fn part(&self, subject: SubjectId, key: &str, part: u32) -> String {
        if self.subject(subject).keys.len() == 1 {
            key.to_owned()
        } else {
            format!("{key}[{}]", part + 1)
        }
    }

    pub fn effects(&self) -> impl Iterator<Item = OperationId> + '_ {
        let all = (0..self.design.operations.len()).map(OperationId::of);
        all.filter(|id| matches!(self.design.operations[id.index()].kind, OperationKind::Effect(_)))
    }
}

pub(super) fn key_of(parts: &[String]) -> String {
    match parts {
        [one] => one.clone(),
        parts => super::text::tuple(parts),
    }
}

pub(super) fn type_name(ty: &Type) -> &'static str {
    match ty.required() {
        Type::Digest(_) | Type::Hash => "`digest`",
        Type::Signature => "`signature`",
        Type::PublicKey => "`public_key`",
        Type::Proof => "`proof`",
        Type::Time => "`time`",
        Type::Schedule => "`schedule`",
        Type::Record(_) | Type::Rows(_) => "a record",
        _ => "this",
    }
}

/// Does an expression have such a part?
pub(super) fn has(expr: &Expr, found: &dyn Fn(&Expr) -> bool) -> bool {
    let mut any = false;
    visit::each(expr, &mut |part| any |= found(part));
    any
}
