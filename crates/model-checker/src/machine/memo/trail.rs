//! What an operation can read and write, known beforehand.

use design::model::{
    AttrId, CounterId, Domain, Expr, ExprKind, LocalId, Operation, OperationKind, Stmt, StmtKind,
    SubjectId, Target, visit,
};
use engine::Word;

use super::super::{Instance, Machine};

/// The slots that a call can read or write, and those of them that it can write.
#[derive(Default)]
pub(super) struct Footprint {
    pub(super) slots: Vec<u32>,
    pub(super) writes: Vec<u32>,
    /// the records that it can write
    pub(super) records: Vec<(SubjectId, usize)>,
}

impl Footprint {
    fn tidy(&mut self) {
        for slots in [&mut self.slots, &mut self.writes] {
            slots.sort_unstable();
            slots.dedup();
        }
        self.records.sort_unstable();
        self.records.dedup();
    }

    pub(super) fn join(&mut self, other: Footprint) {
        self.slots.extend(other.slots);
        self.writes.extend(other.writes);
        self.records.extend(other.records);
        self.tidy();
    }

    /// Does neither touch what the other writes?
    pub(super) fn is_apart(&self, other: &Footprint) -> bool {
        let apart = |writes: &[u32], slots: &[u32]| {
            writes.iter().all(|slot| slots.binary_search(slot).is_err())
        };
        apart(&self.writes, &other.slots) && apart(&other.writes, &self.slots)
    }
}

/// Records of one subject.
type Records = (SubjectId, Vec<usize>);

pub(super) struct Trail<'a> {
    machine: &'a Machine,
    operation: &'a Operation,
    params: &'a [Word],
    /// what a quantifier's local ranges over
    locals: Vec<(LocalId, Records)>,
    found: Footprint,
}

impl<'a> Trail<'a> {
    pub(super) fn of(machine: &'a Machine, instance: &'a Instance) -> Option<Footprint> {
        let operation = &machine.design.operations[instance.operation.index()];
        let (params, locals) = (&instance.params[..], Vec::new());
        let trail = Trail { machine, operation, params, locals, found: Footprint::default() };
        let mut found = trail.of_operation()?;
        found.tidy();
        Some(found)
    }

    fn of_operation(mut self) -> Option<Footprint> {
        let operation = self.operation;
        if !operation.memory.is_empty() || operation.params.iter().any(|param| param.new) {
            return None;
        }
        for param in &operation.params {
            if param.ty.subject().is_some() {
                let (subject, key) = self.param(param.local)?;
                self.present(subject, key);
            }
        }
        for clause in &operation.guard {
            self.reads(&clause.body)?;
        }
        self.body(&operation.body)?;
        match &operation.kind {
            OperationKind::Step { .. } | OperationKind::Repair { .. } => {}
            OperationKind::Read { .. } | OperationKind::Effect(_) => return None,
        }
        Some(self.found)
    }

    fn param(&self, local: LocalId) -> Option<(SubjectId, usize)> {
        let at = self.operation.params.iter().position(|param| param.local == local)?;
        let subject = self.operation.params[at].ty.subject()?;
        let offsets = super::super::instances::offsets(self.operation);
        let key = self.params[offsets[at]];
        let known = key >= 0 && (key as usize) < self.machine.universe.keys[subject.index()].len;
        known.then_some((subject, key as usize))
    }

    /// The records that an expression can refer to, if that is known beforehand.
    fn bases(&self, expr: &Expr) -> Option<Records> {
        match &expr.kind {
            ExprKind::Local(local) => {
                if let Some((_, records)) = self.locals.iter().rev().find(|(held, _)| held == local)
                {
                    return Some(records.clone());
                }
                self.param(*local).map(|(subject, key)| (subject, vec![key]))
            }
            ExprKind::KeyPart { base, part } => {
                let (subject, keys) = self.bases(base)?;
                let of = expr.ty.subject()?;
                let universe = &self.machine.universe.keys[subject.index()];
                let parts = keys.into_iter().map(|key| {
                    let part = universe.part(key as Word, *part);
                    (part >= 0).then_some(part as usize)
                });
                Some((of, parts.collect::<Option<_>>()?))
            }
            _ => None,
        }
    }

    /// The one record that is written.
    fn target(&self, expr: &Expr) -> Option<(SubjectId, usize)> {
        match self.bases(expr)? {
            (subject, keys) if keys.len() == 1 => Some((subject, keys[0])),
            _ => None,
        }
    }

    fn present(&mut self, subject: SubjectId, key: usize) {
        self.found.slots.extend(self.machine.plan.records[subject.index()].present(key));
    }

    fn attribute(&self, subject: SubjectId, key: usize, attr: AttrId) -> Option<Vec<u32>> {
        let field = self.machine.program.layout(subject).attribute(attr)?;
        let from = self.machine.plan.records[subject.index()].words(key).start;
        Some(field.range().map(|at| (from + at) as u32).collect())
    }

    fn counter(&self, subject: SubjectId, key: usize, counter: CounterId) -> u32 {
        let at = self.machine.program.layout(subject).counter(counter);
        self.machine.plan.records[subject.index()].words(key).start as u32 + at
    }

    fn reads(&mut self, expr: &Expr) -> Option<()> {
        match &expr.kind {
            ExprKind::Attr { base, attr } => {
                let (subject, keys) = self.bases(base)?;
                for key in keys {
                    self.present(subject, key);
                    let slots = self.attribute(subject, key, *attr)?;
                    self.found.slots.extend(slots);
                }
                Some(())
            }
            ExprKind::Counter { base, counter } => {
                let (subject, keys) = self.bases(base)?;
                for key in keys {
                    self.present(subject, key);
                    let slot = self.counter(subject, key, *counter);
                    self.found.slots.push(slot);
                }
                Some(())
            }
            ExprKind::Exists { base, cache: None } => {
                let (subject, keys) = self.bases(base)?;
                for key in keys {
                    self.present(subject, key);
                }
                Some(())
            }
            ExprKind::Quantifier { local, domain, .. }
            | ExprKind::Aggregate { local, domain, .. } => {
                let records = self.ranged(domain)?;
                for key in &records.1 {
                    self.present(records.0, *key);
                }
                self.locals.push((*local, records));
                let fine = self.inside(expr);
                self.locals.pop();
                fine
            }
            ExprKind::Exists { .. }
            | ExprKind::Memory(_)
            | ExprKind::LogEnd { .. }
            | ExprKind::LogStart { .. }
            | ExprKind::LogSlice { .. }
            | ExprKind::Stored(_)
            | ExprKind::Hash(_)
            | ExprKind::Verified { .. }
            | ExprKind::Included { .. }
            | ExprKind::View { .. } => None,
            _ => self.inside(expr),
        }
    }

    fn inside(&mut self, expr: &Expr) -> Option<()> {
        let mut fine = Some(());
        visit::children(expr, &mut |child| fine = fine.and_then(|()| self.reads(child)));
        fine
    }

    /// The children of a record that is known beforehand: whether they are there is read.
    fn ranged(&self, domain: &Domain) -> Option<Records> {
        let Domain::Children { child, parent } = domain else { return None };
        let (_, parents) = self.bases(parent)?;
        let universe = &self.machine.universe.keys[child.index()];
        let of = |key: &usize| parents.iter().any(|p| universe.part(*key as Word, 0) == *p as Word);
        Some((*child, (0..universe.len).filter(of).collect()))
    }

    fn body(&mut self, body: &[Stmt]) -> Option<()> {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Assign { target: Target::Attr { base, attr }, value, .. } => {
                    self.reads(value)?;
                    let (subject, key) = self.target(base)?;
                    self.present(subject, key);
                    let slots = self.attribute(subject, key, *attr)?;
                    self.writes(slots, (subject, key));
                    self.counted(subject, key, *attr)?;
                }
                StmtKind::Let { value, .. } => self.reads(value)?,
                StmtKind::Emit { fields, .. } => {
                    for (_, expr) in fields {
                        self.reads(expr)?;
                    }
                }
                StmtKind::If { condition, then, otherwise } => {
                    self.reads(condition)?;
                    self.body(then)?;
                    self.body(otherwise)?;
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn writes(&mut self, slots: Vec<u32>, record: (SubjectId, usize)) {
        self.found.slots.extend(&slots);
        self.found.writes.extend(slots);
        self.found.records.push(record);
    }

    /// A change of this attribute may move counters of the record's parent.
    fn counted(&mut self, subject: SubjectId, key: usize, attr: AttrId) -> Option<()> {
        let machine = self.machine;
        let Some(parent) = machine.design.subjects[subject.index()].parent else {
            return Some(());
        };
        let above = machine.universe.keys[subject.index()].part(key as Word, 0);
        for (at, counter) in machine.design.subjects[parent.index()].counters.iter().enumerate() {
            if counter.child != subject {
                continue;
            }
            let mut mentioned = Vec::new();
            for expr in counter.filter.iter().chain(&counter.value) {
                visit::each(expr, &mut |expr| {
                    if let ExprKind::Attr { attr, .. } = &expr.kind {
                        mentioned.push(*attr);
                    }
                });
            }
            if !mentioned.contains(&attr) {
                continue;
            }
            for attr in mentioned {
                let slots = self.attribute(subject, key, attr)?;
                self.found.slots.extend(slots);
            }
            if above < 0 {
                return None;
            }
            let slot = self.counter(parent, above as usize, CounterId::of(at));
            self.writes(vec![slot], (parent, above as usize));
            self.present(parent, above as usize);
        }
        Some(())
    }
}
