//! `steadfast aside DESIGN`

use clap::Args;
use serde_json::{Value, json};

use super::Answer;
use crate::client::{Client, ServerOptions, design_name, segment, told};
use crate::exit::Exit;
use crate::output::{GOOD, ODD, Output, STRONG};
use crate::problem::Problem;

/// List what the server set aside because it could not be worked on
///
/// A due repair or a delivery that cannot be read, or that panics whoever works on it, leaves its queue, so
/// that everything else goes on. Mend the cause, then put it back with `--retry`. Exits 1 when something
/// lies aside.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast aside shop
  steadfast aside shop --retry 5f0c0a6a1d8e4b0c9d3e2f1a0b9c8d7e
  steadfast aside shop --retry all
  steadfast aside shop --discard 5f0c0a6a1d8e4b0c9d3e2f1a0b9c8d7e")]
pub struct Aside {
    /// The design, as the server calls it
    #[arg(value_name = "DESIGN")]
    design: String,
    /// Put this entry back in its queue exactly as it was; `all`: every entry that can go back
    #[arg(long, value_name = "ID", conflicts_with = "discard")]
    retry: Option<String>,
    /// Throw this entry away for good
    #[arg(long, value_name = "ID")]
    discard: Option<String>,
    #[command(flatten)]
    server: ServerOptions,
}

impl Aside {
    pub fn run(self, output: &mut Output) -> Answer {
        let client = self.server.client()?;
        let path = format!("/v1/{}/aside", segment(&design_name(&self.design)));
        let asked = match (&self.retry, &self.discard) {
            (Some(id), _) if id == "all" => {
                let all = entries(&listed(&client, &path)?);
                let back = all.iter().filter(|entry| entry["can_go_back"] == true);
                back.map(|entry| (text(entry, "id"), "retry")).collect()
            }
            (Some(id), _) => vec![(id.clone(), "retry")],
            (None, Some(id)) => vec![(id.clone(), "discard")],
            (None, None) => {
                let said = listed(&client, &path)?;
                let all = entries(&said);
                let listing = if self.server.json { format!("{said}\n") } else { table(&all) };
                output.print(&listing);
                return Ok(if all.is_empty() { Exit::Yes } else { Exit::No });
            }
        };
        let mut exit = Exit::Yes;
        for (id, what) in asked {
            let path = format!("{path}/{}/{what}", segment(&id));
            let answered = client.post(&path, &[], &json!({}))?;
            let said = answered.json();
            let line = if self.server.json {
                format!("{said}\n")
            } else if answered.is_ok() {
                format!("{GOOD}{}{GOOD:#} {id}\n", told(&text(&said, "outcome")))
            } else {
                format!("{ODD}not done{ODD:#} {id}: {}\n", told(&text(&said, "detail")))
            };
            match answered.status {
                404 | 409 => exit = Exit::No,
                _ if !answered.is_ok() => return Err(answered.problem()),
                _ => {}
            }
            output.print(&line);
        }
        Ok(exit)
    }
}

fn listed(client: &Client, path: &str) -> Result<Value, Problem> {
    let answered = client.get(path, &[])?;
    if answered.is_ok() { Ok(answered.json()) } else { Err(answered.problem()) }
}

fn entries(said: &Value) -> Vec<Value> {
    said["entries"].as_array().cloned().unwrap_or_default()
}

fn text(of: &Value, name: &str) -> String {
    of[name].as_str().unwrap_or_default().to_string()
}

fn table(entries: &[Value]) -> String {
    if entries.is_empty() {
        return format!("{GOOD}none{GOOD:#}: nothing was set aside\n");
    }
    let mut out = String::new();
    for entry in entries {
        let part = |name: &str| told(&text(entry, name));
        out.push_str(&format!(
            "{STRONG}{}{STRONG:#}  {}  {}",
            part("id"),
            part("at"),
            part("space")
        ));
        if entry["operation"].is_string() {
            out.push_str(&format!(" `{}`", part("operation")));
        }
        out.push_str(&format!("\n  key {}\n  {}\n", part("key"), part("reason")));
        if entry["can_go_back"] != true {
            out.push_str("  of an earlier version of the design: it can only be discarded\n");
        }
    }
    out
}
