//! What a goal's slice is closed under.

use std::collections::BTreeSet;

use design::model::{
    ClauseRef, Design, ExprKind, Fault, Goal, LocalId, Operation, OperationId, OperationKind,
    Protection, Stmt, StmtId, StmtKind, Type, visit,
};

use super::part::{self, Part, Parts};
use super::safe;

/// What of an operation is explored.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Kept {
    /// does it happen at all?
    pub(crate) operation: bool,
    /// every statement, and all memory
    whole: bool,
    /// of the guard
    pub(crate) clauses: Vec<bool>,
    pub(crate) statements: BTreeSet<StmtId>,
}

/// A part of a design that can be explored by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Slice {
    pub(crate) parts: Parts,
    pub(crate) operations: Vec<Kept>,
    /// what is judged in it
    pub(crate) goals: Vec<Goal>,
    /// operations that are to be seen in it
    pub(crate) looked_for: Vec<OperationId>,
    /// some clauses may hold or not
    pub(crate) open: bool,
}

impl Slice {
    /// Is everything of the other explored in this one, too?
    pub(crate) fn contains(&self, other: &Slice) -> bool {
        let within = |(own, other): (&Kept, &Kept)| {
            let mut clauses = own.clauses.iter().zip(&other.clauses);
            own.operation >= other.operation
                && own.whole >= other.whole
                && clauses.all(|(own, other)| own >= other)
                && own.statements.is_superset(&other.statements)
        };
        self.parts.is_superset(&other.parts)
            && self.operations.iter().zip(&other.operations).all(within)
    }
}

/// What is to be explored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seeds {
    pub(crate) goals: Vec<Goal>,
    /// operations that are to be seen accepted, and refused by each clause
    pub(crate) operations: Vec<OperationId>,
    /// A clause that reads records of other subjects is left open, it may hold or not, unless it is one of
    /// these. None: a guard is kept whole.
    pub(crate) clauses: Option<BTreeSet<(OperationId, u32)>>,
}

/// The smallest slice for these seeds.
pub(crate) fn close(design: &Design, protections: &[Protection], seeds: &Seeds) -> Slice {
    let mut closing = Closing {
        design,
        protections,
        seeds,
        targets: visit::message_targets(design),
        slice: Slice {
            parts: Parts::new(),
            operations: design
                .operations
                .iter()
                .map(|held| Kept { clauses: vec![false; held.guard.len()], ..Kept::default() })
                .collect(),
            goals: seeds.goals.clone(),
            looked_for: seeds.operations.clone(),
            open: seeds.clauses.is_some(),
        },
    };
    for goal in &seeds.goals {
        let goal = super::goal(design, *goal);
        part::reads(design, None, &goal.body, &mut closing.slice.parts);
    }
    for operation in &seeds.operations {
        closing.slice.operations[operation.index()].operation = true;
    }
    closing.run();
    closing.slice
}

struct Closing<'a> {
    design: &'a Design,
    protections: &'a [Protection],
    seeds: &'a Seeds,
    /// called by messages
    targets: Vec<bool>,
    slice: Slice,
}

impl Closing<'_> {
    fn run(&mut self) {
        loop {
            let before = self.slice.clone();
            let parts: Vec<Part> = self.slice.parts.iter().copied().collect();
            for held in parts {
                part::implied(self.design, held, &mut self.slice.parts);
                if let Part::Effect(id) | Part::Messages(id) = held {
                    self.slice.operations[id.index()].operation = true;
                }
            }
            for index in 0..self.design.operations.len() {
                self.operation(OperationId::of(index));
            }
            if self.slice == before {
                return;
            }
        }
    }

    fn has(&self, fault: Fault) -> bool {
        let faults = &self.design.world.faults;
        faults.iter().any(|held| held.fault == fault && held.budget != Some(0))
    }

    fn operation(&mut self, id: OperationId) {
        let removed = Protection::Repair { operation: id };
        if self.protections.contains(&removed) {
            return;
        }
        let operation = &self.design.operations[id.index()];
        let mut kept = std::mem::take(&mut self.slice.operations[id.index()]);
        self.writers(id, operation, &mut kept);
        if kept.operation {
            self.guard(id, operation, &mut kept);
            self.body(id, operation, &mut kept);
        }
        self.slice.operations[id.index()] = kept;
    }

    /// Keeps the statements that write something that is explored, and a step that makes a record of it.
    fn writers(&self, id: OperationId, operation: &Operation, kept: &mut Kept) {
        let mut made = Parts::new();
        part::made(self.design, operation, &mut made);
        kept.operation |= !made.is_disjoint(&self.slice.parts);
        for body in visit::bodies(operation) {
            each(body, &mut Vec::new(), &mut |stmt, around| {
                if self.is_gone(id, stmt) {
                    return;
                }
                let mut written = Parts::new();
                part::writes(self.design, operation, stmt, &mut written);
                // Whoever does not ask for a record makes it by writing to it.
                if self.took_away(id, ClauseRef::Exists) {
                    for held in written.clone() {
                        if let Part::Attr(subject, _) | Part::Log(subject, _) = held {
                            part::whole(self.design, subject, &mut written);
                        }
                    }
                }
                if !written.is_disjoint(&self.slice.parts) {
                    kept.operation = true;
                    kept.statements.insert(stmt.id);
                    kept.statements.extend(around.iter().map(|stmt| stmt.id));
                }
            });
        }
    }

    /// Was this statement taken away?
    fn is_gone(&self, id: OperationId, stmt: &Stmt) -> bool {
        self.protections.iter().any(|held| {
            matches!(held, Protection::Assignment { operation, statements }
                if *operation == id && statements.contains(&stmt.id))
        })
    }

    fn took_away(&self, id: OperationId, clause: ClauseRef) -> bool {
        self.protections.contains(&Protection::Clause { operation: id, clause })
    }

    fn guard(&mut self, id: OperationId, operation: &Operation, kept: &mut Kept) {
        let parts = &mut self.slice.parts;
        match &operation.kind {
            OperationKind::Effect(effect) => {
                parts.insert(Part::Effect(id));
                kept.whole = true;
                let signed = effect.sign.iter().flat_map(|sign| [&sign.digest, &sign.key]);
                for expr in effect.key.iter().chain(signed) {
                    part::reads(self.design, Some(operation), expr, parts);
                }
                if effect.sign.is_some() {
                    parts.insert(Part::Signatures);
                }
            }
            OperationKind::Step { .. } if self.targets[id.index()] => {
                parts.insert(Part::Messages(id));
                kept.whole = true;
            }
            // A read whose result cannot be told is refused, and hands out nothing.
            OperationKind::Read { result } => {
                if !safe::is_plain_result(self.design, operation, result) {
                    part::reads(self.design, Some(operation), result, parts);
                }
            }
            OperationKind::Step { .. } | OperationKind::Repair { .. } => {}
        }
        let loose = match &self.seeds.clauses {
            Some(_) if kept.whole || self.seeds.operations.contains(&id) => None,
            other => other.as_ref(),
        };
        for (at, clause) in operation.guard.iter().enumerate() {
            if self.took_away(id, ClauseRef::Named(at as u32)) {
                continue;
            }
            let mut asked = Parts::new();
            part::reads(self.design, Some(operation), &clause.body, &mut asked);
            let keeps = loose
                .is_none_or(|clauses| clauses.contains(&(id, at as u32)) || self.is_near(&asked));
            if keeps {
                kept.clauses[at] = true;
                self.slice.parts.append(&mut asked);
            }
        }
        let mut parts = std::mem::take(&mut self.slice.parts);
        for param in &operation.params {
            let Some(subject) = param.ty.subject() else {
                if *param.ty.required() == Type::Signature {
                    parts.insert(Part::Signatures);
                }
                continue;
            };
            let parent = self.design.explicit_parent(subject);
            let clause = if param.new { ClauseRef::Fresh } else { ClauseRef::Exists };
            if !self.took_away(id, clause) && loose.is_none() {
                part::present(self.design, subject, &mut parts);
            }
            if let Some(parent) = parent
                && param.new
                && !self.took_away(id, ClauseRef::Exists)
                && loose.is_none()
            {
                part::present(self.design, parent, &mut parts);
            }
        }
        // A repair is owed on a record that something has changed, whatever of it that was.
        let fair = self.seeds.goals.iter().any(|goal| goal.needs_fairness());
        if fair
            && matches!(operation.kind, OperationKind::Repair { .. })
            && let Some(subject) = operation.params.first().and_then(|param| param.ty.subject())
        {
            part::whole(self.design, subject, &mut parts);
        }
        // Which of what it remembers is old is one choice for all of it.
        if self.has(Fault::Pause) {
            let memory = operation.memory.iter();
            parts.extend(memory.map(|usage| Part::Memory(usage.actor, usage.field)));
        }
        self.slice.parts = parts;
        if self.has(Fault::ClockStep) && mentions_now(operation) {
            self.clock(operation, kept);
        }
    }

    /// Does this read no other records than what is explored anyway?
    fn is_near(&self, asked: &Parts) -> bool {
        let known: BTreeSet<_> =
            self.slice.parts.iter().filter_map(|held| held.subject()).collect();
        asked.iter().all(|held| held.subject().is_none_or(|subject| known.contains(&subject)))
    }

    /// A clock that is behind is never behind the records that are read: these are kept with all that is
    /// written to them.
    fn clock(&mut self, operation: &Operation, kept: &mut Kept) {
        kept.whole = true;
        let mut read = Parts::new();
        visit::operation_exprs(operation, &mut |expr| {
            part::reads(self.design, Some(operation), expr, &mut read);
        });
        part::made(self.design, operation, &mut read);
        for body in visit::bodies(operation) {
            visit::each_statement(body, &mut |stmt| {
                part::writes(self.design, operation, stmt, &mut read);
            });
        }
        let named = operation.params.iter().filter_map(|param| param.ty.subject());
        let subjects: BTreeSet<_> =
            read.iter().filter_map(|held| held.subject()).chain(named).collect();
        for subject in subjects {
            part::whole(self.design, subject, &mut self.slice.parts);
        }
    }

    fn body(&mut self, id: OperationId, operation: &Operation, kept: &mut Kept) {
        let loose =
            self.seeds.clauses.is_some() && !kept.whole && !self.seeds.operations.contains(&id);
        for body in visit::bodies(operation) {
            each(body, &mut Vec::new(), &mut |stmt, around| {
                let refuses = !loose && !safe::never_refuses(self.design, operation, stmt);
                if (kept.whole || refuses) && !self.is_gone(id, stmt) {
                    kept.statements.insert(stmt.id);
                    kept.statements.extend(around.iter().map(|stmt| stmt.id));
                    own_part(self.design, operation, stmt, &mut self.slice.parts);
                }
            });
        }
        // What is bound is kept where it is used; what it is bound to may itself be bound.
        let mut used = BTreeSet::new();
        loop {
            let before = (used.len(), kept.statements.len());
            for body in visit::bodies(operation) {
                visit::each_statement(body, &mut |stmt| {
                    if let StmtKind::Let { local, .. } = &stmt.kind
                        && used.contains(local)
                    {
                        kept.statements.insert(stmt.id);
                    }
                    if kept.statements.contains(&stmt.id) {
                        self.asks(operation, stmt, loose, &mut used);
                    }
                });
            }
            if before == (used.len(), kept.statements.len()) {
                break;
            }
        }
    }

    /// What a statement that is kept needs to know.
    fn asks(
        &mut self,
        operation: &Operation,
        stmt: &Stmt,
        loose: bool,
        used: &mut BTreeSet<LocalId>,
    ) {
        let design = self.design;
        let mut read = |expr: &design::model::Expr, parts: &mut Parts| {
            part::reads(design, Some(operation), expr, parts);
            part::locals(expr, used);
        };
        match &stmt.kind {
            StmtKind::New { subject, keys, fields } => {
                keys.iter().for_each(|key| read(key, &mut self.slice.parts));
                for (attr, value) in fields {
                    let field = Part::Attr(*subject, *attr);
                    if !loose && !safe::is_plain_value(design, operation, value) {
                        self.slice.parts.insert(field);
                    }
                    if self.slice.parts.contains(&field) {
                        read(value, &mut self.slice.parts);
                    }
                }
                part::present(design, *subject, &mut self.slice.parts);
                if let Some(parent) = design.explicit_parent(*subject)
                    && !loose
                {
                    part::present(design, parent, &mut self.slice.parts);
                }
            }
            StmtKind::Append { base, fields, .. } => {
                read(base, &mut self.slice.parts);
                // What a log holds is never read back.
                for (_, value) in fields {
                    if !loose && !safe::is_plain_value(design, operation, value) {
                        read(value, &mut self.slice.parts);
                    }
                }
            }
            _ => visit::statement_exprs(stmt, &mut |expr| read(expr, &mut self.slice.parts)),
        }
    }
}

/// What a statement that is kept for its own sake writes: whether it refuses may hang on it.
fn own_part(design: &Design, operation: &Operation, stmt: &Stmt, parts: &mut Parts) {
    match &stmt.kind {
        StmtKind::New { subject, .. } => part::present(design, *subject, parts),
        StmtKind::Delete { target } => {
            if let Some(subject) = target.ty.subject() {
                // Whether it has children is counted.
                part::present(design, subject, parts);
                let counters = design.subjects[subject.index()].counters.len();
                let counter = |at| Part::Counter(subject, design::model::CounterId::of(at));
                parts.extend((0..counters).map(counter));
            }
        }
        _ => part::writes(design, operation, stmt, parts),
    }
}

fn mentions_now(operation: &Operation) -> bool {
    let mut found = false;
    visit::operation_exprs(operation, &mut |expr| {
        visit::each(expr, &mut |part| found |= matches!(part.kind, ExprKind::Now));
    });
    found
}

/// Every statement, with those that it stands in.
fn each<'s>(
    body: &'s [Stmt],
    around: &mut Vec<&'s Stmt>,
    look: &mut dyn FnMut(&'s Stmt, &[&'s Stmt]),
) {
    for stmt in body {
        look(stmt, around);
        around.push(stmt);
        match &stmt.kind {
            StmtKind::For { body, .. } => each(body, around, look),
            StmtKind::If { then, otherwise, .. } => {
                each(then, around, look);
                each(otherwise, around, look);
            }
            _ => {}
        }
        around.pop();
    }
}
