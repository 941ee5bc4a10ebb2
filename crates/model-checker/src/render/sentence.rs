//! One sentence for each step of a trace.

use design::model::{EACH_ACTOR, EVENT_ACTOR};

use super::words::clean;
use crate::{StepKind, TraceStep};

/// `claim(resource-1, ttl: 2 ticks)`; a parameter whose value says what it is needs no name.
pub(super) fn call(step: &TraceStep) -> String {
    let params: Vec<String> = step
        .params
        .iter()
        .map(|(name, value)| {
            let says_it = value.strip_prefix(name.as_str()).is_some_and(|rest| {
                rest.strip_prefix('-').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
            });
            if says_it { clean(value) } else { format!("{}: {}", clean(name), clean(value)) }
        })
        .collect();
    // `authorize is done` is about `authorize(charge-1)`
    let (name, rest) = match step.name.split_once(' ') {
        Some((name, rest)) => (clean(name), format!(" {}", clean(rest))),
        None => (clean(&step.name), String::new()),
    };
    match params.as_slice() {
        [] => format!("{name}{rest}"),
        _ => format!("{name}({}){rest}", params.join(", ")),
    }
}

/// Who acts: a principal, or whatever stands in for one.
pub(super) fn who(step: &TraceStep) -> String {
    clean(step.principal.as_deref().unwrap_or(&step.actor))
}

/// What happened, in one sentence without a full stop.
pub(super) fn sentence(step: &TraceStep) -> String {
    let (who, call) = (who(step), call(step));
    let mut text = match step.kind {
        StepKind::Tick => return "time passes: one tick".into(),
        StepKind::Step => format!("{who} calls {call}"),
        StepKind::World if step.actor == EVENT_ACTOR => format!("an event arrives: {call}"),
        StepKind::World => format!("in the world, {call} happens"),
        StepKind::Repair => format!("the engine repairs: {call}"),
        StepKind::Effect if step.actor == "world" => format!("the world outside decides: {call}"),
        StepKind::Effect => format!("the engine calls the world outside: {call}"),
        StepKind::Answer => format!("from the world outside: {call}"),
        StepKind::Delivery if step.operation.is_some() => delivery(step, &who, &call),
        StepKind::Delivery => call,
        StepKind::Fault => fault(step, &who, &call),
    };
    if !step.remembered.is_empty() {
        let list: Vec<String> = step
            .remembered
            .iter()
            .map(|(field, value)| format!("{} = {}", clean(field), clean(value)))
            .collect();
        text.push_str(&format!(", with {}", list.join(", ")));
    }
    text.push_str(match (step.kind, step.fault.as_deref()) {
        (StepKind::Fault, _) if step.operation.is_some() => "; the call stays in flight",
        (StepKind::Fault, _) | (_, None) => "",
        (_, Some("lost_reply")) => "; it is done, but the reply is lost",
        (_, Some("duplicate")) => "; a copy of the call stays in flight",
        (_, Some("retry_without_key")) if step.memory.is_empty() => {
            "; it is done, but the reply is lost, and the call is sent again without its key"
        }
        // who remembers something of the answer has heard it
        (_, Some("retry_without_key")) => "; it is done, and the call comes again without its key",
        (_, Some("pause")) if step.remembered.is_empty() => {
            "; a part of it pauses, with what it remembered before"
        }
        (_, Some("pause")) => "; it acts on what it remembered before a pause",
        (_, Some("clock_step")) => "; this server's clock has jumped",
        (_, Some("late")) => "; the call comes late",
        (_, Some("doubled_message")) => "; a copy of the message stays in flight",
        (_, Some("doubled_event")) => "; it comes again",
        (_, Some("passed_over")) => "; `where` says no, and it is passed over",
        (_, Some("stale")) => "; its copy is an old one",
        (_, Some("older_state")) => "; the answer is from an older state",
        (_, Some("crash")) => "; a crash follows before anything else",
        (_, Some(_)) => "; a fault strikes",
    });
    if let Some(clause) = &step.refused
        && step.kind != StepKind::Delivery
    {
        text.push_str(&format!("; refused by {}", clean(clause)));
    }
    text
}

fn delivery(step: &TraceStep, who: &str, call: &str) -> String {
    match step.refused.as_deref() {
        Some(clause) if step.actor == EVENT_ACTOR => {
            format!("the event arrives: {call}; it is refused by {}", clean(clause))
        }
        None if step.actor == EVENT_ACTOR => format!("the event arrives: {call}"),
        Some(_) if step.actor == EACH_ACTOR => {
            format!("the outbox comes to one that is not there: {call}")
        }
        None if step.actor == EACH_ACTOR => format!("the outbox comes to one of them: {call}"),
        Some("dropped") => format!("the call of {who} that was in flight is dropped: {call}"),
        Some(clause) => {
            format!("what {who} sent lands: {call}; it is refused by {}", clean(clause))
        }
        None => format!("what {who} sent lands: {call}"),
    }
}

fn fault(step: &TraceStep, who: &str, call: &str) -> String {
    match step.name.as_str() {
        "crash" => format!("{who} crashes and forgets what it remembered"),
        "place down" => {
            let place = step.params.first().map_or("a place", |(_, value)| value.as_str());
            format!("{} crashes and loses what is volatile", clean(place))
        }
        "partition" => "a partition: messages between places are held up".into(),
        "evict" => format!("the cache of {who} forgets: {call}"),
        _ if step.operation.is_some() => format!("{who} sends {call}"),
        _ => format!("{call}, a fault"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::step;
    use super::*;

    #[test]
    fn steps_read_as_sentences() {
        let mut held = step(StepKind::Step, "buyer-1", "hold");
        held.params = vec![("seat".into(), "seat-1".into()), ("ttl".into(), "2 ticks".into())];
        assert_eq!(sentence(&held), "buyer-1 calls hold(seat-1, ttl: 2 ticks)");
        held.fault = Some("lost_reply".into());
        held.remembered = vec![("my_epoch".into(), "3".into())];
        assert_eq!(
            sentence(&held),
            "buyer-1 calls hold(seat-1, ttl: 2 ticks), with my_epoch = 3; \
             it is done, but the reply is lost"
        );
        assert_eq!(
            sentence(&step(StepKind::Fault, "buyer-1", "crash")),
            "buyer-1 crashes and forgets what it remembered"
        );
        let mut decided = step(StepKind::Effect, "world", "authorize is done");
        decided.params = vec![("charge".into(), "charge-1".into())];
        assert_eq!(sentence(&decided), "the world outside decides: authorize(charge-1) is done");
        assert_eq!(sentence(&step(StepKind::Tick, "clock", "tick")), "time passes: one tick");
    }

    #[test]
    fn a_call_that_stays_in_flight_says_so_last() {
        let mut sent = step(StepKind::Fault, "user-1", "close");
        sent.operation = Some(design::model::OperationId(0));
        sent.fault = Some("late".into());
        sent.remembered = vec![("handle".into(), "true".into())];
        let text = sentence(&sent);
        assert_eq!(text, "user-1 sends close, with handle = true; the call stays in flight");
    }

    #[test]
    fn a_call_that_lands_too_late_says_what_refused_it() {
        let mut landed = step(StepKind::Delivery, "buyer-1", "confirm");
        landed.operation = Some(design::model::OperationId(0));
        landed.refused = Some("confirm.live".into());
        let text = sentence(&landed);
        assert_eq!(text, "what buyer-1 sent lands: confirm; it is refused by confirm.live");
    }
}
