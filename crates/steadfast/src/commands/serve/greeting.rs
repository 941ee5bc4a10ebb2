//! What is printed when a server has started.

use design::model::Design;
use gateway::Standing;
use model_checker::Word;
use runtime::Settings;
use serde_json::{Map, Value};
use server::sample;

use crate::output::{ERROR, GOOD, ODD, STRONG};

/// A step that works on an empty store.
pub struct FirstCall {
    design: String,
    actor: String,
    operation: String,
    params: Map<String, Value>,
}

/// A step that can be called before any other was.
pub fn first_call(name: &str, design: &Design) -> Option<FirstCall> {
    let steps = design
        .operations
        .iter()
        .filter(|operation| matches!(operation.kind, design::model::OperationKind::Step { .. }));
    let mut calls =
        sample::first_step(design).into_iter().chain(steps).map(|operation| FirstCall {
            design: name.to_string(),
            actor: design.actors[operation.actor.index()].name.clone(),
            operation: operation.name.clone(),
            params: sample::params(design, operation),
        });
    calls.find(|call| works(design, call))
}

/// Tried on a store of its own.
fn works(design: &Design, call: &FirstCall) -> bool {
    let Ok(store) = steadfast::open_store("memory:") else { return false };
    let Ok(runtime) = steadfast::start(design.clone(), store, Settings::default()) else {
        return false;
    };
    let mut request = steadfast::Request::new(&call.actor, &call.operation, "me");
    request.params = call.params.clone();
    request.idempotency_key = Some("first".into());
    runtime.call(&request).is_ok()
}

/// Where it is, what is known of each design, and what to type first.
pub fn greeting(
    address: &str,
    standings: &[(String, Standing)],
    first: Option<&FirstCall>,
    tokens: bool,
    checking: bool,
) -> String {
    let mut text = format!("{STRONG}serving{STRONG:#} {address}\n");
    text.push_str(&format!("console {address}/console\n"));
    for (name, standing) in standings {
        let style = match standing {
            Standing::Known(Word::Proved | Word::Holds { .. }) => GOOD,
            Standing::Known(Word::Violated) => ERROR,
            _ => ODD,
        };
        let now = match standing {
            Standing::Known(_) => "",
            _ if checking => ", and is being checked in the background",
            _ => "",
        };
        text.push_str(&format!("{name}: {style}{standing}{style:#}{now}\n"));
    }
    if let Some(call) = first {
        let FirstCall { design, actor, operation, params } = call;
        let body = Value::Object(params.clone()).to_string().replace('\'', "'\\''");
        let (get, header) = match tokens {
            true => (
                format!("  TOKEN=$(steadfast token new me --role {actor})\n"),
                "-H \"Authorization: Bearer $TOKEN\" ",
            ),
            false => (String::new(), ""),
        };
        text.push_str(&format!(
            "\ntry\n{get}  curl {header}--json '{body}' {address}/v1/{design}/{actor}/{operation}\n"
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn the_first_command_works_on_an_empty_store() {
        for entry in catalog::entries() {
            let design = steadfast::load(entry.name(), entry.text).unwrap();
            let Some(first) = first_call("x", &design) else { continue };
            let store = steadfast::open_store("memory:").unwrap();
            let runtime = steadfast::start(design, store, Settings::default()).unwrap();
            let mut request = steadfast::Request::new(&first.actor, &first.operation, "me");
            request.params = first.params;
            request.idempotency_key = Some("k".into());
            runtime.call(&request).unwrap_or_else(|error| panic!("{}: {error}", entry.path));
        }
    }
}
