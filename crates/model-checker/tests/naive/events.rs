//! Random designs in which messages are events: what was a step that others send to is the handler of an event that
//! they emit. It comes in the order of its key, at least once, and never gets lost.

use super::ast::*;
use super::{generate, parts};

/// What the event is called.
pub const EVENT: &str = "Told";

/// What its handler is called.
const HANDLER: &str = "on_told";

/// The same seed gives the same design.
pub fn design(seed: u64) -> Design {
    of(seed, generate::design)
}

/// The same of designs of two parts.
pub fn in_parts(seed: u64) -> Design {
    of(seed, parts::design)
}

fn of(seed: u64, make: fn(u64) -> Design) -> Design {
    (0..).find_map(|more| with_events(make(seed + more * 1_000_003))).expect("some have messages")
}

/// None: it has no messages, or several steps that hear them.
fn with_events(mut design: Design) -> Option<Design> {
    let mut heard = design.ops.iter_mut().filter(|op| op.kind == Kind::Heard);
    heard.next()?.name = HANDLER.into();
    if heard.next().is_some() {
        return None;
    }
    let network = |fault: &Fault| {
        matches!(fault, Fault::LostMessage | Fault::DoubledMessage | Fault::Partition)
    };
    // they do not touch events, and a fault that never strikes is told
    design.check.faults.retain(|(fault, _)| !network(fault));
    if let Some(other) = &mut design.other {
        other.check.faults.retain(|(fault, _)| !network(fault));
    }
    design.events = true;
    Some(design)
}
