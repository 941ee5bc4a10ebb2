//! When the messages on their way may be kept as a set that only grows.
//!
//! The world must let each of them be lost and doubled without a budget, and not say how many there may
//! be. Then the set holds more than is under way, and less is never needed: whatever can happen with
//! some of them can happen with all of them. So a goal may speak of messages only as what must not be
//! there. One that asks for a message, or counts them, needs them one by one. So does a design with handlers of
//! events, which are neither lost nor out of order, or with `send each`, where each record has its turn once.

use design::model::{Design, Domain, Expr, ExprKind, Fault, FaultSetting, visit};

use crate::Options;
use crate::world::plan::Network;
use crate::world::sorts::message_targets;

/// Is it a world in which they may? Options may say other faults than the design.
pub(crate) fn may_be_set(design: &Design, options: &Options) -> bool {
    let faults = options.faults.as_ref().unwrap_or(&design.world.faults);
    let endless = |fault: Fault| {
        faults.iter().any(|held: &FaultSetting| held.fault == fault && held.budget.is_none())
    };
    let kept = |held: &design::model::Operation| held.hears.is_some() || held.each.is_some();
    let kept = design.operations.iter().any(kept);
    endless(Fault::LostMessage)
        && !kept
        && endless(Fault::DoubledMessage)
        && design.world.setting("messages").is_none()
        && message_targets(design).contains(&true)
}

/// How messages are kept where these invariants are judged, and why not as a set, if they could be
/// but for a goal.
pub(crate) fn of(
    design: &Design,
    invariants: &[u32],
    wish: Network,
    options: &Options,
) -> (Network, Option<String>) {
    if !wish.is_set() || !may_be_set(design, options) {
        return (Network::OneByOne, None);
    }
    let asks = invariants
        .iter()
        .map(|at| &design.invariants[*at as usize])
        .find(|held| !only_absent(&held.body, true));
    match asks {
        Some(held) => {
            let why = format!("`{}` asks for messages that are there", held.name);
            (Network::OneByOne, Some(why))
        }
        None => (wish, None),
    }
}

/// The note for a search that could not keep them as a set.
pub(crate) fn note(design: &Design, why: &str) -> String {
    let room = crate::world::sizes::setting(design, "messages", 2);
    format!("messages are kept one by one, at most {room}, and not as a set: {why}")
}

/// Do the goals of a design read messages at all?
pub(crate) fn reads_messages(expr: &Expr) -> bool {
    let mut reads = false;
    visit::each(expr, &mut |part| match &part.kind {
        ExprKind::Quantifier { domain, .. } | ExprKind::Aggregate { domain, .. } => {
            reads |= matches!(**domain, Domain::Messages(_));
        }
        _ => {}
    });
    reads
}

/// Does it stay false when there are more messages, once it is false? (`wanted`: else, stay true once it is
/// true.)
fn only_absent(expr: &Expr, wanted: bool) -> bool {
    if !reads_messages(expr) {
        return true;
    }
    match &expr.kind {
        ExprKind::And(list) | ExprKind::Or(list) => {
            list.iter().all(|part| only_absent(part, wanted))
        }
        ExprKind::Not(part) => only_absent(part, !wanted),
        ExprKind::Implies(left, right) => only_absent(left, !wanted) && only_absent(right, wanted),
        ExprKind::Old(part) => only_absent(part, wanted),
        ExprKind::If { condition, then, otherwise } => {
            !reads_messages(condition)
                && only_absent(then, wanted)
                && only_absent(otherwise, wanted)
        }
        ExprKind::Let { value, body, .. } => !reads_messages(value) && only_absent(body, wanted),
        ExprKind::Quantifier { all, domain, filter, body, .. } => {
            let sound = match &**domain {
                Domain::Messages(_) => *all == wanted,
                Domain::Children { parent: of, .. } | Domain::Elements(of) => !reads_messages(of),
                Domain::All(_) | Domain::World(_) | Domain::Principals(_) | Domain::Outbox(_) => {
                    true
                }
            };
            // `all x where f: b` is `f implies b` of each; `any x where f: b` is `f and b` of some.
            let filter = filter
                .as_ref()
                .is_none_or(|filter| only_absent(filter, if *all { !wanted } else { wanted }));
            sound && filter && only_absent(body, wanted)
        }
        _ => false,
    }
}
