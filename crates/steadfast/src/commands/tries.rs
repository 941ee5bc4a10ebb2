//! Calls to try on a server that was just started. Each was made once before it is shown, on a store in
//! memory: what is printed works as it is printed.

use std::sync::Arc;

use design::model::{Design, Operation, OperationKind, Type};
use runtime::{CallError, Refused, Runtime, Settings};
use serde_json::{Map, Value, json};
use server::sample;

use crate::client::{segment, word};

/// Calls that come before a race.
const SETUP_MAX: usize = 2;
/// Stores that are opened to find a race: a server does not start much later for it.
const STORES_MAX: usize = 100;
/// So often a race can be tried on one store with records of its own.
const ROUNDS_MAX: u32 = 50;

/// One call, and what comes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Try {
    design: String,
    actor: String,
    operation: String,
    params: Map<String, Value>,
    /// none: whoever calls
    by: Option<&'static str>,
    /// the step asks for an idempotency key
    key: Option<String>,
    /// none: it is done
    refused: Option<Refusal>,
}

/// Why a call is refused.
#[derive(Clone, Debug, PartialEq)]
struct Refusal {
    clause: String,
    prevents: Vec<String>,
}

/// Calls by which two callers race for the same thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Race {
    pub calls: Vec<Try>,
    /// the record that they race for
    pub of: Option<Raced>,
}

/// One record: `Seat`, `["seat1"]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Raced {
    pub subject: String,
    pub key: Vec<Value>,
}

impl Raced {
    /// As a path below the design.
    pub fn path(&self) -> String {
        let parts = self.key.iter().map(|part| segment(&word(part)));
        format!("{}/{}", self.subject, parts.collect::<Vec<_>>().join("/"))
    }
}

impl Try {
    /// `number` tells the records of one round of calls apart from those of the next.
    fn new(name: &str, design: &Design, operation: &Operation, number: u32) -> Try {
        let keyed = matches!(operation.kind, OperationKind::Step { keyed: true });
        let mut params = sample::params(design, operation);
        for param in operation.params.iter().filter(|param| matches!(param.ty, Type::Ref(_))) {
            if let Some(value) = params.get_mut(&param.name) {
                *value = numbered(value, number);
            }
        }
        Try {
            design: name.to_string(),
            actor: design.actors[operation.actor.index()].name.clone(),
            operation: operation.name.clone(),
            params,
            by: None,
            key: keyed.then(|| format!("try-{number}")),
            refused: None,
        }
    }

    /// The same step by somebody else, who makes something else by it.
    fn rival(&self, operation: &Operation, by: &'static str, number: u32) -> Try {
        let mut rival = self.clone();
        for param in operation.params.iter().filter(|param| param.new) {
            if let Some(value) = rival.params.get_mut(&param.name) {
                *value = numbered(value, number + 1);
            }
        }
        let key = self.key.as_ref().map(|_| format!("try-{}", number + 1));
        Try { by: Some(by), key, ..rival }
    }

    fn call(&self, runtime: &Runtime) -> Result<(), CallError> {
        let who = self.by.unwrap_or("local");
        let mut request = steadfast::Request::new(&self.actor, &self.operation, who);
        request.params = self.params.clone();
        request.idempotency_key = self.key.clone();
        runtime.call(&request).map(|_| ())
    }

    /// As it is typed in a shell; `token`: the header that presents it.
    pub fn curl(&self, address: &str, token: &str) -> String {
        let body = quoted(&Value::Object(self.params.clone()).to_string());
        let by = self.by.map_or_else(String::new, |by| format!("-H 'steadfast-as: {by}' "));
        let key = self.key.as_ref();
        let key = key.map_or_else(String::new, |key| format!("-H 'Idempotency-Key: \"{key}\"' "));
        let Try { design, actor, operation, .. } = self;
        format!("curl {token}{by}{key}--json {body} {address}/v1/{design}/{actor}/{operation}")
    }

    pub fn design(&self) -> &str {
        &self.design
    }

    pub fn actor(&self) -> &str {
        &self.actor
    }

    /// `refused by free, which prevents oversell`; none: it is done.
    pub fn refusal(&self) -> Option<String> {
        let Refusal { clause, prevents } = self.refused.as_ref()?;
        Some(format!("refused by `{clause}`, which prevents {}", prevents.join(", ")))
    }

    pub fn to_json(&self) -> Value {
        let refused = self.refused.as_ref();
        json!({
            "path": format!("/v1/{}/{}/{}", self.design, self.actor, self.operation),
            "as": self.by,
            "idempotency_key": self.key,
            "body": self.params,
            "outcome": if refused.is_some() { "refused" } else { "done" },
            "guard": refused.map(|refused| &refused.clause),
            "prevents": refused.map(|refused| &refused.prevents),
        })
    }
}

/// Between single quotes, for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A sample of a key, with this number at its end.
fn numbered(value: &Value, number: u32) -> Value {
    match value {
        Value::String(text) => {
            json!(format!("{}{number}", text.trim_end_matches(|c: char| c.is_ascii_digit())))
        }
        Value::Number(_) => json!(number),
        Value::Array(parts) => {
            let mut parts = parts.clone();
            if let Some(last) = parts.last_mut() {
                *last = numbered(last, number);
            }
            Value::Array(parts)
        }
        other => other.clone(),
    }
}

fn on_empty_store(design: &Design) -> Option<Arc<Runtime>> {
    let store = steadfast::open_store("memory:").ok()?;
    let settings = Settings { secrets: Some(steadfast::passing_secrets()), ..Settings::default() };
    steadfast::start(design.clone(), store, settings).ok()
}

/// The steps that somebody may call.
fn steps(design: &Design) -> Vec<&Operation> {
    let by_messages = design::model::visit::message_targets(design);
    let with_targets = design.operations.iter().zip(by_messages);
    let steps = with_targets.filter(|(operation, by_message)| {
        let is_step = matches!(operation.kind, OperationKind::Step { .. });
        is_step && !by_message && !design.actors[operation.actor.index()].is_world
    });
    steps.map(|(operation, _)| operation).collect()
}

/// A step that can be taken before any other was.
pub fn first(name: &str, design: &Design) -> Option<Try> {
    let candidates = sample::first_step(design).into_iter().chain(steps(design));
    let mut tries = candidates.map(|operation| Try::new(name, design, operation, 1));
    tries.find(|call| on_empty_store(design).is_some_and(|runtime| call.call(&runtime).is_ok()))
}

/// The shortest calls that end with two callers who want the same, of whom the second is refused by
/// a guard that prevents one of the design's failures. They are about records with this number.
pub fn race(name: &str, design: &Design, number: u32) -> Option<Race> {
    if design.failures.is_empty() {
        return None;
    }
    let steps = steps(design);
    let mut search = Search { name, design, number, left: STORES_MAX };
    let mut setups: Vec<Vec<Try>> = vec![Vec::new()];
    for _ in 0..=SETUP_MAX {
        for setup in &setups {
            for operation in &steps {
                if let Some(race) = search.attempt(operation, setup) {
                    return Some(race);
                }
            }
        }
        setups = search.longer(&steps, &setups);
    }
    None
}

/// Looks for a race by trying.
struct Search<'d> {
    name: &'d str,
    design: &'d Design,
    number: u32,
    /// stores that may still be opened
    left: usize,
}

impl Search<'_> {
    /// A store on which these calls were made; none: one of them was not done.
    fn after(&mut self, setup: &[Try]) -> Option<Arc<Runtime>> {
        self.left = self.left.checked_sub(1)?;
        let runtime = on_empty_store(self.design)?;
        let done = setup.iter().all(|call| call.call(&runtime).is_ok());
        done.then_some(runtime)
    }

    /// Each setup with one more step that can be taken after it.
    fn longer(&mut self, steps: &[&Operation], setups: &[Vec<Try>]) -> Vec<Vec<Try>> {
        let mut longer = Vec::new();
        for setup in setups {
            for operation in steps {
                let mut setup = setup.clone();
                setup.push(Try::new(self.name, self.design, operation, self.number));
                if self.after(&setup).is_some() {
                    longer.push(setup);
                }
            }
        }
        longer
    }

    fn attempt(&mut self, operation: &Operation, setup: &[Try]) -> Option<Race> {
        let runtime = self.after(setup)?;
        let first = Try::new(self.name, self.design, operation, self.number);
        let first = Try { by: Some("ann"), ..first };
        first.call(&runtime).ok()?;
        let mut second = first.rival(operation, "bob", self.number);
        let Err(CallError::Refused(refused)) = second.call(&runtime) else { return None };
        let Refused { clause, prevents, .. } = *refused;
        if prevents.is_empty() {
            return None;
        }
        second.refused = Some(Refusal { clause, prevents });
        let of = raced_for(self.design, operation, &first.params);
        let calls = setup.iter().cloned().chain([first, second]).collect();
        Some(Race { calls, of })
    }
}

/// The record that both name.
fn raced_for(design: &Design, operation: &Operation, params: &Map<String, Value>) -> Option<Raced> {
    operation.params.iter().filter(|param| !param.new).find_map(|param| {
        let Type::Ref(subject) = param.ty else { return None };
        let key = match params.get(&param.name)? {
            Value::Array(parts) => parts.clone(),
            one => vec![one.clone()],
        };
        Some(Raced { subject: design.subjects[subject.index()].name.clone(), key })
    })
}

/// The same on a server that runs: about records that are not there yet.
pub fn race_on(name: &str, runtime: &Runtime) -> Option<Race> {
    let design = runtime.design();
    let mut found = race(name, design, 1)?;
    for number in 2..=ROUNDS_MAX {
        let Some(Raced { subject, key }) = &found.of else { break };
        let there = store::block_on(runtime.get_as(subject, key, None));
        if !matches!(there, Ok(Some(_))) {
            break;
        }
        found = race(name, design, number)?;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    fn design(name: &str) -> Design {
        steadfast::load(name, catalog::find(name).unwrap().text).unwrap()
    }

    #[test]
    fn two_buyers_race_for_one_seat() {
        let race = race("tickets", &design("tickets"), 1).unwrap();
        let told: Vec<String> = race
            .calls
            .iter()
            .map(|call| {
                let refused = call.refusal().unwrap_or_else(|| "done".into());
                format!("{} {}: {refused}", call.by.unwrap_or("-"), call.curl("http://h", ""))
            })
            .collect();
        assert_eq!(
            told,
            [
                "- curl --json '{\"seat\":\"seat1\",\"section\":\"section1\"}' \
                 http://h/v1/tickets/organizer/add_seat: done",
                "ann curl -H 'steadfast-as: ann' --json \
                 '{\"booking\":\"booking1\",\"seat\":\"seat1\"}' \
                 http://h/v1/tickets/buyer/hold: done",
                "bob curl -H 'steadfast-as: bob' --json \
                 '{\"booking\":\"booking2\",\"seat\":\"seat1\"}' \
                 http://h/v1/tickets/buyer/hold: refused by `free`, which prevents \
                 seat: oversell, seat: duplicate hold",
            ]
        );
        assert_eq!(race.of.unwrap().path(), "Seat/seat1");
    }

    #[test]
    fn on_a_store_that_has_the_records_it_is_about_others() {
        let runtime = on_empty_store(&design("tickets")).unwrap();
        for round in 1..=3 {
            let race = race_on("tickets", &runtime).unwrap();
            assert_eq!(race.of.as_ref().unwrap().path(), format!("Seat/seat{round}"));
            let (last, before) = race.calls.split_last().unwrap();
            before.iter().for_each(|call| call.call(&runtime).unwrap());
            assert!(matches!(last.call(&runtime), Err(CallError::Refused(_))));
        }
    }

    #[test]
    fn most_designs_of_the_catalog_have_something_to_try() {
        let (mut races, mut nothing) = (0, Vec::new());
        for entry in catalog::entries() {
            let design = steadfast::load(entry.name(), entry.text).unwrap();
            match (race("x", &design, 1), first("x", &design)) {
                (Some(_), _) => races += 1,
                (None, Some(_)) => {}
                (None, None) => nothing.push(entry.name()),
            }
        }
        assert!(races >= 5, "{races} designs have a race");
        // whose first step asks for a record that samples do not make
        assert!(nothing.len() <= 4, "{nothing:?}");
    }

    #[test]
    fn a_shell_reads_what_is_meant() {
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(numbered(&json!("a1"), 12), json!("a12"));
        assert_eq!(numbered(&json!(["L1", 1]), 2), json!(["L1", 2]));
    }
}
