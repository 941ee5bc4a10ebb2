//! Histories as they are kept beside a design: one line of JSON each, with what is needed to go them again.

use design::model::{Design, OperationId};
use serde_json::{Map, Value, json};

use crate::{FailureStatus, Report, StepKind, Trace, TraceStep, Verdict};

/// A history that was kept.
#[derive(Clone, PartialEq, Debug)]
pub struct Kept {
    /// of the failure, or the goal that breaks
    pub title: String,
    /// `without claim.free breaks no_steal`, or the goal that breaks
    pub claim: String,
    /// without what each step changed
    pub trace: Trace,
}

/// What each kind of step is called.
const KINDS: [(StepKind, &str); 8] = [
    (StepKind::Step, "step"),
    (StepKind::World, "world"),
    (StepKind::Repair, "repair"),
    (StepKind::Effect, "effect"),
    (StepKind::Answer, "answer"),
    (StepKind::Tick, "tick"),
    (StepKind::Fault, "fault"),
    (StepKind::Delivery, "delivery"),
];

/// The history of every goal that breaks, and of every failure that a protection prevents.
pub fn histories(report: &Report) -> Vec<Kept> {
    let mut all = Vec::new();
    for goal in &report.goals {
        if let Verdict::Violated(trace) = &goal.verdict {
            let (title, claim) = (goal.name.clone(), goal.name.clone());
            all.push(Kept { title, claim, trace: trace.clone() });
        }
    }
    for failure in &report.failures {
        if let FailureStatus::LoadBearing(trace) = &failure.status {
            let (title, claim) = (failure.title.clone(), failure.claim.clone());
            all.push(Kept { title, claim, trace: trace.clone() });
        }
    }
    all
}

/// As it is kept.
pub fn write_kept(kept: &Kept) -> String {
    let steps: Vec<Value> = kept.trace.steps.iter().map(step).collect();
    let mut line = json!({ "title": kept.title, "claim": kept.claim, "steps": steps });
    if let Some(start) = kept.trace.cycle_start {
        line["cycle"] = json!(start);
    }
    line.to_string()
}

fn step(step: &TraceStep) -> Value {
    let kind = KINDS.iter().find(|(kind, _)| *kind == step.kind).map(|(_, name)| *name);
    let params: Vec<Value> = step.params.iter().map(|(name, value)| json!([name, value])).collect();
    let mut told = Map::new();
    told.insert("kind".into(), json!(kind));
    told.insert("name".into(), json!(step.name));
    let mut other = |name: &str, value: Value| {
        if !value.is_null() {
            told.insert(name.into(), value);
        }
    };
    other("by", json!(step.principal));
    other("operation", json!(step.operation.map(|id| id.0)));
    other("fault", json!(step.fault));
    other("refuses", json!(step.would_have_refused));
    if !params.is_empty() {
        other("with", json!(params));
    }
    Value::Object(told)
}

/// Reads one line. None: it is not a history of this design.
pub fn read_kept(design: &Design, line: &str) -> Option<Kept> {
    let held: Value = serde_json::from_str(line).ok()?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut steps = Vec::new();
    for told in held["steps"].as_array()? {
        let kind = KINDS.iter().find(|(_, name)| told["kind"] == **name)?.0;
        let operation = match told.get("operation") {
            Some(number) => {
                let number = usize::try_from(number.as_u64()?).ok()?;
                design.operations.get(number)?;
                Some(OperationId::of(number))
            }
            None => None,
        };
        let mut params = Vec::new();
        for pair in told["with"].as_array().into_iter().flatten() {
            params.push((text(&pair[0])?, text(&pair[1])?));
        }
        steps.push(TraceStep {
            kind,
            actor: String::new(),
            principal: text(&told["by"]),
            operation,
            name: text(&told["name"])?,
            params,
            remembered: Vec::new(),
            fault: text(&told["fault"]),
            changes: Vec::new(),
            memory: Vec::new(),
            refused: None,
            would_have_refused: text(&told["refuses"]),
            span: None,
        });
    }
    let cycle_start = held["cycle"].as_u64().and_then(|start| usize::try_from(start).ok());
    let trace = Trace { steps, cycle_start, ..Trace::default() };
    Some(Kept { title: text(&held["title"])?, claim: text(&held["claim"])?, trace })
}
