//! `steadfast view DESIGN VIEW [name=value …]`

use clap::Args;
use serde_json::Value;

use super::Answer;
use crate::client::{ServerOptions, design_name, named_values, refusal, segment, truth, word};
use crate::exit::Exit;
use crate::output::Output;

/// Read a view
///
/// A view says which revision it reflects; `--at-least` waits for one.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast view tickets Availability section=stalls
  steadfast view tickets Availability section=stalls --at-least 0-12 --json")]
pub struct View {
    /// The design, as the server calls it
    #[arg(value_name = "DESIGN")]
    design: String,
    #[arg(value_name = "VIEW")]
    view: String,
    /// Parameters
    #[arg(value_name = "NAME=VALUE")]
    params: Vec<String>,
    /// Wait until the view reflects this revision
    #[arg(long, value_name = "REVISION")]
    at_least: Option<String>,
    #[command(flatten)]
    server: ServerOptions,
}

impl View {
    pub fn run(self, output: &mut Output) -> Answer {
        let client = self.server.client()?;
        let mut query: Vec<String> = named_values(&self.params)?
            .iter()
            .map(|(name, value)| format!("{}={}", segment(name), segment(&word(value))))
            .collect();
        query.extend(self.at_least.iter().map(|at| format!("at_least={}", segment(at))));
        let mut path =
            format!("/v1/{}/views/{}", segment(&design_name(&self.design)), segment(&self.view));
        if !query.is_empty() {
            path = format!("{path}?{}", query.join("&"));
        }
        let answered = client.get(&path, &[])?;
        let said = answered.json();
        if answered.is_refusal() {
            output.print(&if self.server.json { format!("{said}\n") } else { refusal(&said) });
            return Ok(Exit::No);
        }
        if !answered.is_ok() {
            return Err(answered.problem());
        }
        output.print(&if self.server.json { format!("{said}\n") } else { shown(&said) });
        Ok(Exit::Yes)
    }
}

fn shown(said: &Value) -> String {
    let mut text = String::new();
    for (name, value) in said.as_object().into_iter().flatten() {
        match value {
            Value::Array(rows) => {
                rows.iter().for_each(|row| text.push_str(&format!("  {}\n", line(row))));
                let one = rows.len() == 1 && said["total"].as_u64().is_none_or(|total| total == 1);
                let noun = if one { name.trim_end_matches('s') } else { name };
                let total = said["total"].as_u64().filter(|total| *total != rows.len() as u64);
                let total = total.map_or(String::new(), |total| format!(" of {total}"));
                text.push_str(&format!("{}{total} {noun}\n", rows.len()));
            }
            // said with the rows, or after everything else
            _ if ["next", "total", "revision"].contains(&name.as_str()) => {}
            other => text.push_str(&format!("{name} {}\n", word(other))),
        }
    }
    if let Some(next) = said["next"].as_str() {
        text.push_str(&format!("the next come with: after={next}\n"));
    }
    text.push_str(&format!("revision {}\n", word(&said["revision"])));
    text
}

fn line(row: &Value) -> String {
    let Some(fields) = row.as_object() else { return word(row) };
    let parts = fields.iter().map(|(name, value)| match value {
        Value::Array(parts) if name == "key" => {
            parts.iter().map(word).collect::<Vec<_>>().join("/")
        }
        states if name == "truth" => truth(states),
        other => format!("{name} {}", word(other)),
    });
    parts.collect::<Vec<_>>().join("  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_stand_on_lines_of_their_own() {
        let said = json!({
            "next": null, "revision": "0-7", "total": 2,
            "rows": [{ "key": ["A1"], "truth": { "S": { "n": 2 } } }, { "key": ["A2"] }],
        });
        assert_eq!(shown(&said), "  A1  n 2\n  A2\n2 rows\nrevision 0-7\n");
        let said = json!({ "next": "x", "revision": "0-7", "total": 9, "rows": [{ "key": [1] }] });
        assert_eq!(shown(&said), "  1\n1 of 9 rows\nthe next come with: after=x\nrevision 0-7\n");
        assert_eq!(shown(&json!({ "count": 3, "revision": "0-7" })), "count 3\nrevision 0-7\n");
    }
}
