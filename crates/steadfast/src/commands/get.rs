//! `steadfast get DESIGN SUBJECT KEY…`

use clap::Args;

use super::Answer;
use crate::client::{ServerOptions, design_name, refusal, segment, told, word};
use crate::exit::Exit;
use crate::output::{ODD, Output, STRONG};

/// Read the truth of one record
///
/// Exits 1 when there is no such record.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast get tickets Seat A1
  steadfast get lockers Locker L1 2               a key of two parts, or as it is printed: L1/2
  steadfast get tickets Booking b1 --json")]
pub struct Get {
    /// The design, as the server calls it
    #[arg(value_name = "DESIGN")]
    design: String,
    #[arg(value_name = "SUBJECT")]
    subject: String,
    /// The key, part by part
    #[arg(value_name = "KEY", required = true)]
    key: Vec<String>,
    #[command(flatten)]
    server: ServerOptions,
}

impl Get {
    pub fn run(self, output: &mut Output) -> Answer {
        let client = self.server.client()?;
        let mut answered = client.get(&self.path(self.key.iter().map(String::as_str)), &[])?;
        // a key is printed with slashes between its parts, and may be given as it is printed
        if let ([key], 422) = (&self.key[..], answered.status)
            && key.contains('/')
        {
            answered = client.get(&self.path(key.split('/')), &[])?;
        }
        let said = answered.json();
        if answered.status == 404 && is_absence(&said) {
            let text = if self.server.json {
                format!("{said}\n")
            } else {
                let key = self.key.join("/");
                format!("{ODD}none{ODD:#}: there is no {} {}\n", told(&self.subject), told(&key))
            };
            output.print(&text);
            return Ok(Exit::No);
        }
        if answered.is_refusal() {
            output.print(&if self.server.json { format!("{said}\n") } else { refusal(&said) });
            return Ok(Exit::No);
        }
        if !answered.is_ok() {
            return Err(answered.problem());
        }
        if self.server.json {
            output.print(&format!("{said}\n"));
            return Ok(Exit::Yes);
        }
        let mut text =
            format!("{STRONG}{} {}{STRONG:#}", told(&self.subject), told(&self.key.join("/")));
        if let Some(version) = answered.header("etag") {
            text.push_str(&format!("  version {}", told(version.trim_matches('"'))));
        }
        text.push('\n');
        let truth = if said["truth"].is_object() { &said["truth"] } else { &said };
        for (state, fields) in truth.as_object().into_iter().flatten() {
            text.push_str(&format!("  {}\n", told(state)));
            for (name, value) in fields.as_object().into_iter().flatten() {
                text.push_str(&format!("    {} {}\n", told(name), word(value)));
            }
        }
        output.print(&text);
        Ok(Exit::Yes)
    }
}

impl Get {
    fn path<'k>(&self, key: impl Iterator<Item = &'k str>) -> String {
        let (design, subject) = (segment(&design_name(&self.design)), segment(&self.subject));
        key.fold(format!("/v1/{design}/{subject}"), |path, part| {
            format!("{path}/{}", segment(part))
        })
    }
}

/// No record, rather than no subject or no design.
fn is_absence(said: &serde_json::Value) -> bool {
    said["type"].as_str().is_some_and(|kind| kind.ends_with("/absent"))
}
