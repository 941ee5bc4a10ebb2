//! `steadfast find`

use std::fmt::Write as _;

use clap::Args;
use serde_json::{Value, json};
use steadfast::find::{Answer as Found, Index, SHOWN};

use super::Answer;
use crate::exit::Exit;
use crate::output::{Output, STRONG};
use crate::problem::Problem;

/// Say which archetype a problem is
///
/// Looks for the words in names, uses, failures, hotspots, states and actions of all forty archetypes, and prints the
/// best three with what matched. Each word counts once: by how few archetypes know it, by where it stands, and by how
/// much of the phrase there was asked for. Exits 1 when no word is known.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast find double booking
  steadfast find \"the card was charged twice\"
  steadfast find fan-out on write --json")]
pub struct Find {
    /// A few words, or a sentence
    #[arg(value_name = "WORDS", required = true)]
    words: Vec<String>,
    /// For a script: one object with the best three
    #[arg(long)]
    json: bool,
}

impl Find {
    pub fn run(self, output: &mut Output) -> Answer {
        let question = self.words.join(" ");
        let found = Index::of_catalog().find(&question);
        let best = &found.answers[..found.answers.len().min(SHOWN)];
        let exit = if best.is_empty() { Exit::No } else { Exit::Yes };
        if self.json {
            let object = json!({
                "format": "steadfast-find/1",
                "question": question,
                "unknown": found.unknown,
                "archetypes": best.iter().map(as_json).collect::<Vec<Value>>(),
            });
            output.print(&format!("{object:#}\n"));
            return Ok(exit);
        }
        if best.is_empty() {
            let problem = match found.asked {
                true => Problem::new(format!("no archetype knows a word of `{question}`")),
                false => Problem::new(format!("`{question}` has no word to look for")),
            };
            return Err(problem
                .help(
                    "say what is shared and what goes wrong, as in `steadfast find double booking`",
                )
                .help("`steadfast list` prints the catalog")
                .exit(Exit::No));
        }
        let mut text = String::new();
        for answer in best {
            as_text(&mut text, answer);
        }
        if !found.unknown.is_empty() {
            let _ = writeln!(text, "no archetype knows `{}`", found.unknown.join("`, `"));
        }
        output.print(&text);
        Ok(exit)
    }
}

fn as_json(answer: &Found) -> Value {
    let matched = answer
        .why
        .iter()
        .map(|why| json!({ "in": why.field.name(), "phrase": why.phrase, "words": why.words }));
    let next = answer.next();
    json!({
        "id": answer.id,
        "name": answer.name,
        "purpose": answer.purpose,
        "score": (answer.score * 100.0).round() / 100.0,
        "matched": matched.collect::<Vec<Value>>(),
        "ships": next.is_some(),
        "explain": next.as_ref().map(|[explain, _]| explain),
        "use": next.as_ref().map(|[_, using]| using),
    })
}

fn as_text(text: &mut String, answer: &Found) {
    let _ = writeln!(text, "{STRONG}{}  {}{STRONG:#}", answer.id, answer.name);
    let _ = writeln!(text, "     {}", answer.purpose);
    let _ = writeln!(text, "     found: {}", answer.reasons().join("; "));
    let _ = match answer.next() {
        Some([explain, using]) => {
            writeln!(text, "     next: `{explain}`, or `{using}` in a design\n")
        }
        None => writeln!(text, "     no design of it is in this binary yet\n"),
    };
}
