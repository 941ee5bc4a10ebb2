//! `steadfast replace DESIGN FILE`

use clap::Args;
use serde_json::Value;

use super::Answer;
use crate::catalog::Embedded;
use crate::client::{ServerOptions, design_name, segment, told};
use crate::exit::Exit;
use crate::load::load;
use crate::output::{GOOD, ODD, Output};
use crate::problem::Problem;
use crate::verdicts::{Rule, VerdictOptions};

/// Put another version of a design in the place of the one that is served
///
/// The change is held against everything that is stored before anything is changed. Exits 1 when
/// something stands in the way, or the new text is violated, and says what. `steadfast explain OLD
/// --against NEW` tells beforehand what a change asks for.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast replace shop shop2.design
  steadfast replace shop shop2.design --drop Seat.SeatState.note
  steadfast replace shop broken.design --unproved   also if it is violated")]
pub struct Replace {
    /// The design, as the server calls it
    #[arg(value_name = "DESIGN")]
    design: String,
    /// The new text
    #[arg(value_name = "FILE")]
    file: String,
    /// What may be lost: a subject, a state, an attribute, such as `Seat.SeatState.note`
    #[arg(long, value_name = "NAME")]
    drop: Vec<String>,
    /// Also if the new text is violated
    #[arg(long)]
    unproved: bool,
    #[command(flatten)]
    verdicts: VerdictOptions,
    #[command(flatten)]
    server: ServerOptions,
}

impl Replace {
    pub fn run(self, output: &mut Output) -> Answer {
        let text = load(&self.file)?.text;
        self.may_be_served(&text)?;
        let client = self.server.patient_client()?;
        let mut path = format!("/v1/{}", segment(&design_name(&self.design)));
        let mut query: Vec<String> =
            self.drop.iter().map(|name| format!("drop={}", segment(name))).collect();
        if self.unproved {
            query.push("unproved=true".into());
        }
        if !query.is_empty() {
            path.push_str(&format!("?{}", query.join("&")));
        }
        let headers = [("content-type", "text/plain; charset=utf-8")];
        let answered = client.put(&path, &headers, text.as_bytes())?;
        let said = answered.json();
        if answered.is_ok() {
            let text = if self.server.json {
                format!("{said}\n")
            } else {
                let verdict = match said["verdict"]["word"].as_str() {
                    Some("not_checked") | None => "; the new text was not checked yet",
                    Some("not_known") => "; it is not known whether the new text holds",
                    Some("violated") => "; the new text is violated",
                    Some(_) => "",
                };
                format!(
                    "{GOOD}replaced{GOOD:#}: `{}` is served as it is in `{}` now{verdict}\n",
                    self.design, self.file
                )
            };
            output.print(&text);
            return Ok(Exit::Yes);
        }
        if answered.status != 409 {
            return Err(answered.problem());
        }
        if self.server.json {
            output.print(&format!("{said}\n"));
            return Ok(Exit::No);
        }
        let mut text =
            format!("{ODD}not replaced{ODD:#}: {}\n", told(said["title"].as_str().unwrap_or("")));
        let obstacles = said["obstacles"].as_array().cloned().unwrap_or_default();
        text.push_str(&in_the_way(&obstacles));
        if obstacles.is_empty() {
            text.push_str(&format!("  {}\n", told(said["detail"].as_str().unwrap_or_default())));
        } else {
            text.push_str("`--drop NAME` replaces it all the same, and loses what NAME holds\n");
        }
        output.print(&text);
        Ok(Exit::No)
    }
}

/// What of the stored truth cannot follow a change, with some of the records that hold it.
pub fn in_the_way(obstacles: &[Value]) -> String {
    let mut text = String::new();
    for obstacle in obstacles {
        let part = |name: &str| told(obstacle[name].as_str().unwrap_or_default());
        text.push_str(&format!("  {} {}\n", part("on"), part("why")));
        for record in obstacle["records"].as_array().into_iter().flatten() {
            text.push_str(&format!("    {}\n", told(record.as_str().unwrap_or_default())));
        }
        if let Some(mend) = obstacle["mend"].as_str() {
            text.push_str(&format!("    mended by: {}\n", told(mend)));
        }
        let count = obstacle["count"].as_u64().unwrap_or(0);
        let named = obstacle["records"].as_array().map_or(0, Vec::len) as u64;
        if count > named {
            text.push_str(&format!("    and {} more\n", count - named));
        }
    }
    text
}

impl Replace {
    /// What is known to be violated here is not sent. The server has the last word: it may know more,
    /// and may have a rule of its own.
    fn may_be_served(&self, text: &str) -> Result<(), Problem> {
        // a text that does not compile is told by the server, as it reads it
        let compiled = design::compile(&self.file, text, &Embedded);
        let Some(design) = compiled.design else { return Ok(()) };
        let word = self.verdicts.open().find(text, &design, None);
        let rule = Rule { require: None, unproved: self.unproved };
        rule.allows(word.as_ref()).map_err(|unmet| {
            Problem::new(format!("`{}` is not put in place: {}", self.file, unmet.why))
                .help(format!("`steadfast check {}` shows why", self.file))
                .help("`--unproved` puts it in place all the same")
                .exit(unmet.exit)
        })
    }
}
