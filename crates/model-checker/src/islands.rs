//! Records that never meet: where no step, no goal and no reference reaches from one key to
//! another, each key is a world of its own, all of them alike, and one stands for all.

use design::model::{
    ActorId, AttrId, Design, Domain, Expr, ExprKind, Invariant, MemoryId, Operation, OperationId,
    OperationKind, StmtKind, SubjectId, Type, Values, visit,
};

use crate::slice::LeftOut;
use crate::world::flow::{Flow, PlaceOf};
use crate::world::sorts::message_targets;

/// The same design with one key of each such kind, and what was left out, in words.
///
/// `left`: of a slice, what is not explored.
pub(crate) fn reduce(design: &Design, left: &LeftOut) -> (Design, Vec<String>) {
    let mut reduced = design.clone();
    let mut notes = Vec::new();
    for (index, subject) in design.subjects.iter().enumerate() {
        for (part, key) in subject.keys.iter().enumerate() {
            let Some(Values::Opaque(count)) =
                design.world.keys.get(index).and_then(|parts| parts.get(part))
            else {
                continue;
            };
            let opaque = matches!(key.ty, Type::Text | Type::Bytes);
            let id = SubjectId::of(index);
            if *count < 2 || !opaque || left.subject(id) || !apart(design, left, id, part as u32) {
                continue;
            }
            reduced.world.keys[index][part] = Values::Opaque(1);
            notes.push(format!(
                "{}: {count}, whose records never meet: one was explored for all",
                key.name
            ));
        }
    }
    (reduced, notes)
}

/// Do records with different values of this part of their key never meet?
fn apart(design: &Design, left: &LeftOut, subject: SubjectId, part: u32) -> bool {
    let explored = || (0..design.subjects.len()).map(SubjectId::of).filter(|id| !left.subject(*id));
    if !explored().all(|id| times(design, id, subject) == 1) {
        return false;
    }
    // A crash takes something from every record of a place.
    if design.subjects.iter().flat_map(|held| &held.states).any(|state| state.volatile) {
        return false;
    }
    let mut flow = Flow::of(design);
    let node = flow.node(PlaceOf::Key(subject, part));
    let alone =
        flow.class(node).places.iter().all(|place| {
            *place == PlaceOf::Key(subject, part) || matches!(place, PlaceOf::Inner(_))
        });
    let attributes = explored().flat_map(|id| {
        let held = design.subjects[id.index()].attributes.iter().enumerate();
        held.filter(move |(at, _)| !left.attr(id, AttrId::of(*at))).map(|(_, held)| held)
    });
    let memory = design.actors.iter().enumerate().flat_map(|(actor, held)| {
        let held = held.memory.iter().enumerate();
        let kept = move |at: usize| !left.memory(ActorId::of(actor), MemoryId::of(at));
        held.filter(move |(at, _)| kept(*at)).map(|(_, held)| held)
    });
    let operations = design.operations.iter().enumerate();
    let mut operations =
        operations.filter(|(at, _)| !left.operation(OperationId::of(*at))).map(|(_, held)| held);
    alone
        && !message_targets(design).contains(&true)
        && attributes.into_iter().all(|attribute| !refers(&attribute.ty))
        && memory.into_iter().all(|held| held.of.is_some() && !refers(&held.ty))
        && operations.all(|operation| {
            let references =
                operation.params.iter().filter(|param| refers(&param.ty)).collect::<Vec<_>>();
            let plain = references.len() == 1 && references[0].ty.subject().is_some();
            let mut makes = false;
            for body in visit::bodies(operation) {
                visit::each_statement(body, &mut |stmt| {
                    makes |= matches!(stmt.kind, StmtKind::New { .. });
                });
            }
            visit::operation_exprs(operation, &mut |expr| makes |= names_another(expr));
            let answers = match &operation.kind {
                OperationKind::Effect(effect) => {
                    let answer =
                        effect.on_ok.param.map(|local| &operation.locals[local.index()].ty);
                    answer.is_some_and(refers)
                }
                _ => false,
            };
            plain && !makes && !answers && has_own_key(operation, subject, part)
        })
        && design.goals().all(local)
}

/// How often the key of `subject` holds that of `of`.
fn times(design: &Design, subject: SubjectId, of: SubjectId) -> usize {
    if subject == of {
        return 1;
    }
    let keys = &design.subjects[subject.index()].keys;
    keys.iter().filter_map(|key| key.ty.subject()).map(|held| times(design, held, of)).sum()
}

fn refers(ty: &Type) -> bool {
    match ty.required() {
        // The store of contents is one for all.
        Type::Ref(_) | Type::Digest(_) => true,
        // What was signed for one record can be shown for another.
        Type::Hash | Type::Signature | Type::Proof => true,
        Type::List { of, .. } | Type::Set { of, .. } => refers(of),
        Type::Map { key, value, .. } => refers(key) || refers(value),
        Type::Struct(fields) => fields.iter().any(|field| refers(&field.ty)),
        _ => false,
    }
}

/// Does it compute which record it speaks of?
fn names_another(expr: &Expr) -> bool {
    let mut names = false;
    visit::each(expr, &mut |part| names |= matches!(part.kind, ExprKind::Keyed { .. }));
    names
}

/// Does each value of this part of the key have outbox entries of its own? Calls with one key meet at one entry.
fn has_own_key(operation: &Operation, subject: SubjectId, part: u32) -> bool {
    let OperationKind::Effect(effect) = &operation.kind else { return true };
    let record = |expr: &Expr| match expr.kind {
        ExprKind::Local(_) => expr.ty.subject(),
        _ => None,
    };
    let tells = |expr: &Expr| match &expr.kind {
        ExprKind::KeyPart { base, part: of } => *of == part && record(base) == Some(subject),
        _ => record(expr).is_some(),
    };
    // Without one, the key is all parameters.
    effect.key.is_empty() || effect.key.iter().any(tells)
}

/// Does the goal speak of every record by itself?
fn local(goal: &Invariant) -> bool {
    // one that is not judged here
    if matches!(goal.body.kind, ExprKind::Literal(_)) {
        return true;
    }
    let ExprKind::Quantifier { all: true, domain, filter, body, .. } = &goal.body.kind else {
        return false;
    };
    let ranges = |expr: &Expr| {
        let mut ranges = false;
        visit::each(expr, &mut |expr| {
            if let ExprKind::Quantifier { domain, .. } | ExprKind::Aggregate { domain, .. } =
                &expr.kind
            {
                ranges |= !matches!(**domain, Domain::Children { .. } | Domain::Elements(_));
            }
            ranges |= matches!(expr.kind, ExprKind::Keyed { .. });
        });
        ranges
    };
    matches!(**domain, Domain::All(_))
        && !ranges(body)
        && !filter.as_ref().is_some_and(|filter| ranges(filter))
}
