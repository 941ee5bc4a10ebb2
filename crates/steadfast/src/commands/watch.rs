//! `steadfast watch DESIGN [SUBJECT [KEY…]]`

use std::io::{BufRead, BufReader};
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use super::Answer;
use crate::client::{Answered, Client, ServerOptions, design_name, record, segment, told};
use crate::exit::Exit;
use crate::output::{Output, STRONG};
use crate::problem::Problem;

/// Follow the feed
///
/// Goes on by itself where it was when the connection is lost, and misses nothing. Begins with what
/// happens from now on, or strictly after `--from`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast watch tickets
  steadfast watch tickets Seat A1
  steadfast watch tickets --from 0-0 --limit 10 --json")]
pub struct Watch {
    /// The design, as the server calls it
    #[arg(value_name = "DESIGN")]
    design: String,
    /// Only transitions that change records of this subject
    #[arg(value_name = "SUBJECT")]
    subject: Option<String>,
    /// Only those of this record
    #[arg(value_name = "KEY", requires = "subject")]
    key: Vec<String>,
    /// Begin strictly after this revision
    #[arg(long, value_name = "REVISION")]
    from: Option<String>,
    /// End after so many transitions
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    #[command(flatten)]
    server: ServerOptions,
}

const BACKOFF_FIRST: Duration = Duration::from_millis(100);
const BACKOFF_MAX: Duration = Duration::from_secs(5);

/// What ended one connection.
enum Ended {
    /// enough was seen, or nobody reads any more
    Enough,
    /// the connection broke
    Lost,
    Refused(Box<Answered>),
}

impl Watch {
    pub fn run(self, output: &mut Output) -> Answer {
        let client = self.server.patient_client()?;
        let mut last = self.from.clone();
        let mut left = self.limit.unwrap_or(u64::MAX);
        let mut backoff = BACKOFF_FIRST;
        let mut ever = false;
        loop {
            let before = left;
            match self.connection(&client, &mut last, &mut left, &mut ever, output) {
                Ok(Ended::Enough) => return Ok(Exit::Yes),
                Ok(Ended::Refused(answered)) => return self.refused(&answered, output),
                Ok(Ended::Lost) => {}
                // the first time nobody may be there at all
                Err(problem) if !ever => return Err(problem),
                Err(_) => {}
            }
            if left < before {
                backoff = BACKOFF_FIRST;
            }
            std::thread::sleep(backoff);
            backoff = (backoff * 2).min(BACKOFF_MAX);
        }
    }

    fn refused(&self, answered: &Answered, output: &mut Output) -> Answer {
        if answered.status != 410 {
            return Err(answered.problem());
        }
        let said = answered.json();
        if self.server.json {
            output.print(&format!("{said}\n"));
            return Ok(Exit::No);
        }
        let mut problem = answered.problem();
        if let Some(floor) = said["floor"].as_str().or(said["from"].as_str()) {
            problem = problem.help(format!("begin with `--from {floor}`"));
        }
        Err(problem
            .help("read the truth again, then watch from the revision that it reflects")
            .exit(Exit::No))
    }

    fn path(&self, from: Option<&str>) -> String {
        let mut query: Vec<String> = Vec::new();
        query.extend(from.map(|from| format!("from={}", segment(from))));
        query.extend(self.subject.iter().map(|subject| format!("subject={}", segment(subject))));
        query.extend(self.key.iter().map(|part| format!("key={}", segment(part))));
        let path = format!("/v1/{}/feed", segment(&design_name(&self.design)));
        if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
    }

    fn connection(
        &self,
        client: &Client,
        last: &mut Option<String>,
        left: &mut u64,
        ever: &mut bool,
        output: &mut Output,
    ) -> Result<Ended, Problem> {
        let accept = [("accept", "text/event-stream")];
        let mut answer = client.open(&self.path(last.as_deref()), &accept)?;
        let status = answer.status().as_u16();
        if status != 200 {
            let headers = answer.headers().clone();
            let body = answer.body_mut().read_to_vec().unwrap_or_default();
            if status >= 500 || status == 429 {
                return Ok(Ended::Lost);
            }
            return Ok(Ended::Refused(Box::new(Answered { status, headers, body })));
        }
        *ever = true;
        let mut message = Message::default();
        for line in BufReader::new(answer.body_mut().as_reader()).lines() {
            let Ok(line) = line else { return Ok(Ended::Lost) };
            if !line.is_empty() {
                message.line(&line);
                continue;
            }
            let whole = std::mem::take(&mut message);
            if let Some(id) = &whole.id {
                *last = Some(id.clone());
            }
            if whole.data.is_empty() {
                continue;
            }
            output.print(&self.shown(&whole));
            output.flush();
            *left -= 1;
            if *left == 0 || output.nobody_reads() {
                return Ok(Ended::Enough);
            }
        }
        Ok(Ended::Lost)
    }

    fn shown(&self, message: &Message) -> String {
        let Ok(mut transition) = serde_json::from_str::<Value>(&message.data) else {
            return format!("{}\n", told(&message.data));
        };
        let revision = message.id.as_deref().unwrap_or_default();
        if self.server.json {
            if transition.get("revision").is_none() && transition.is_object() {
                transition["revision"] = revision.into();
            }
            return format!("{transition}\n");
        }
        let said = |name: &str| told(transition[name].as_str().unwrap_or_default());
        let mut text = format!(
            "{STRONG}{} {} {}{STRONG:#} {} {}\n",
            told(revision),
            said("actor"),
            said("operation"),
            said("principal"),
            said("at")
        );
        for change in transition["changes"].as_array().into_iter().flatten() {
            text.push_str(&format!("  {}\n", record(change)));
        }
        for event in transition["events"].as_array().into_iter().flatten() {
            let name = told(event["event"].as_str().unwrap_or_default());
            text.push_str(&format!("  emits {name} {}\n", told(&event["fields"].to_string())));
        }
        text
    }
}

/// One message of server-sent events, as its lines come in.
#[derive(Default, Debug, PartialEq, Eq)]
struct Message {
    id: Option<String>,
    data: String,
}

impl Message {
    fn line(&mut self, line: &str) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "id" => self.id = Some(value.to_string()),
            "data" => {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            // comments are heartbeats; the kind of event and the wait are not looked at
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_line_by_line() {
        let mut message = Message::default();
        for line in [": heartbeat", "event: transition", "id: 0-7", "data: {\"a\":", "data:1}"] {
            message.line(line);
        }
        assert_eq!(message, Message { id: Some("0-7".into()), data: "{\"a\":\n1}".into() });
    }
}
