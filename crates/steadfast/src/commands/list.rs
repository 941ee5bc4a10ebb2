//! `steadfast list`

use std::fmt::Write as _;

use clap::Args;
use serde_json::json;

use super::Answer;
use crate::catalog::{self, Entry};
use crate::exit::Exit;
use crate::output::{Output, STRONG};

/// Print the catalog
///
/// The catalog is compiled into the binary: archetypes to make designs from, and whole systems.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast list
  steadfast list --json")]
pub struct List {
    /// For a script: one object with every design
    #[arg(long)]
    json: bool,
}

/// What each folder of the catalog holds.
const FOLDERS: &[(&str, &str)] = &[
    ("infra", "archetypes of infrastructure"),
    ("product", "archetypes of products"),
    ("systems", "whole systems"),
];

impl List {
    pub fn run(self, output: &mut Output) -> Answer {
        output.print(&if self.json { as_json() } else { as_text() });
        Ok(Exit::Yes)
    }
}

fn as_json() -> String {
    let designs: Vec<_> = catalog::entries()
        .map(|entry| {
            let header = entry.header();
            json!({
                "name": entry.name(),
                "kind": if header.id.is_some() { "archetype" } else { "design" },
                "declares": header.name,
                "title": header.title,
                "folder": entry.folder(),
            })
        })
        .collect();
    format!("{:#}\n", json!({ "format": "steadfast-list/1", "designs": designs }))
}

fn as_text() -> String {
    let entries: Vec<Entry> = catalog::entries().collect();
    let name_width = entries.iter().map(|entry| entry.name().len()).max().unwrap_or(0);
    let declared = |entry: &Entry| match entry.header() {
        header if header.id.is_some() => header.name,
        _ => String::new(),
    };
    let declared_width = entries.iter().map(|entry| declared(entry).len()).max().unwrap_or(0);
    let mut text = String::new();
    for (folder, what) in FOLDERS {
        let inside: Vec<&Entry> =
            entries.iter().filter(|entry| entry.folder() == *folder).collect();
        if inside.is_empty() {
            continue;
        }
        let _ = writeln!(text, "{STRONG}{what}{STRONG:#}");
        for entry in inside {
            let line = format!(
                "  {:<name_width$}  {:<declared_width$}  {}",
                entry.name(),
                declared(entry),
                entry.header().title
            );
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text.push('\n');
    }
    text.push_str("`steadfast show ID` prints one, `steadfast check ID` checks it\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_design_of_the_catalog_is_listed() {
        let text = as_text();
        for entry in catalog::entries() {
            assert!(text.contains(&entry.header().title), "{} in\n{text}", entry.path);
        }
    }
}
