//! The parts of a state that can be explored or left out, and what reads and writes them.

use design::model::{
    ActorId, AttrId, BlobId, CounterId, Design, Domain, Expr, ExprKind, LocalId, MemoryId,
    Operation, OperationId, OperationKind, StateId, StateKind, Stmt, StmtKind, SubjectId, Target,
    Type, visit,
};
use std::collections::BTreeSet;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Part {
    /// is there a record?
    Present(SubjectId),
    /// of a truth or a cache
    Attr(SubjectId, AttrId),
    Counter(SubjectId, CounterId),
    Log(SubjectId, StateId),
    /// is there a copy?
    Cache(SubjectId, StateId),
    /// at the root of the actor's chain
    Memory(ActorId, MemoryId),
    /// the outbox entries of an effect, and what the world outside made of them
    Effect(OperationId),
    /// on their way to a step
    Messages(OperationId),
    /// which contents are stored
    Blob(BlobId),
    /// which signatures there are
    Signatures,
}

impl Part {
    /// Whose records it is of.
    pub(crate) fn subject(self) -> Option<SubjectId> {
        match self {
            Part::Present(subject)
            | Part::Attr(subject, _)
            | Part::Counter(subject, _)
            | Part::Log(subject, _)
            | Part::Cache(subject, _) => Some(subject),
            Part::Memory(..)
            | Part::Effect(_)
            | Part::Messages(_)
            | Part::Blob(_)
            | Part::Signatures => None,
        }
    }
}

pub(crate) type Parts = BTreeSet<Part>;

/// What an expression reads. Locals are not followed.
pub(crate) fn reads(design: &Design, operation: Option<&Operation>, expr: &Expr, out: &mut Parts) {
    visit::each(expr, &mut |part| match &part.kind {
        ExprKind::Attr { base, attr } => {
            if let Some(subject) = base.ty.subject() {
                out.insert(Part::Attr(subject, *attr));
                if let Some(cache) = cache_of(design, subject, *attr) {
                    out.insert(Part::Cache(subject, cache));
                }
            }
        }
        ExprKind::LogEnd { base, log }
        | ExprKind::LogStart { base, log }
        | ExprKind::LogSlice { base, log, .. } => {
            out.extend(base.ty.subject().map(|subject| Part::Log(subject, *log)));
        }
        ExprKind::Exists { base, cache } => {
            out.extend(base.ty.subject().map(|subject| match cache {
                Some(cache) => Part::Cache(subject, *cache),
                None => Part::Present(subject),
            }));
        }
        ExprKind::Stored(digest) => {
            if let Type::Digest(blob) = digest.ty.required() {
                out.insert(Part::Blob(*blob));
            }
        }
        ExprKind::Verified { .. } => {
            out.insert(Part::Signatures);
        }
        ExprKind::Memory(usage) => {
            let usage = operation.and_then(|operation| operation.memory.get(usage.index()));
            out.extend(usage.map(|usage| Part::Memory(usage.actor, usage.field)));
        }
        ExprKind::Quantifier { domain, .. } | ExprKind::Aggregate { domain, .. } => match &**domain
        {
            Domain::All(subject) | Domain::Children { child: subject, .. } => {
                out.insert(Part::Present(*subject));
            }
            Domain::World(effect) | Domain::Outbox(effect) => {
                out.insert(Part::Effect(*effect));
            }
            Domain::Messages(step) => {
                out.insert(Part::Messages(*step));
            }
            Domain::Elements(_) | Domain::Principals(_) => {}
        },
        ExprKind::Counter { base, counter } => {
            out.extend(base.ty.subject().map(|subject| Part::Counter(subject, *counter)));
        }
        ExprKind::Remembered { actor, field, .. } => {
            out.insert(Part::Memory(*actor, *field));
        }
        // A new kind of expression must say here what it reads.
        ExprKind::Literal(_)
        | ExprKind::Local(_)
        | ExprKind::Me
        | ExprKind::Now
        | ExprKind::KeyPart { .. }
        | ExprKind::Keyed { .. }
        | ExprKind::Hash(_)
        | ExprKind::NextOf { .. }
        | ExprKind::Included { .. }
        | ExprKind::IsNull(_)
        | ExprKind::Not(_)
        | ExprKind::Negate(_)
        | ExprKind::And(_)
        | ExprKind::Or(_)
        | ExprKind::Implies(..)
        | ExprKind::Compare { .. }
        | ExprKind::In { .. }
        | ExprKind::Arithmetic { .. }
        | ExprKind::Min(_)
        | ExprKind::Max(_)
        | ExprKind::If { .. }
        | ExprKind::Let { .. }
        | ExprKind::WorldArg { .. }
        | ExprKind::Old(_)
        | ExprKind::Set(_)
        | ExprKind::List(_)
        | ExprKind::Index { .. }
        | ExprKind::Size(_)
        | ExprKind::Field { .. }
        | ExprKind::Record(_)
        | ExprKind::View { .. }
        | ExprKind::Error => {}
    });
}

/// The locals that an expression mentions.
pub(crate) fn locals(expr: &Expr, out: &mut BTreeSet<LocalId>) {
    visit::each(expr, &mut |part| match &part.kind {
        ExprKind::Local(local) | ExprKind::WorldArg { local, .. } => {
            out.insert(*local);
        }
        _ => {}
    });
}

fn cache_of(design: &Design, subject: SubjectId, attr: AttrId) -> Option<StateId> {
    let held = &design.subjects[subject.index()];
    let state = held.attributes[attr.index()].state;
    matches!(held.states[state.index()].kind, StateKind::Cache { .. }).then_some(state)
}

/// What a statement writes itself, not the statements in it.
pub(crate) fn writes(design: &Design, operation: &Operation, stmt: &Stmt, out: &mut Parts) {
    match &stmt.kind {
        StmtKind::Assign { target: Target::Memory(usage), .. } => {
            let usage = &operation.memory[usage.index()];
            out.insert(Part::Memory(usage.actor, usage.field));
        }
        StmtKind::Assign {
            target: Target::Attr { base, attr } | Target::Element { base, attr, .. },
            ..
        } => {
            let Some(subject) = base.ty.subject() else { return };
            out.insert(Part::Attr(subject, *attr));
            match cache_of(design, subject, *attr) {
                Some(cache) => {
                    out.insert(Part::Cache(subject, cache));
                }
                None => counted(design, subject, Some(*attr), out),
            }
        }
        StmtKind::New { subject, .. } => record(design, *subject, out),
        StmtKind::Delete { target } => {
            if let Some(subject) = target.ty.subject() {
                record(design, subject, out);
            }
        }
        StmtKind::Append { base, log, .. } => {
            out.extend(base.ty.subject().map(|subject| Part::Log(subject, *log)));
        }
        StmtKind::Send { operation, .. } => {
            out.insert(match design.operations[operation.index()].kind {
                OperationKind::Effect(_) => Part::Effect(*operation),
                _ => Part::Messages(*operation),
            });
        }
        StmtKind::Let { .. }
        | StmtKind::Emit { .. }
        | StmtKind::For { .. }
        | StmtKind::If { .. } => {}
    }
}

/// What the `new` parameters of an operation make.
pub(crate) fn made(design: &Design, operation: &Operation, out: &mut Parts) {
    for param in operation.params.iter().filter(|param| param.new) {
        if let Some(subject) = param.ty.subject() {
            record(design, subject, out);
        }
    }
}

/// Everything of a record that is made or deleted, and what its parent counts.
fn record(design: &Design, subject: SubjectId, out: &mut Parts) {
    whole(design, subject, out);
    counted(design, subject, None, out);
}

/// Everything of a subject's records.
pub(crate) fn whole(design: &Design, subject: SubjectId, out: &mut Parts) {
    let held = &design.subjects[subject.index()];
    if !held.implicit {
        out.insert(Part::Present(subject));
    }
    for (at, attribute) in held.attributes.iter().enumerate() {
        if held.states[attribute.state.index()].kind == StateKind::Truth {
            out.insert(Part::Attr(subject, AttrId::of(at)));
        }
    }
    out.extend((0..held.counters.len()).map(|at| Part::Counter(subject, CounterId::of(at))));
    for (at, state) in held.states.iter().enumerate() {
        if matches!(state.kind, StateKind::Log { .. }) {
            out.insert(Part::Log(subject, StateId::of(at)));
        }
    }
}

/// The counters that change with a child: with one of its attributes, or with its being there.
fn counted(design: &Design, child: SubjectId, attr: Option<AttrId>, out: &mut Parts) {
    for (index, subject) in design.subjects.iter().enumerate() {
        for (at, counter) in subject.counters.iter().enumerate() {
            if counter.child != child {
                continue;
            }
            let mut asked = Parts::new();
            for expr in counter.filter.iter().chain(&counter.value) {
                reads(design, None, expr, &mut asked);
            }
            if attr.is_none_or(|attr| asked.contains(&Part::Attr(child, attr))) {
                out.insert(Part::Counter(SubjectId::of(index), CounterId::of(at)));
            }
        }
    }
}

/// What comes with a part: nothing of a record is there without the record; a count is over children.
pub(crate) fn implied(design: &Design, part: Part, out: &mut Parts) {
    match part {
        Part::Attr(subject, _) | Part::Log(subject, _) | Part::Cache(subject, _) => {
            present(design, subject, out);
        }
        Part::Counter(subject, counter) => {
            present(design, subject, out);
            let held = &design.subjects[subject.index()].counters[counter.index()];
            present(design, held.child, out);
            for expr in held.filter.iter().chain(&held.value) {
                reads(design, None, expr, out);
            }
        }
        Part::Signatures => {
            for (index, operation) in design.operations.iter().enumerate() {
                if let OperationKind::Effect(effect) = &operation.kind
                    && effect.sign.is_some()
                {
                    out.insert(Part::Effect(OperationId::of(index)));
                }
            }
        }
        Part::Present(_)
        | Part::Memory(..)
        | Part::Effect(_)
        | Part::Messages(_)
        | Part::Blob(_) => {}
    }
}

pub(crate) fn present(design: &Design, subject: SubjectId, out: &mut Parts) {
    if !design.subjects[subject.index()].implicit {
        out.insert(Part::Present(subject));
    }
}
