//! How a call gets in: as a function, or over HTTP.

use std::fmt;
use std::sync::Arc;

use runtime::{CallError, Request, Runtime};
use serde_json::{Map, Value as Json};
use ureq::Agent;

pub enum Door {
    Function,
    /// the address of the design
    Http(Agent, String),
}

#[derive(Clone)]
pub enum Outcome {
    Done {
        memory: Map<String, Json>,
        result: Json,
        /// the records that it changed, as they are told
        truth: Json,
    },
    Refused {
        clause: String,
    },
    /// anything else
    Failed(String),
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Done { .. } => write!(f, "done"),
            Outcome::Refused { clause } => write!(f, "refused by `{clause}`"),
            Outcome::Failed(why) => write!(f, "{why}"),
        }
    }
}

impl Door {
    pub fn is_function(&self) -> bool {
        matches!(self, Door::Function)
    }

    pub fn call(&self, runtime: &Arc<Runtime>, request: &Request) -> Outcome {
        match self {
            Door::Function => match runtime.call(request) {
                Ok(reply) => {
                    Outcome::Done { memory: reply.memory, result: reply.result, truth: reply.truth }
                }
                Err(CallError::Refused(refused)) => Outcome::Refused { clause: refused.clause },
                Err(other) => Outcome::Failed(other.to_string()),
            },
            Door::Http(agent, url) => post(agent, url, request),
        }
    }

    /// The truth of a record; none: there is none.
    pub fn truth(&self, runtime: &Runtime, subject: &str, key: &[Json]) -> Option<Json> {
        let Door::Http(agent, url) = self else {
            let found = store::block_on(runtime.get(subject, key)).expect("it can be read");
            return found.map(|found| found.truth);
        };
        let path: Vec<String> = key.iter().map(path_part).collect();
        let asked = agent.get(format!("{url}/{subject}/{}", path.join("/"))).call();
        let mut answer = asked.expect("the server answers");
        if answer.status() == 404 {
            return None;
        }
        let text = answer.body_mut().read_to_string().expect("a text");
        let body: Json = serde_json::from_str(&text).expect("JSON");
        assert!(body["truth"].is_object(), "{body}");
        Some(body["truth"].clone())
    }
}

fn path_part(part: &Json) -> String {
    let text = match part {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    let escaped = text.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    });
    escaped.collect()
}

fn post(agent: &Agent, url: &str, request: &Request) -> Outcome {
    let mut body = request.params.clone();
    body.extend(request.memory.clone());
    let mut asked = agent
        .post(format!("{url}/{}/{}", request.actor, request.operation))
        .header("steadfast-as", &request.principal);
    if let Some(key) = &request.idempotency_key {
        asked = asked.header("idempotency-key", format!("\"{key}\""));
    }
    let mut answer =
        match asked.content_type("application/json").send(Json::Object(body).to_string()) {
            Ok(answer) => answer,
            Err(error) => return Outcome::Failed(error.to_string()),
        };
    let status = answer.status().as_u16();
    let text = answer.body_mut().read_to_string().unwrap_or_default();
    let Ok(body) = serde_json::from_str::<Json>(&text) else {
        return Outcome::Failed(format!("{status}: {text}"));
    };
    match (status, body.get("guard").and_then(Json::as_str)) {
        (200, _) => Outcome::Done {
            memory: body["memory"].as_object().cloned().unwrap_or_default(),
            result: body["result"].clone(),
            truth: body["truth"].clone(),
        },
        (_, Some(clause)) => Outcome::Refused { clause: clause.to_string() },
        _ => Outcome::Failed(format!("{status}: {body}")),
    }
}
