//! The history of a failure, carried out: without its protection the goal breaks, with it something stands in
//! the way.

use std::sync::Arc;

use design::model::{
    Design, Fault, Goal, OperationKind, Protection, StmtKind, duration_text, visit,
};
use model_checker::sample::{Answered, Event, Story};
use runtime::{Clock, Delivered, Delivery, Outside, Worked};
use serde_json::{Map, Value as Json};

use crate::carrier::{Carrier, Stop};
use crate::door::Outcome;
use crate::judge::Judge;

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
    fn new(by: &str, what: String, then: &str) -> Line {
        Line { by: by.into(), what, then: then.into(), ticks: 0 }
    }
}

/// What a history came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// the goal is broken in what is stored
    Breaks,
    /// the goal is not kept, and nothing that is still due makes it so
    Stuck,
    /// The state is reached in which the goal is broken for the checker. By what is stored alone that cannot be told:
    /// the goal speaks of records that were never written, or of what no feed has.
    Reached,
    /// this clause refuses the last step
    Refused(String),
    /// the step does not happen: why
    Prevented(String),
    /// everything happened, and the goal is kept
    Kept,
}

/// A history, as far as it went.
#[derive(Clone, Debug)]
pub struct Shown {
    pub lines: Vec<Line>,
    pub end: End,
}

/// What repeats for ever in the checker takes turns that are only sometimes bad; a server that does all that is due
/// comes out of it.
pub const ESCAPES: &str = "it goes wrong for ever only if events keep coming in a bad order";

/// Carries the history out on a design without the protections. Fails if it does not come to what the checker says.
pub fn without(story: &Story, carrier: &mut Carrier) -> Result<Shown, String> {
    let mut judge = Judge::new(story, &carrier.design)?;
    let mut lines = Vec::new();
    let mut before = &story.first;
    let mut broken = false;
    for (number, step) in story.steps.iter().enumerate() {
        let at = |stop: &dyn std::fmt::Display| format!("step {}: {stop}", number + 1);
        carrier.asked = None;
        carrier.carry_out(&step.event, before).map_err(|stop| at(&stop))?;
        add(&mut lines, line(carrier, &step.event), story.tick_ms);
        if let Some(after) = &step.after {
            carrier.compare(after).map_err(|stop| at(&stop))?;
            before = after;
        }
        broken |= judge.look(carrier, Some(&step.event)).map_err(|why| at(&why))?;
    }
    let end = match story.goal {
        Goal::Invariant(_) if broken => End::Breaks,
        Goal::Invariant(_) if is_there(story, carrier) => End::Reached,
        Goal::Invariant(_) => return Err("nothing is broken in what is stored".into()),
        Goal::Recovery(_) | Goal::LeadsTo(_) => {
            let kept = settle(carrier, &mut lines, &mut judge)?;
            match judge.cannot().is_none() && !kept {
                true => End::Stuck,
                false if is_there(story, carrier) => End::Reached,
                false => return Err(ESCAPES.into()),
            }
        }
    };
    Ok(Shown { lines, end })
}

/// Is the runtime in the state that the history ends in?
fn is_there(story: &Story, carrier: &Carrier) -> bool {
    let last = story.steps.last().and_then(|step| step.after.as_ref());
    last.is_some_and(|last| carrier.compare(last).is_ok())
}

/// Tries to carry the same history out with everything in place.
pub fn with(story: &Story, carrier: &mut Carrier) -> Result<Shown, String> {
    let mut judge = Judge::new(story, &carrier.design)?;
    let mut lines = Vec::new();
    let mut before = &story.first;
    let mut end = None;
    let mut broken = false;
    for step in &story.steps {
        carrier.asked = None;
        let carried = carrier.carry_out(&step.event, before);
        // what was refused nobody has heard
        broken |= judge.look(carrier, carried.is_ok().then_some(&step.event))?;
        let mut told = line(carrier, &step.event);
        before = step.after.as_ref().unwrap_or(before);
        match carried {
            Ok(()) => add(&mut lines, told, story.tick_ms),
            Err(Stop::Refused(clause)) => {
                told.then = format!("refused by `{clause}`");
                add(&mut lines, told, story.tick_ms);
                end = Some(End::Refused(clause));
                break;
            }
            Err(stop) => {
                let why = match stop {
                    Stop::NotDue(repair) => format!("`{repair}` is not due"),
                    Stop::NotTaken(why) => why,
                    other => other.to_string(),
                };
                told.then = why.clone();
                add(&mut lines, told, story.tick_ms);
                end = Some(End::Prevented(why));
                break;
            }
        }
    }
    if let Goal::Recovery(_) = story.goal {
        let kept = settle(carrier, &mut lines, &mut judge)?;
        broken |= judge.cannot().is_none() && !kept;
    }
    match broken {
        true => Err("with everything in place the goal is broken, too".into()),
        false => Ok(Shown { lines, end: end.unwrap_or(End::Kept) }),
    }
}

/// Is what came of it what taking these away was to show?
pub fn is_prevented(story: &Story, end: &End) -> bool {
    let by_a_clause = |protection: &Protection| matches!(protection, Protection::Clause { .. });
    match end {
        End::Breaks | End::Stuck | End::Reached => false,
        End::Refused(_) | End::Prevented(_) => true,
        // what prevents it is no refusal
        End::Kept => !story.protections.iter().all(by_a_clause),
    }
}

/// The clock goes on in one line, however often it ticks.
fn add(lines: &mut Vec<Line>, line: Line, tick_ms: i64) {
    match lines.last_mut() {
        Some(last) if last.ticks > 0 && line.ticks > 0 => {
            last.ticks += line.ticks;
            last.what = format!("goes on by {}", duration_text(last.ticks * tick_ms));
        }
        _ => lines.push(line),
    }
}

/// Says yes to everything.
struct Agrees<'d>(&'d Design);

impl Outside for Agrees<'_> {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        let named = |operation: &&design::model::Operation| operation.name == delivery.effect;
        let value = self.0.operations.iter().find(named).and_then(|operation| {
            let OperationKind::Effect(effect) = &operation.kind else { return None };
            let local = effect.on_ok.param?;
            crate::json::any(self.0, &operation.locals[local.index()].ty, effect.on_ok.range)
        });
        Delivered::Ok(value.unwrap_or(Json::Null))
    }
}

/// So often everything that is due is done.
const ROUNDS: usize = 12;

/// Time passes, and all that is due is done: repairs, messages, calls to a world that agrees. Gives whether the goal,
/// a `recovers`, is kept after any of it.
fn settle(carrier: &mut Carrier, lines: &mut Vec<Line>, judge: &mut Judge) -> Result<bool, String> {
    let mut kept = false;
    let longest = longest(&carrier.design).max(60_000);
    let mut passed = 0;
    for round in 0..ROUNDS {
        for _ in 0..64 {
            let now = carrier.clock.now_ms();
            let due = carrier.runtime.due(1_000).map_err(|error| error.to_string())?;
            let mut done = 0;
            for due in due.iter().filter(|due| due.at <= now) {
                let fired = carrier.runtime.fire_early(&due.repair, &due.key);
                if let runtime::Fired::Done = fired.map_err(|error| error.to_string())? {
                    done += 1;
                    send_again(carrier, &due.repair);
                    let what =
                        format!("repairs: {} of {}{}", due.repair, due.subject, keys(&due.key));
                    lines.push(Line::new("the server", what, "done"));
                }
            }
            judge.look(carrier, None)?;
            kept |= judge.is_recovered(carrier);
            let chosen = |name: &str, args: &Map<String, Json>| {
                !carrier.lost.contains(&format!("{name} {}", Json::Object(args.clone())))
            };
            let outside = Agrees(&carrier.design);
            while let Worked::Tried = carrier
                .runtime
                .deliver_chosen(&outside, &chosen)
                .map_err(|error| error.to_string())?
            {
                done += 1;
                if done > 200 {
                    break;
                }
            }
            judge.look(carrier, None)?;
            kept |= judge.is_recovered(carrier);
            if done == 0 {
                break;
            }
        }
        let step = longest << round.min(3);
        carrier.clock.advance(step);
        passed += step;
    }
    let what = format!("{} pass, and everything that is due is done", duration_text(passed));
    lines.push(Line::new("the clock", what, ""));
    Ok(kept)
}

/// A message that was lost is not lost for ever if a repair sends the same once more, or something that makes
/// another step send it.
fn send_again(carrier: &mut Carrier, repair: &str) {
    let design = Arc::clone(&carrier.design);
    let mut reached: Vec<usize> =
        (0..design.operations.len()).filter(|at| design.operations[*at].name == repair).collect();
    let mut at = 0;
    while at < reached.len() {
        visit::each_statement(&design.operations[reached[at]].body, &mut |statement| {
            if let StmtKind::Send { operation, .. } = &statement.kind {
                let name = format!("{} ", design.operations[operation.index()].name);
                carrier.lost.retain(|lost| !lost.starts_with(&name));
                if !reached.contains(&operation.index()) {
                    reached.push(operation.index());
                }
            }
        });
        at += 1;
    }
}

fn keys(key: &[Json]) -> String {
    Json::Array(key.to_vec()).to_string()
}

/// The longest duration of a design.
fn longest(design: &Design) -> i64 {
    let mut longest = 0;
    for operation in &design.operations {
        visit::operation_exprs(operation, &mut |value| {
            visit::each(value, &mut |part| {
                if let design::model::ExprKind::Literal(design::model::Const::Duration(ms)) =
                    &part.kind
                {
                    longest = longest.max(*ms);
                }
            });
        });
        if let OperationKind::Repair { after, every, .. } = &operation.kind {
            longest = longest.max(after.unwrap_or(0)).max(every.unwrap_or(0));
        }
    }
    longest
}

/// What happened, as a person says it.
fn line(carrier: &Carrier, event: &Event) -> Line {
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

/// A runtime for the design without the protections of a story, or why there can be none.
pub fn weakened(story: &Story) -> Result<Carrier, &'static str> {
    let weak = Arc::new(story.design.without(&story.protections)?);
    Ok(of_a_story(&weak, story))
}

/// A runtime for the design as it is written.
pub fn as_written(story: &Story) -> Carrier {
    of_a_story(&Arc::new(story.design.clone()), story)
}

/// A history may have equal messages under way, of which the checker keeps one, and repairs that are due again as
/// soon as they have run, which a server does a second later.
fn of_a_story(design: &Arc<Design>, story: &Story) -> Carrier {
    let mut carrier = Carrier::new(design, story.tick_ms);
    let faults = &story.design.world.faults;
    carrier.messages_double = faults.iter().any(|held| held.fault == Fault::DoubledMessage);
    carrier.patience_ms = 1_000;
    carrier
}
