//! The design of a slice: the same numbers for everything, with what is left out made empty.

use std::collections::BTreeSet;

use design::model::{
    AttrId, BlobId, Const, CounterId, Design, Expr, ExprKind, Fault, Goal, LocalId, MemoryId,
    MemoryUseId, Operation, OperationId, OperationKind, StateId, Stmt, StmtKind, SubjectId, Target,
    Type, Values, visit,
};

use super::closure::{Kept, Slice};
use super::part::Part;
use super::safe;

/// What of a design takes no room in a state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct LeftOut {
    /// nothing is left out
    pub(crate) none: bool,
    /// some clauses may hold or not
    pub(crate) open: bool,
    /// its clock tells other times apart than that of the whole design
    pub(crate) own_clock: bool,
    parts: BTreeSet<Part>,
    subjects: Vec<bool>,
    operations: Vec<bool>,
    /// parameters that make no difference any more
    pub(crate) params: BTreeSet<(OperationId, LocalId)>,
}

impl LeftOut {
    pub(crate) fn nothing() -> LeftOut {
        LeftOut { none: true, ..LeftOut::default() }
    }

    fn leaves(&self, part: Part) -> bool {
        !self.none && !self.parts.contains(&part)
    }

    /// Is this part explored?
    pub(crate) fn has(&self, part: Part) -> bool {
        !self.leaves(part)
    }

    pub(crate) fn attr(&self, subject: SubjectId, attr: AttrId) -> bool {
        self.leaves(Part::Attr(subject, attr))
    }

    pub(crate) fn counter(&self, subject: SubjectId, counter: CounterId) -> bool {
        self.leaves(Part::Counter(subject, counter))
    }

    pub(crate) fn log(&self, subject: SubjectId, log: StateId) -> bool {
        self.leaves(Part::Log(subject, log))
    }

    pub(crate) fn cache(&self, subject: SubjectId, cache: StateId) -> bool {
        self.leaves(Part::Cache(subject, cache))
    }

    pub(crate) fn memory(&self, actor: design::model::ActorId, field: MemoryId) -> bool {
        self.leaves(Part::Memory(actor, field))
    }

    pub(crate) fn blob(&self, blob: BlobId) -> bool {
        self.leaves(Part::Blob(blob))
    }

    /// Is nothing of its records explored?
    pub(crate) fn subject(&self, subject: SubjectId) -> bool {
        self.subjects.get(subject.index()).copied().unwrap_or(false)
    }

    pub(crate) fn operation(&self, operation: OperationId) -> bool {
        self.operations.get(operation.index()).copied().unwrap_or(false)
    }

    /// Can something happen that changes nothing here?
    pub(crate) fn some_operation(&self) -> bool {
        self.operations.contains(&true)
    }
}

/// The design of a slice, and what it has no room for.
pub(crate) fn project(design: &Design, slice: &Slice) -> (Design, LeftOut) {
    let mut made = design.clone();
    let parts = &slice.parts;
    let mut left = LeftOut { open: slice.open, parts: parts.clone(), ..LeftOut::default() };
    for (index, subject) in made.subjects.iter_mut().enumerate() {
        let id = SubjectId::of(index);
        subject.implicit |= !parts.contains(&Part::Present(id));
        for (at, attribute) in subject.attributes.iter_mut().enumerate() {
            if !parts.contains(&Part::Attr(id, AttrId::of(at))) {
                attribute.range = None;
                without_ranges(&mut attribute.ty);
                let made_of_time = *attribute.ty.required() == Type::Duration;
                attribute.default.take_if(|_| made_of_time);
                // A record that is made without it is whole all the same.
                if !attribute.ty.is_optional() && attribute.default.is_none() {
                    attribute.default = Some(any_constant(&attribute.ty));
                }
            }
        }
        for (at, counter) in subject.counters.iter_mut().enumerate() {
            if !parts.contains(&Part::Counter(id, CounterId::of(at))) {
                counter.filter = None;
                counter.value = None;
            }
        }
        left.subjects.push(!parts.iter().any(|part| part.subject() == Some(id)));
    }
    let targets = visit::message_targets(design);
    for (index, operation) in made.operations.iter_mut().enumerate() {
        let id = OperationId::of(index);
        let kept = &slice.operations[index];
        left.operations.push(!kept.operation);
        if kept.operation {
            reduce(design, slice, kept, operation);
        } else {
            empty(operation);
        }
        // A message is sent as it is, and so is a call to the world outside.
        let sent = targets[index] || matches!(operation.kind, OperationKind::Effect(_));
        if sent {
            continue;
        }
        let used = mentioned(&made.subjects, operation);
        for (at, param) in operation.params.iter_mut().enumerate() {
            if used.contains(&param.local) {
                continue;
            }
            left.params.insert((id, param.local));
            param.range = None;
            without_ranges(&mut param.ty);
            param.default = None;
            if let Some(values) =
                made.world.params.get_mut(index).and_then(|params| params.get_mut(at))
            {
                *values = Values::Irrelevant;
            }
        }
    }
    for (at, goal) in made.invariants.iter_mut().enumerate() {
        if !slice.goals.contains(&Goal::Invariant(at as u32)) {
            goal.body.kind = ExprKind::Literal(Const::Bool(true));
            goal.uses_old = false;
        }
    }
    for (at, goal) in made.recoveries.iter_mut().enumerate() {
        if !slice.goals.contains(&Goal::Recovery(at as u32)) {
            goal.body.kind = ExprKind::Literal(Const::Bool(true));
        }
    }
    for (at, held) in made.leads.iter_mut().enumerate() {
        if !slice.goals.contains(&Goal::LeadsTo(at as u32)) {
            held.goal.body.kind = ExprKind::Literal(Const::Bool(true));
        }
    }
    // Other faults that strike nothing cost nothing.
    if targets.contains(&true) && !parts.iter().any(|part| matches!(part, Part::Messages(_))) {
        made.world.faults.retain(|setting| setting.fault != Fault::Partition);
    }
    (made, left)
}

/// An operation that does not happen.
fn empty(operation: &mut Operation) {
    operation.kind = OperationKind::Step { keyed: false };
    operation.guard.iter_mut().for_each(|clause| clause.body = always(&clause.body));
    operation.params.iter_mut().for_each(|param| param.new = false);
    operation.body.clear();
    operation.memory.clear();
}

fn always(clause: &Expr) -> Expr {
    Expr { kind: ExprKind::Literal(Const::Bool(true)), ty: Type::Bool, span: clause.span }
}

fn reduce(design: &Design, slice: &Slice, kept: &Kept, operation: &mut Operation) {
    for (clause, kept) in operation.guard.iter_mut().zip(&kept.clauses) {
        if !kept {
            clause.body = always(&clause.body);
        }
    }
    for param in &mut operation.params {
        let subject = param.ty.subject();
        param.new &= subject.is_some_and(|of| {
            design.subjects[of.index()].implicit || slice.parts.contains(&Part::Present(of))
        });
    }
    let plain_result = match &operation.kind {
        OperationKind::Read { result } => safe::is_plain_result(design, operation, result),
        _ => false,
    };
    thin(&mut operation.body, slice, kept);
    match &mut operation.kind {
        OperationKind::Effect(effect) => {
            for answer in [&mut effect.on_ok, &mut effect.on_refused, &mut effect.on_unknown] {
                thin(&mut answer.body, slice, kept);
            }
        }
        // Whoever reads it is not part of the world.
        OperationKind::Read { result } if plain_result => {
            result.kind = ExprKind::Literal(Const::Null);
            result.ty = Type::Null;
        }
        OperationKind::Read { .. } | OperationKind::Step { .. } | OperationKind::Repair { .. } => {}
    }
    forget(slice, operation);
}

/// Leaves out statements, and the values of fields that are left out.
fn thin(body: &mut Vec<Stmt>, slice: &Slice, kept: &Kept) {
    body.retain(|stmt| kept.statements.contains(&stmt.id));
    for stmt in body {
        match &mut stmt.kind {
            StmtKind::New { subject, fields, .. } => {
                for (attr, value) in fields {
                    if !slice.parts.contains(&Part::Attr(*subject, *attr)) {
                        *value = something(value);
                    }
                }
            }
            StmtKind::Append { fields, .. } => {
                fields.iter_mut().for_each(|(_, value)| *value = something(value));
            }
            StmtKind::For { body, .. } => thin(body, slice, kept),
            StmtKind::If { then, otherwise, .. } => {
                thin(then, slice, kept);
                thin(otherwise, slice, kept);
            }
            _ => {}
        }
    }
}

/// What is not explored holds anything: nothing is refused for the records of such a list.
fn without_ranges(ty: &mut Type) {
    if let Type::List { of, .. } = ty
        && let Type::Struct(fields) = &mut **of
    {
        fields.iter_mut().for_each(|field| field.range = None);
    }
}

/// A value that nobody looks at.
fn something(value: &Expr) -> Expr {
    let constant = any_constant(&value.ty);
    Expr { kind: ExprKind::Literal(constant), ty: value.ty.clone(), span: value.span }
}

fn any_constant(ty: &Type) -> Const {
    match ty.required() {
        Type::Set { .. } => Const::Set(Vec::new()),
        Type::List { .. } => Const::List(Vec::new()),
        Type::Map { .. } => Const::Map(Vec::new()),
        Type::Bool => Const::Bool(false),
        Type::Enum(id) => Const::Enum(*id, 0),
        _ => Const::Int(0),
    }
}

/// Leaves out memory that is not explored; what is left has new numbers.
fn forget(slice: &Slice, operation: &mut Operation) {
    let mut numbers = Vec::new();
    let mut next = 0;
    for usage in &operation.memory {
        let kept = slice.parts.contains(&Part::Memory(usage.actor, usage.field));
        numbers.push(kept.then(|| {
            next += 1;
            MemoryUseId(next - 1)
        }));
    }
    if next as usize == operation.memory.len() {
        return;
    }
    let mut at = 0;
    operation.memory.retain(|_| {
        at += 1;
        numbers[at - 1].is_some()
    });
    visit::operation_exprs_mut(operation, &mut |expr| {
        visit::each_mut(expr, &mut |part| {
            if let ExprKind::Memory(usage) = &mut part.kind {
                match numbers[usage.index()] {
                    Some(number) => *usage = number,
                    None => part.kind = ExprKind::Literal(Const::Null),
                }
            }
        });
    });
    for body in visit::bodies_mut(operation) {
        renumber(body, &numbers);
    }
}

fn renumber(body: &mut Vec<Stmt>, numbers: &[Option<MemoryUseId>]) {
    body.retain_mut(|stmt| match &mut stmt.kind {
        StmtKind::Assign { target: Target::Memory(usage), .. } => match numbers[usage.index()] {
            Some(number) => {
                *usage = number;
                true
            }
            None => false,
        },
        StmtKind::For { body, .. } => {
            renumber(body, numbers);
            true
        }
        StmtKind::If { then, otherwise, .. } => {
            renumber(then, numbers);
            renumber(otherwise, numbers);
            true
        }
        _ => true,
    });
}

/// The parameters that still make a difference.
fn mentioned(subjects: &[design::model::Subject], operation: &Operation) -> BTreeSet<LocalId> {
    let mut used = BTreeSet::new();
    visit::operation_exprs(operation, &mut |expr| super::part::locals(expr, &mut used));
    used.extend(operation.memory.iter().filter_map(|usage| usage.of));
    let mut sends = false;
    visit::each_statement(&operation.body, &mut |stmt| {
        sends |= matches!(stmt.kind, StmtKind::Send { .. });
    });
    let repair = matches!(operation.kind, OperationKind::Repair { .. });
    for param in &operation.params {
        let asked = param
            .ty
            .subject()
            .is_some_and(|subject| param.new || !subjects[subject.index()].implicit);
        // Where a message comes from is where the records live that its sender names.
        if asked || sends || repair {
            used.insert(param.local);
        }
    }
    used
}
