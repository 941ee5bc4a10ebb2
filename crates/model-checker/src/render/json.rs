//! A report for a script. Names here are a promise: they are added to, not changed.

use serde_json::{Value, json};

use super::sentence::sentence;
use super::words::{said, status, verdict, world_of};
use crate::{
    ArmResult, FailureStatus, FailureVerdict, GoalVerdict, Report, StepKind, Trace, TraceStep,
    Verdict, WitnessKind, WorldSummary,
};

pub fn json(report: &Report) -> Value {
    json!({
        "design": report.design,
        "verdict": verdict(report),
        "bounds": report.bounds(),
        "world": world(&report.world),
        "explored": arm(&report.base),
        "worlds": report
            .worlds
            .iter()
            .map(|held| {
                json!({
                    "name": held.name,
                    "goals": held.goals,
                    "world": world(&held.world),
                    "explored": arm(&held.base),
                })
            })
            .collect::<Vec<_>>(),
        "uses": report
            .uses
            .iter()
            .map(|used| {
                json!({
                    "archetype": used.archetype,
                    "noun": used.noun,
                    "scope": used.scope,
                    "hidden": used.hidden,
                    "added": used.added,
                    "left_out": used.left_out,
                })
            })
            .collect::<Vec<_>>(),
        "goals": report.goals.iter().map(|held| goal(report, held)).collect::<Vec<_>>(),
        "failures": report.failures.iter().map(|held| failure(report, held)).collect::<Vec<_>>(),
        "witnesses": report
            .witnesses
            .iter()
            .map(|held| {
                json!({ "kind": witness(held.kind), "what": held.what, "depth": held.depth })
            })
            .collect::<Vec<_>>(),
        "unwitnessed": report.unwitnessed,
        "free_clauses": report
            .free
            .iter()
            .map(|free| json!({ "clause": free.clause, "within": free.within, "known": free.known }))
            .collect::<Vec<_>>(),
        "searches": report.searches.iter().map(arm).collect::<Vec<_>>(),
        "seconds": report.seconds,
    })
}

fn world(world: &WorldSummary) -> Value {
    json!({
        "bounds": world.bounds,
        "faults": world.faults,
        "settings": world.settings,
        "time": world.time,
        "symmetry": world.symmetry,
        "ranked": world.normalised,
        "fairness": world.fairness,
        "fairness_of_leads_to": world.fairness_of_leads,
        "cut": world.cut,
        "notes": world.notes,
    })
}

fn arm(arm: &ArmResult) -> Value {
    json!({
        "arm": arm.name,
        "states": arm.states,
        "transitions": arm.transitions,
        "depth": arm.depth,
        "seconds": arm.seconds,
        "bytes": arm.bytes,
        "state_bits": arm.state_bits,
        "closed": arm.closed,
    })
}

fn goal(report: &Report, goal: &GoalVerdict) -> Value {
    let kind = match goal.goal {
        design::model::Goal::Invariant(_) => "invariant",
        design::model::Goal::Recovery(_) => "recovers",
        design::model::Goal::LeadsTo(_) => "leads_to",
    };
    let (why, bounds, held) = match &goal.verdict {
        Verdict::Proved => (None, None, None),
        Verdict::Holds(bounds) => (None, Some(bounds), None),
        Verdict::Violated(held) => (None, None, Some(trace(held))),
        Verdict::Unknown(why) => (Some(why), None, None),
    };
    let (verdict, _) = said(&goal.verdict);
    json!({
        "kind": kind,
        "name": goal.name,
        "world": report.world_of(goal.goal),
        "from": report.origin(&goal.name).map(|used| &used.archetype),
        "slice": goal.slice,
        "states": goal.states,
        "verdict": verdict,
        "bounds": bounds,
        "why": why,
        "trace": held,
    })
}

fn failure(report: &Report, failure: &FailureVerdict) -> Value {
    let (word, _) = status(failure);
    let (covered_by, why, held) = match &failure.status {
        FailureStatus::LoadBearing(held) => (None, None, Some(trace(held))),
        FailureStatus::Redundant { covered_by } => (Some(covered_by), None, None),
        FailureStatus::Vacuous { why } | FailureStatus::Unknown { why } => (None, Some(why), None),
        FailureStatus::Compiler { code } => (None, Some(code), None),
        FailureStatus::Measured => (None, None, None),
    };
    json!({
        "title": failure.title,
        "claim": failure.claim,
        "world": world_of(report, failure),
        "in_depth": failure.in_depth,
        "status": word,
        "expected": failure.expected(),
        "restates_its_guard": failure.restates,
        "covered_by": covered_by,
        "why": why,
        "trace": held,
        "explored": failure.arm.as_ref().map(arm),
    })
}

fn trace(trace: &Trace) -> Value {
    json!({
        "initial": trace
            .initial
            .iter()
            .map(|line| {
                json!({ "record": line.record, "attribute": line.attribute, "value": line.value })
            })
            .collect::<Vec<_>>(),
        "steps": trace.steps.iter().map(step).collect::<Vec<_>>(),
        "cycle_start": trace.cycle_start,
        "ending": trace.ending,
    })
}

fn step(step: &TraceStep) -> Value {
    let pairs = |list: &[(String, String)]| -> Vec<Value> {
        list.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
    };
    json!({
        "kind": kind(step.kind),
        "actor": step.actor,
        "principal": step.principal,
        "name": step.name,
        "params": pairs(&step.params),
        "remembered": pairs(&step.remembered),
        "fault": step.fault,
        "sentence": sentence(step),
        "changes": step
            .changes
            .iter()
            .map(|change| {
                json!({
                    "record": change.record,
                    "attribute": change.attribute,
                    "before": change.before,
                    "after": change.after,
                })
            })
            .collect::<Vec<_>>(),
        "believed": step
            .memory
            .iter()
            .map(|line| {
                json!({
                    "principal": line.principal,
                    "field": line.field,
                    "record": line.record,
                    "value": line.value,
                })
            })
            .collect::<Vec<_>>(),
        "refused": step.refused,
        "would_have_refused": step.would_have_refused,
    })
}

fn kind(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Step => "step",
        StepKind::World => "world",
        StepKind::Repair => "repair",
        StepKind::Effect => "effect",
        StepKind::Answer => "answer",
        StepKind::Tick => "tick",
        StepKind::Fault => "fault",
        StepKind::Delivery => "delivery",
    }
}

fn witness(kind: WitnessKind) -> &'static str {
    match kind {
        WitnessKind::Accepted => "accepted",
        WitnessKind::Refused => "refused",
        WitnessKind::Answer => "answer",
        WitnessKind::Repair => "repair",
        WitnessKind::Fault => "fault",
        WitnessKind::Path => "path",
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture;
    use super::*;

    #[test]
    fn everything_is_there_under_its_name() {
        let value = json(&fixture::report());
        assert_eq!(value["verdict"], "violated");
        assert_eq!(value["explored"]["states"], 1234);
        assert_eq!(value["goals"][0]["trace"]["steps"][1]["would_have_refused"], "hold.free");
        assert_eq!(value["goals"][1]["kind"], "recovers");
        assert_eq!(value["failures"][0]["status"], "load-bearing");
        assert_eq!(value["failures"][1]["covered_by"][0], "confirm.open");
        assert_eq!(value["unwitnessed"][0], "confirm.yours refuses");
    }
}
