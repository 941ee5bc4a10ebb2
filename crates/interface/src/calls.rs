//! The operations that somebody may call, and what each of them may change and hand out.

use design::model::{
    ActorId, Design, ExprKind, MemoryUse, Operation, OperationId, OperationKind, StmtKind,
    SubjectId, Target, View, ViewForm, visit,
};

/// An operation that may be called from outside.
#[derive(Clone, Copy, Debug)]
pub struct Call<'d> {
    pub id: OperationId,
    pub operation: &'d Operation,
    pub actor: &'d str,
    pub is_step: bool,
    /// a call without an idempotency key is refused
    pub is_keyed: bool,
}

/// Everything that may be called, in the order of the design. A read of a view that is not served is left out.
pub fn calls(design: &Design) -> Vec<Call<'_>> {
    let callable = visit::callable(design);
    let all = design.operations.iter().enumerate().filter(|(at, _)| callable[*at]);
    all.filter(|(_, operation)| is_served(design, operation))
        .map(|(at, operation)| {
            let keyed = match operation.kind {
                OperationKind::Step { keyed } => Some(keyed),
                _ => None,
            };
            Call {
                id: OperationId::of(at),
                operation,
                actor: &design.actors[operation.actor.index()].name,
                is_step: keyed.is_some(),
                is_keyed: keyed == Some(true),
            }
        })
        .collect()
}

fn is_served(design: &Design, operation: &Operation) -> bool {
    let OperationKind::Read { result } = &operation.kind else { return true };
    let mut served = true;
    visit::each(result, &mut |part| {
        if let ExprKind::View { view, .. } = &part.kind {
            served &= !is_searched(&design.views[view.index()]);
        }
    });
    served
}

/// Is it asked for more than its parameters? A read has no place for that.
fn is_searched(view: &View) -> bool {
    matches!(view.form, ViewForm::Search { .. } | ViewForm::Near { from: None, .. })
}

/// The subjects whose records a step may change, in the order of the design: those that it writes, and those that
/// count them.
pub fn changed(design: &Design, operation: &Operation) -> Vec<SubjectId> {
    // what a step makes is there, also if it says nothing else of it
    let made = operation.params.iter().filter(|param| param.new);
    let mut found: Vec<SubjectId> = made.filter_map(|param| param.ty.subject()).collect();
    visit::each_statement(&operation.body, &mut |statement| match &statement.kind {
        StmtKind::Assign { target: Target::Attr { base, .. }, .. }
        | StmtKind::Assign { target: Target::Element { base, .. }, .. }
        | StmtKind::Append { base, .. } => found.extend(base.ty.subject()),
        StmtKind::New { subject, .. } => found.push(*subject),
        StmtKind::Delete { target } => found.extend(target.ty.subject()),
        _ => {}
    });
    for (at, subject) in design.subjects.iter().enumerate() {
        if subject.counters.iter().any(|counter| found.contains(&counter.child)) {
            found.push(SubjectId::of(at));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// One field of the caller's memory that an operation reads or hands out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Handed {
    /// under which a call and its answer have it
    pub name: String,
    /// the actor at the root of the chain, whose memory it is
    pub actor: ActorId,
    pub field: String,
    /// the parameter whose record it belongs to; none: it belongs to the actor alone
    pub of: Option<String>,
    pub read: bool,
    pub written: bool,
}

/// The memory of an operation.
pub fn handed_out(design: &Design, operation: &Operation) -> Vec<Handed> {
    let one = |used: &MemoryUse| Handed {
        name: operation.memory_name(design, used),
        actor: used.actor,
        field: design.actors[used.actor.index()].memory[used.field.index()].name.clone(),
        of: used.of.map(|local| operation.locals[local.index()].name.clone()),
        read: used.read,
        written: used.written,
    };
    operation.memory.iter().map(one).collect()
}
