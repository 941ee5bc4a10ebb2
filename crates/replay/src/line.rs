//! What was carried out, told line by line.

use design::model::duration_text;
use model_checker::sample::{Answered, Event};
use serde_json::Value as Json;

use crate::carrier::Carrier;
use crate::door::Outcome;

/// One line of what was carried out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// who or what acts: a principal, `the server`, `the clock`
    pub by: String,
    pub what: String,
    /// what came of it
    pub then: String,
    /// so often the clock ticks
    ticks: i64,
}

impl Line {
    pub fn new(by: &str, what: String, then: &str) -> Line {
        Line { by: by.into(), what, then: then.into(), ticks: 0 }
    }
}

/// The clock goes on in one line, however often it ticks.
pub fn add(lines: &mut Vec<Line>, line: Line, tick_ms: i64) {
    match lines.last_mut() {
        Some(last) if last.ticks > 0 && line.ticks > 0 => {
            last.ticks += line.ticks;
            last.what = format!("goes on by {}", duration_text(last.ticks * tick_ms));
        }
        _ => lines.push(line),
    }
}

/// What happened, as a person says it.
pub fn line(carrier: &Carrier, event: &Event) -> Line {
    let design = &carrier.design;
    let name = |id: &design::model::OperationId| design.operations[id.index()].name.as_str();
    let args = |id: &design::model::OperationId, params: &[model_checker::sample::Value]| {
        carrier
            .params(*id, params)
            .map_or_else(|_| String::new(), |map| Json::Object(map).to_string())
    };
    let said = Line::new;
    match event {
        Event::Call(call, trouble, _) => {
            let mut line = asked(carrier, call);
            if trouble.lost_reply {
                line.then.push_str(", and the answer is lost");
            }
            if trouble.duplicate {
                line.then.push_str(", and the same request comes again later");
            }
            if trouble.clock != 0 {
                let off = duration_text(trouble.clock * carrier.evidence.tick_ms);
                line.then.push_str(&format!(", while the clock is off by {off}"));
            }
            line
        }
        Event::Land(call, ..) => {
            let mut line = asked(carrier, call);
            line.what = format!("arrives late: {}", line.what);
            line
        }
        Event::Leave(call) => said(
            &call.principal,
            format!("{} is sent, and is under way", name(&call.operation)),
            "",
        ),
        Event::Drop(call) => said(
            "the network",
            format!("{} of {} is lost", name(&call.operation), call.principal),
            "",
        ),
        Event::Repair { repair, .. } => {
            said("the server", format!("repairs: {}", name(repair)), "done")
        }
        Event::Attempt { effect, params, .. } => said(
            "the server",
            format!("calls outside: {} {}", name(effect), args(effect, params)),
            "no answer yet",
        ),
        Event::Decide { effect, yes, .. } => {
            let decided = if *yes { "does it" } else { "refuses" };
            said("outside", format!("{}: the other side {decided}", name(effect)), "")
        }
        Event::Answer { effect, kind, .. } => {
            let answer = match kind {
                Answered::Ok => "ok",
                Answered::Refused => "refused",
                Answered::Unknown => "nothing: unknown",
            };
            said("outside", format!("{} is answered {answer}", name(effect)), "")
        }
        Event::Deliver { operation, params, refused, again, .. } => {
            let twice = if *again { ", and will come again" } else { "" };
            let then = match refused {
                Some(refusal) => format!("refused by `{}`", refusal.clause),
                None => "done".into(),
            };
            said(
                "the network",
                format!("delivers {} {}{twice}", name(operation), args(operation, params)),
                &then,
            )
        }
        Event::Lose { operation, params } => said(
            "the network",
            format!("loses {} {}", name(operation), args(operation, params)),
            "",
        ),
        Event::Tick => {
            let what = format!("goes on by {}", duration_text(carrier.evidence.tick_ms));
            Line { ticks: 1, ..said("the clock", what, "") }
        }
        Event::Crash { principal } => {
            said(principal, "crashes, and forgets what it knew".into(), "")
        }
        Event::Cut => said("the network", "is cut in two".into(), ""),
        Event::Heal => said("the network", "is whole again".into(), ""),
        Event::Evict => said("a cache", "forgets a copy".into(), ""),
        Event::Put { content, .. } => said("somebody", format!("uploads `{content}`"), ""),
    }
}

/// A request and its answer.
fn asked(carrier: &Carrier, call: &model_checker::sample::Call) -> Line {
    let Some((request, outcome)) = &carrier.asked else {
        let name = carrier.design.operations[call.operation.index()].name.clone();
        return Line::new(&call.principal, name, "");
    };
    let body = Json::Object(request.params.clone());
    let what = match carrier.door.is_function() {
        true => format!("{} {body}", request.operation),
        false => format!("POST {}/{} {body}", request.actor, request.operation),
    };
    let then = match outcome {
        Outcome::Done { result, .. } if !result.is_null() => format!("200 {result}"),
        Outcome::Done { .. } => "200".to_string(),
        Outcome::Refused { clause } => format!("refused by `{clause}`"),
        Outcome::Failed(why) => why.clone(),
    };
    Line::new(&call.principal, what, &then)
}
