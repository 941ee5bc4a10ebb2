//! `steadfast call DESIGN ACTOR OPERATION [name=value …]`

use std::fmt::Write as _;

use clap::Args;
use design::model::{Design, Operation, SubjectId, Type};
use serde_json::{Map, Value};

use super::Answer;
use crate::catalog::Embedded;
use crate::client::{
    Client, Remembered, ServerOptions, design_name, named_values, record, refusal, segment, word,
};
use crate::exit::Exit;
use crate::output::{GOOD, Output};

/// Take one step against a server
///
/// What the step hands out to remember (such as `my_epoch`) is kept in a file under
/// `$XDG_STATE_HOME/steadfast` and sent with later calls of the same principal about the same record.
/// Exits 1 when the step is refused, 3 when it is not known whether it was taken.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast call tickets organizer add_seat seat=A1 section=stalls
  steadfast call tickets buyer hold seat=A1 booking=b1 --as ann
  steadfast call i02 claimant claim resource=r1 ttl=1m --as ann
  steadfast call tickets buyer hold seat=A1 booking=b1 --key 7f1c --json

`name=value` is a text, which the server reads by the type it expects;
A key of several parts may be given as it is printed: `locker=L1/2`.
`name:=json` is JSON, for a list, an object or null.")]
pub struct Call {
    /// The design, as the server calls it
    #[arg(value_name = "DESIGN")]
    design: String,
    /// Who acts
    #[arg(value_name = "ACTOR")]
    actor: String,
    #[arg(value_name = "OPERATION")]
    operation: String,
    /// Parameters
    #[arg(value_name = "NAME=VALUE")]
    params: Vec<String>,
    /// The idempotency key: a second call under the same key is answered like the first
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// What the caller remembers, instead of what was kept
    #[arg(long, value_name = "NAME=VALUE")]
    memory: Vec<String>,
    /// Neither send nor keep anything remembered
    #[arg(long)]
    forgetful: bool,
    #[command(flatten)]
    server: ServerOptions,
}

impl Call {
    pub fn run(self, output: &mut Output) -> Answer {
        let client = self.server.client()?;
        let params = named_values(&self.params)?;
        let by_hand = named_values(&self.memory)?;
        let name = design_name(&self.design);
        let remembered =
            if self.forgetful { None } else { Remembered::new(&client.identity(), &name) };
        let mut known: Option<Design> = None;
        let mut body = params.clone();
        if let Some(kept) = remembered.as_ref().filter(|kept| !kept.is_empty()) {
            known = fetch(&client, &name);
            if let Some((design, operation)) = self.find(known.as_ref()) {
                body.extend(kept.for_step(design, operation, &params));
            }
        }
        body.extend(by_hand);
        let path =
            format!("/v1/{}/{}/{}", segment(&name), segment(&self.actor), segment(&self.operation));
        let key = self.key.as_ref().map(|key| format!("\"{}\"", key.replace(['"', '\\'], "")));
        let headers: Vec<(&str, &str)> =
            key.iter().map(|key| ("idempotency-key", key.as_str())).collect();
        let mut answered = client.post(&path, &headers, &Value::Object(body.clone()))?;
        // a key is printed with slashes between its parts, and may be given as it is printed
        if answered.status == 422 && params.values().any(has_slash) {
            known = known.or_else(|| fetch(&client, &name));
            if let Some((design, operation)) = self.find(known.as_ref())
                && let Some(body) = with_parts(design, operation, &body)
            {
                answered = client.post(&path, &headers, &Value::Object(body))?;
            }
        }
        let said = answered.json();
        if !answered.is_ok() {
            if !answered.is_refusal() {
                return Err(answered.problem());
            }
            let text = if self.server.json { format!("{said}\n") } else { refusal(&said) };
            output.print(&text);
            return Ok(Exit::No);
        }
        let handed_out = said["memory"].as_object().filter(|memory| !memory.is_empty());
        let mut kept = Vec::new();
        if let (Some(remembered), Some(handed_out)) = (&remembered, handed_out) {
            let known = known.or_else(|| fetch(&client, &name));
            if let Some((design, operation)) = self.find(known.as_ref()) {
                // what the server took is named by the answer
                let mut params = params.clone();
                params.extend(said["result"].as_object().cloned().unwrap_or_default());
                kept = remembered.keep(design, operation, &params, handed_out)?;
            }
        }
        let text = if self.server.json {
            format!("{said}\n")
        } else {
            done(&said, answered.was_done_before(), &kept)
        };
        output.print(&text);
        Ok(Exit::Yes)
    }

    fn find<'d>(&self, design: Option<&'d Design>) -> Option<(&'d Design, &'d Operation)> {
        let design = design?;
        let operation = design.operations.iter().find(|operation| {
            operation.name == self.operation
                && design.actors[operation.actor.index()].name == self.actor
        })?;
        Some((design, operation))
    }
}

fn has_slash(given: &Value) -> bool {
    given.as_str().is_some_and(|text| text.contains('/'))
}

/// The same with every key of several parts that is given as it is printed, `L1/2`, as a list. None: there is no such key.
fn with_parts(
    design: &Design,
    operation: &Operation,
    given: &Map<String, Value>,
) -> Option<Map<String, Value>> {
    let mut body = given.clone();
    for param in &operation.params {
        let Some(subject) = param.ty.subject() else { continue };
        let Some(text) = given.get(&param.name).and_then(Value::as_str) else { continue };
        let mut types = Vec::new();
        parts_of(design, subject, &mut types);
        let texts: Vec<&str> = text.split('/').collect();
        if types.len() > 1 && types.len() == texts.len() {
            let parts = types.iter().zip(texts).map(|(ty, text)| match (ty, text.parse::<i64>()) {
                (Type::Int, Ok(number)) => number.into(),
                _ => Value::from(text),
            });
            body.insert(param.name.clone(), parts.collect());
        }
    }
    (body != *given).then_some(body)
}

/// The types of the parts of a key, with those of the keys in it.
fn parts_of(design: &Design, subject: SubjectId, types: &mut Vec<Type>) {
    for key in &design.subjects[subject.index()].keys {
        match key.ty {
            Type::Ref(other) => parts_of(design, other, types),
            _ => types.push(key.ty.clone()),
        }
    }
}

/// The design as the server has it; it says which record a memory belongs to.
fn fetch(client: &Client, name: &str) -> Option<Design> {
    let answered = client.get(&format!("/v1/{}", segment(name)), &[]).ok()?;
    if !answered.is_ok() {
        return None;
    }
    design::compile(name, &answered.text(), &Embedded).design
}

fn done(said: &Value, before: bool, kept: &[String]) -> String {
    let done = if before { "done before, under this key" } else { "done" };
    let mut text =
        format!("{GOOD}{done}{GOOD:#}, revision {}\n", said["revision"].as_str().unwrap_or("?"));
    for changed in said["truth"].as_array().into_iter().flatten() {
        let _ = writeln!(text, "  {}", record(changed));
    }
    if !said["result"].is_null() {
        let _ = writeln!(text, "  {}", word(&said["result"]));
    }
    let memory = said["memory"].as_object().cloned().unwrap_or_else(Map::new);
    for (name, value) in &memory {
        if kept.contains(name) {
            let _ = writeln!(text, "  {name} is remembered");
        } else {
            let _ = writeln!(text, "  to remember: --memory {name}={}", word(value));
        }
    }
    text
}
