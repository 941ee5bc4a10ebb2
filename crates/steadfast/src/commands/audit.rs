//! `steadfast audit`

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use identity::{Act, Identity, Noted};
use serde_json::{Value, json};

use super::Answer;
use crate::exit::Exit;
use crate::output::{ERROR, GOOD, Output, STRONG};
use crate::problem::Problem;

/// Read the log of what was done with authority, and verify that nobody changed it
///
/// Each line of the log holds the hash of the line before it and is signed with the key of the
/// service: whoever does not have that key cannot change, add or take away a line, except cut lines
/// from the end, which `--expect` finds. What is written down: tokens issued
/// and revoked, keys made, rotated and retired, callers that were refused, what operators did, and
/// when the server started and stopped.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast audit show --last 20
  steadfast audit verify
  steadfast audit verify --expect 3f786850e387550fdab836ed7e6dc881de23001b5b5e…")]
pub struct Audit {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print the entries
    #[command(
        after_help = "Examples:\n  steadfast audit show --last 20\n  steadfast audit show --json"
    )]
    Show {
        /// Only the last so many
        #[arg(long, value_name = "N")]
        last: Option<usize>,
        #[command(flatten)]
        common: Common,
    },
    /// Follow hashes and signatures from the first line to the last; exits with 1 at the first broken
    /// line
    #[command(after_help = "Examples:\n  steadfast audit verify\n  steadfast audit verify --json")]
    Verify {
        /// A hash that was noted earlier and must be in the log: lines cut from its end are found
        #[arg(long, value_name = "HASH")]
        expect: Option<String>,
        #[command(flatten)]
        common: Common,
    },
}

#[derive(Args)]
struct Common {
    /// The directory of keys, where the log is
    #[arg(long, value_name = "DIR", default_value = "./steadfast-keys")]
    keys: PathBuf,
    /// For a script: one object
    #[arg(long)]
    json: bool,
}

impl Audit {
    pub fn run(self, output: &mut Output) -> Answer {
        match self.command {
            Command::Show { last, common } => show(output, last, &common),
            Command::Verify { expect, common } => verified(output, expect.as_deref(), &common),
        }
    }
}

/// Writes down what was done to the store of a service, in the log of its keys. A machine without
/// keys has no log.
pub fn note(keys: Option<&Path>, act: Act, of: Value) -> Result<(), Problem> {
    let directory = keys.unwrap_or(Path::new("./steadfast-keys"));
    if keys.is_none() && !directory.exists() {
        return Ok(());
    }
    let identity = Identity::open(directory, false).map_err(super::token::problem)?;
    identity.note(act, &identity::by(), of).map_err(super::token::problem)
}

/// Walks the log; a broken line ends the walk.
fn walk(common: &Common, each: &mut dyn FnMut(&Noted)) -> Result<Walked, Problem> {
    let identity = Identity::open(&common.keys, false);
    let walked = identity.and_then(|identity| identity.verify_audit(each)).map_err(|error| {
        Problem::new(error.to_string()).help("`--keys` names the directory of keys it is in")
    })?;
    Ok(match walked {
        Ok(chain) => Walked {
            entries: chain.entries,
            unsigned: chain.unsigned,
            last: chain.last,
            torn: chain.torn,
            broken: None,
        },
        Err(broken) => Walked {
            entries: broken.line - 1,
            unsigned: 0,
            last: String::new(),
            torn: 0,
            broken: Some((broken.line, broken.why)),
        },
    })
}

struct Walked {
    entries: u64,
    /// lines before the first signed one
    unsigned: u64,
    last: String,
    torn: u64,
    broken: Option<(u64, &'static str)>,
}

fn show(output: &mut Output, last: Option<usize>, common: &Common) -> Answer {
    let mut kept: VecDeque<Noted> = VecDeque::new();
    let walked = walk(common, &mut |noted| {
        kept.push_back(noted.clone());
        if last.is_some_and(|last| kept.len() > last) {
            kept.pop_front();
        }
    })?;
    if common.json {
        let entries: Vec<&Noted> = kept.iter().collect();
        let object = json!({
            "format": "steadfast-audit/1", "entries": entries,
            "broken": walked.broken.map(|(line, _)| line),
        });
        output.print(&format!("{object:#}\n"));
    } else {
        for noted in &kept {
            let of = match &noted.of {
                Value::Object(fields) => fields
                    .iter()
                    .map(|(name, value)| match value {
                        Value::String(text) => format!("{name}={}", text.escape_default()),
                        other => format!("{name}={other}"),
                    })
                    .collect::<Vec<_>>()
                    .join(" "),
                other => other.to_string(),
            };
            output.print(&format!(
                "{:>6}  {}  {STRONG}{:<19}{STRONG:#}  {}  {of}\n",
                noted.number,
                noted.at,
                noted.act,
                noted.by.escape_default(),
            ));
        }
    }
    match walked.broken {
        None => Ok(Exit::Yes),
        Some((line, why)) => {
            output.tell(&format!("{ERROR}broken{ERROR:#} in line {line}: {why}\n"));
            Ok(Exit::No)
        }
    }
}

fn verified(output: &mut Output, expect: Option<&str>, common: &Common) -> Answer {
    let mut found = expect.is_none();
    let mut walked = walk(common, &mut |noted| found |= expect == Some(noted.previous.as_str()))?;
    found |= expect == Some(walked.last.as_str());
    if walked.broken.is_none() && !found {
        walked.broken = Some((walked.entries + 1, "the log ends before the hash that is expected"));
    }
    if common.json {
        let object = json!({
            "format": "steadfast-audit-verified/1",
            "holds": walked.broken.is_none(),
            "entries": walked.entries,
            "unsigned": walked.unsigned,
            "last": walked.last,
            "unfinished_bytes": walked.torn,
            "broken_line": walked.broken.map(|(line, _)| line),
            "why": walked.broken.map(|(_, why)| why),
        });
        output.print(&format!("{object:#}\n"));
    } else {
        match walked.broken {
            None => {
                output.print(&format!(
                    "{GOOD}holds{GOOD:#}: {} entries, the last hash is {}\n",
                    walked.entries, walked.last
                ));
                if walked.unsigned > 0 {
                    output.tell(&format!(
                        "note: the first {} were written by an earlier version without signatures; the \
                         first signature covers them\n",
                        walked.unsigned
                    ));
                }
                if walked.torn > 0 {
                    output.tell(&format!(
                        "note: {} bytes of an unfinished line follow; the next entry cuts them off\n",
                        walked.torn
                    ));
                }
            }
            Some((line, why)) => {
                output.print(&format!("{ERROR}broken{ERROR:#} in line {line}: {why}\n"));
            }
        }
    }
    Ok(if walked.broken.is_none() { Exit::Yes } else { Exit::No })
}
