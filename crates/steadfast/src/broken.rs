//! The histories of a design's failures, carried out over HTTP: without the protection the damage is seen, with it
//! something stands in the way.

use std::net::SocketAddr;
use std::sync::Arc;

use design::model::{Design, ExprKind, visit};
use gateway::Service;
use model_checker::render::{Kept, histories, read_kept, write_kept};
use model_checker::sample::{Claim, Event, Story, claims, story};
use model_checker::{Report, Trace};
use replay::{
    Carrier, Door, ESCAPES, End, Shown, as_written, is_prevented, weakened, with, without,
};
use server::Config;
use ureq::Agent;

/// A failure that was carried out both ways.
pub struct Carried {
    pub without: Shown,
    /// none: nothing was taken away, the goal breaks as written
    pub with: Option<Shown>,
    /// what went wrong on the way, besides what was taken away: `a lost answer`
    pub faults: Vec<&'static str>,
}

/// Why a failure is not carried out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Not {
    /// it cannot be brought about on a server
    Possible(String),
    /// the server came to something else than the checker: a defect of one of them
    TheSame(String),
}

/// One sentence about what a history came to.
pub fn ending(shown: &Shown) -> String {
    match &shown.end {
        End::Breaks => "the goal breaks".into(),
        End::Stuck => "the goal is never kept again".into(),
        End::Reached => "the state is reached in which the goal is broken".into(),
        End::Refused(clause) => format!("refused by `{clause}`"),
        End::Prevented(why) => why.clone(),
        End::Kept => "the goal is kept".into(),
    }
}

/// What came of carrying out a history, as it is kept beside it.
pub fn result(carried: &Result<Carried, Not>) -> String {
    match carried {
        Ok(carried) => {
            let with = carried.with.as_ref();
            let with = with.map_or(String::new(), |with| format!("; with it {}", ending(with)));
            let faults = match carried.faults.is_empty() {
                true => String::new(),
                false => format!(" ({})", carried.faults.join(", ")),
            };
            format!("shown: {}{faults}{with}", ending(&carried.without))
        }
        Err(Not::Possible(why)) => format!("not carried out: {why}"),
        Err(Not::TheSame(what)) => format!("differs: {what}"),
    }
}

/// The histories of a design's failures as they are kept beside it: after each, what came of carrying it out.
pub fn kept(name: &str, text: &str, design: &Design, report: &Report) -> String {
    let claims = claims(design);
    let mut out = String::new();
    for held in histories(report) {
        let Some(claim) = claims.iter().find(|claim| is_of(&held, claim)) else { continue };
        let carried = carry_out(name, text, claim, &held.trace);
        out.push_str(&format!("{}\n{}\n", write_kept(&held), result(&carried)));
    }
    out
}

/// What `kept` wrote: each history, and what came of carrying it out. The first line of the file says of which text
/// they are. Fails with a line that is no history of the design.
pub fn read(design: &Design, text: &str) -> Result<Vec<(Kept, String)>, String> {
    let mut lines = text.lines().skip(1);
    let mut all = Vec::new();
    while let Some(history) = lines.next() {
        let held = read_kept(design, history).ok_or(history)?;
        let said = lines.next().ok_or(history)?;
        all.push((held, said.to_owned()));
    }
    Ok(all)
}

/// Is this the history of that claim?
pub fn is_of(kept: &Kept, claim: &Claim) -> bool {
    kept.title == claim.title && kept.claim == claim.claim
}

/// Carries out the history of a claim, on servers of its own on this machine. `text` is shown by them.
pub fn carry_out(name: &str, text: &str, claim: &Claim, trace: &Trace) -> Result<Carried, Not> {
    claim.design.without(&claim.protections).map_err(|why| Not::Possible(why.into()))?;
    let story = story(claim, trace).map_err(Not::Possible)?;
    let faults = faults(&story);
    let mut weak = weakened(&story).map_err(|why| Not::Possible(why.into()))?;
    let shown = served(name, text, &mut weak, |carrier| without(&story, carrier));
    let shown = shown.map_err(|why| match why == ESCAPES {
        true => Not::Possible(why),
        false if has_a_calendar(&story.design) => Not::Possible(CALENDAR.into()),
        false => Not::TheSame(why),
    })?;
    if story.protections.is_empty() {
        return Ok(Carried { without: shown, with: None, faults });
    }
    let mut whole = as_written(&story);
    let kept = served(name, text, &mut whole, |carrier| with(&story, carrier));
    let kept = kept.map_err(Not::TheSame)?;
    if !is_prevented(&story, &kept.end) {
        let what = format!("with everything in place nothing stands in the way: {:?}", kept.end);
        return Err(Not::TheSame(what));
    }
    Ok(Carried { without: shown, with: Some(kept), faults })
}

const CALENDAR: &str = "the checker knows of a calendar only that it goes on or ends";

/// Does a step ask a schedule when it is due?
fn has_a_calendar(design: &Design) -> bool {
    let mut found = false;
    for operation in &design.operations {
        visit::operation_exprs(operation, &mut |value| {
            visit::each(value, &mut |part| found |= matches!(part.kind, ExprKind::NextOf { .. }));
        });
    }
    found
}

/// Lets calls go over HTTP, to a server on a free port of this machine.
fn served(
    name: &str,
    text: &str,
    carrier: &mut Carrier,
    carried: impl FnOnce(&mut Carrier) -> Result<Shown, String>,
) -> Result<Shown, String> {
    let service = Service::new(name, text, Arc::clone(&carrier.runtime));
    let config = Config {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        collecting: None,
        ..Config::default()
    };
    let running = server::start(config, vec![service]).map_err(|error| error.to_string())?;
    let agent: Agent =
        Agent::config_builder().http_status_as_error(false).proxy(None).build().into();
    carrier.door = Door::Http(agent, format!("{}/v1/{name}", running.url()));
    let shown = carried(carrier);
    running.stop();
    shown
}

/// What goes wrong in a history, besides what was taken away.
fn faults(story: &Story) -> Vec<&'static str> {
    let mut all = Vec::new();
    for step in &story.steps {
        match &step.event {
            Event::Call(_, trouble, _) => {
                let troubles = [
                    (trouble.lost_reply, "an answer is lost"),
                    (trouble.duplicate, "a request comes twice"),
                    (trouble.pause || trouble.stale, "a caller is slow"),
                    (trouble.clock != 0, "the clock is off"),
                ];
                all.extend(troubles.iter().filter(|(is, _)| *is).map(|(_, name)| *name));
            }
            Event::Leave(_) | Event::Land(..) | Event::Drop(_) => all.push("a request is late"),
            Event::Lose { .. } => all.push("a message is lost"),
            Event::Deliver { again: true, .. } => all.push("a message comes twice"),
            Event::Crash { .. } => all.push("a caller crashes"),
            Event::Cut | Event::Heal => all.push("the network is cut"),
            Event::Evict => all.push("a cache forgets"),
            _ => {}
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}
