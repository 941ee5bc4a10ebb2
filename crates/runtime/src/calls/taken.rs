//! What a refusal has to do with the record that a step takes.

use design::model::visit::each;
use design::model::{ClauseRef, ExprKind, LocalId, Operation};
use engine::{Place, Reason, Refusal};

/// Does a refusal rest on the record that was proposed? What does not would refuse every other one as well.
pub fn rests_on_taken(operation: &Operation, refusal: &Refusal) -> bool {
    let Some((param, _)) = operation.takes() else { return false };
    let clause = |at: u32| {
        let clause = operation.guard.get(at as usize);
        clause.is_none_or(|clause| mentions(&clause.body, param.local))
    };
    match (refusal.reason, refusal.clause) {
        (Reason::Exists(at) | Reason::Fresh(at), _) => {
            operation.params.get(at as usize).is_none_or(|it| it.local == param.local)
        }
        (Reason::Clause(at), _) | (_, Some(ClauseRef::Named(at))) => clause(at),
        (Reason::OutOfRange, _) => false,
        (Reason::Range(outside), _) => {
            !matches!(outside.place, Place::Param(_) | Place::InParam { .. })
        }
        _ => true,
    }
}

fn mentions(body: &design::model::Expr, local: LocalId) -> bool {
    let mut found = false;
    each(body, &mut |part| found |= matches!(part.kind, ExprKind::Local(it) if it == local));
    found
}
