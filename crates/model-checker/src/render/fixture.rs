//! A report made up for the tests of its renderings.

use design::model::{FailureProof, Goal, Span};

use crate::{
    ArmResult, ChangeLine, FailureStatus, FailureVerdict, GoalVerdict, MemoryLine, Report,
    StateLine, StepKind, Trace, TraceStep, Verdict, WorldSummary,
};

pub(super) fn step(kind: StepKind, who: &str, name: &str) -> TraceStep {
    TraceStep {
        kind,
        actor: who.split('-').next().unwrap_or_default().into(),
        principal: who.contains('-').then(|| who.into()),
        operation: None,
        name: name.into(),
        params: Vec::new(),
        remembered: Vec::new(),
        fault: None,
        changes: Vec::new(),
        memory: Vec::new(),
        refused: None,
        would_have_refused: None,
        span: None,
    }
}

fn change(record: &str, attribute: &str, before: &str, after: &str) -> ChangeLine {
    ChangeLine {
        record: record.into(),
        attribute: attribute.into(),
        before: before.into(),
        after: after.into(),
    }
}

fn params(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
}

fn hold(buyer: &str, booking: &str, before: (&str, &str)) -> TraceStep {
    let mut held = step(StepKind::Step, buyer, "hold");
    held.params = params(&[("seat", "seat-1"), ("booking", booking), ("ttl", "2 ticks")]);
    held.changes = vec![
        change("seat-1", "SeatInventoryState.status", before.0, "HELD"),
        change("seat-1", "SeatInventoryState.booking", before.1, booking),
        change("seat-1", "SeatHoldState.expires_at", "null", "now+2"),
        change(booking, "", "absent", "present"),
        change(booking, "BookingState.status", "absent", "IN_PROGRESS"),
        change(booking, "BookingState.buyer", "absent", buyer),
    ];
    held.changes.retain(|change| change.before != change.after);
    held
}

fn confirm(buyer: &str, booking: &str, seat: &str) -> TraceStep {
    let mut step = step(StepKind::Step, buyer, "confirm");
    step.params = params(&[("booking", booking)]);
    step.changes = vec![
        change(booking, "BookingState.status", "IN_PROGRESS", "CONFIRMED"),
        change("seat-1", "SeatInventoryState.status", seat, "SOLD"),
    ];
    step.changes.retain(|change| change.before != change.after);
    step
}

/// Two buyers hold one seat, and both confirm.
pub(super) fn oversell() -> Trace {
    let mut steps = vec![
        hold("buyer-1", "booking-1", ("AVAILABLE", "null")),
        hold("buyer-2", "booking-2", ("HELD", "booking-1")),
        confirm("buyer-1", "booking-1", "HELD"),
        confirm("buyer-2", "booking-2", "SOLD"),
    ];
    steps[0].fault = Some("lost_reply".into());
    steps[1].would_have_refused = Some("hold.free".into());
    let line = |record: &str, attribute: &str, value: &str| StateLine {
        record: record.into(),
        attribute: attribute.into(),
        value: value.into(),
    };
    Trace {
        initial: vec![
            line("seat-1", "SeatInventoryState.status", "AVAILABLE"),
            line("seat-1", "SeatInventoryState.booking", "null"),
            line("booking-1", "", "absent"),
            line("booking-2", "", "absent"),
        ],
        steps,
        cycle_start: None,
        ending: "two bookings of seat-1 are confirmed".into(),
    }
}

/// A holder crashes, and time goes by for ever.
pub(super) fn orphan() -> Trace {
    let mut claim = step(StepKind::Step, "claimant-1", "claim");
    claim.params = params(&[("resource", "resource-1")]);
    claim.changes = vec![change("resource-1", "ClaimState.owner_id", "null", "claimant-1")];
    claim.memory = vec![MemoryLine {
        principal: "claimant-1".into(),
        field: "my_epoch".into(),
        record: Some("resource-1".into()),
        value: "1".into(),
    }];
    Trace {
        initial: Vec::new(),
        steps: vec![
            claim,
            step(StepKind::Fault, "claimant-1", "crash"),
            step(StepKind::Tick, "clock", "tick"),
        ],
        cycle_start: Some(2),
        ending: "no_orphan is never reached".into(),
    }
}

fn failure(title: &str, claim: &str, status: FailureStatus) -> FailureVerdict {
    FailureVerdict {
        title: title.into(),
        proof: FailureProof::Compiler { code: String::new(), span: Span::default() },
        claim: claim.into(),
        in_depth: false,
        status,
        restates: false,
        covered: false,
        arm: None,
    }
}

/// One of everything.
pub(super) fn report() -> Report {
    let words = |list: &[&str]| list.iter().map(|word| (*word).to_string()).collect();
    Report {
        design: "Tickets".into(),
        world: WorldSummary {
            bounds: words(&["seat: 1", "booking: 2", "buyer: 2", "ttl: 2 ticks"]),
            faults: words(&["crash", "lost_reply (at most 1)"]),
            fairness: words(&["each repair runs eventually", "faults are spent"]),
            fairness_of_leads: Vec::new(),
            ..WorldSummary::default()
        },
        base: ArmResult {
            name: "as written".into(),
            states: 1234,
            transitions: 5678,
            depth: 9,
            seconds: 0.5,
            bytes: 100_000,
            state_bits: 48,
            closed: true,
        },
        goals: vec![
            GoalVerdict {
                goal: Goal::Invariant(0),
                name: "one_winner".into(),
                verdict: Verdict::Violated(oversell()),
                slice: None,
                states: 12_480,
            },
            GoalVerdict {
                goal: Goal::Recovery(0),
                name: "released".into(),
                verdict: Verdict::Proved,
                slice: Some("Seat, buyer".into()),
                states: 1_204,
            },
        ],
        failures: vec![
            failure(
                "oversell",
                "without hold.free breaks one_winner",
                FailureStatus::LoadBearing(oversell()),
            ),
            failure(
                "confirm twice",
                "without confirm.open breaks one_winner",
                FailureStatus::Redundant { covered_by: vec!["confirm.open".into()] },
            ),
            failure("lag", "measured by lag above 3", FailureStatus::Measured),
        ],
        witnesses: Vec::new(),
        unwitnessed: words(&["confirm.yours refuses"]),
        free: Vec::new(),
        searches: vec![ArmResult { states: 1234, ..ArmResult::default() }],
        worlds: Vec::new(),
        uses: Vec::new(),
        seconds: 0.7,
    }
}
