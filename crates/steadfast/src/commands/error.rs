//! `steadfast error CODE`

use std::fmt::Write as _;

use clap::Args;
use serde_json::{Value, json};

use super::Answer;
use crate::catalog;
use crate::exit::Exit;
use crate::output::Output;
use crate::problem::Problem;

/// Print the page of an error code
///
/// What the code means, a text that causes it, and the text put right. Without a code: the list of
/// all codes.
#[derive(Args)]
#[command(
    name = "error",
    after_help = "\
Examples:
  steadfast error
  steadfast error E0301"
)]
pub struct ErrorPage {
    /// As it stands in brackets in a message: E0301
    code: Option<String>,
    /// For a script: an array of codes with their titles and pages
    #[arg(long)]
    json: bool,
}

impl ErrorPage {
    pub fn run(self, output: &mut Output) -> Answer {
        let pages: Vec<(&str, &str)> = match &self.code {
            Some(code) => vec![find(code)?],
            None => catalog::error_pages().collect(),
        };
        if self.json {
            let list: Vec<Value> = pages
                .iter()
                .map(|(code, page)| json!({ "code": code, "title": title(page), "page": page }))
                .collect();
            output.print(&format!("{:#}\n", Value::from(list)));
        } else if let (Some(_), [(_, page)]) = (&self.code, pages.as_slice()) {
            output.print(page);
        } else {
            let mut text = String::new();
            for (code, page) in &pages {
                let _ = writeln!(text, "{code}  {}", title(page));
            }
            text.push_str("\n`steadfast error CODE` prints the page of one\n");
            output.print(&text);
        }
        Ok(Exit::Yes)
    }
}

fn find(code: &str) -> Result<(&'static str, &'static str), Problem> {
    let asked = code.trim_matches(['[', ']', '`']);
    catalog::error_pages().find(|(known, _)| known.eq_ignore_ascii_case(asked)).ok_or_else(|| {
        Problem::new(format!("no error code `{code}`"))
            .help_if(design::did_you_mean(asked, catalog::error_pages().map(|(known, _)| known)))
            .help("`steadfast error` lists all codes")
    })
}

/// The page's heading, without the code that it may begin with.
fn title(page: &str) -> &str {
    let heading = page.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
    let word = heading.split([' ', ':']).next().unwrap_or_default();
    if catalog::error_pages().any(|(code, _)| code == word) {
        heading[word.len()..].trim_start_matches([' ', ':', '-', '–', '—', '.'])
    } else {
        heading
    }
}
