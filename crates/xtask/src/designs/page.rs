//! `designs/README.md`: one row for each design.

use std::fmt::Write as _;

use super::Entry;
use super::facts::Facts;

const FOLDERS: &[(&str, &str)] = &[
    ("infra", "Archetypes of infrastructure"),
    ("product", "Archetypes of products"),
    ("systems", "Whole systems"),
];

const HEAD: &str = "\
# Designs

The catalog, in the language itself. It is compiled into the binary: `steadfast show NAME` prints a
design, `steadfast check NAME` checks it, `steadfast new` makes a design of your own from an
archetype.

Beside each design stands its verdict (`NAME.verdict`): the world that was explored, the exact number
of states, every goal, and every failure with the length of the shortest history that its protection
prevents. This page and the verdicts are written by `cargo xtask designs`, and the tests fail when they
are no longer true.
";

pub fn page(facts: &Facts, entries: &[Entry]) -> String {
    let mut out = String::from(HEAD);
    for (folder, heading) in FOLDERS {
        let start = format!("designs/{folder}/");
        let inside: Vec<&Entry> = entries.iter().filter(|e| e.path.starts_with(&start)).collect();
        if inside.is_empty() {
            continue;
        }
        let _ = write!(
            out,
            "\n## {heading}\n\n| design | title | parses | formatted | verdict | states | \
             goals proved | within bounds | failures load-bearing | restate their guard | free clauses |\n\
             | --- | --- | --- | --- | --- | ---: | --- | ---: | --- | ---: | ---: |\n"
        );
        for entry in &inside {
            row(&mut out, entry);
        }
        let known = facts.archetypes.iter().filter(|archetype| archetype.folder() == *folder);
        let unwritten: Vec<String> = known
            .filter(|a| !inside.iter().any(|e| e.path == format!("{start}{}.design", a.id)))
            .map(|archetype| format!("{} {}", archetype.id, archetype.name))
            .collect();
        if !unwritten.is_empty() {
            let _ = write!(out, "\nNot written yet:\n\n- {}\n", unwritten.join("\n- "));
        }
    }
    out
}

fn row(out: &mut String, entry: &Entry) {
    let link = entry.path.strip_prefix("designs/").unwrap_or(&entry.path);
    let file = link.rsplit('/').next().unwrap_or(link);
    let name = file.strip_suffix(".design").unwrap_or(file);
    let yes = |held: bool| if held { "yes" } else { "no" };
    let verdict = entry.verdict.clone().unwrap_or_default();
    let word = match (verdict.word.as_str(), verdict.unseen.len()) {
        ("", _) => "-".to_string(),
        (word, 0) => word.to_string(),
        (word, unseen) => format!("{word}, {unseen} never seen"),
    };
    let _ = writeln!(
        out,
        "| [{name}]({link}) | {} | {} | {} | {word} | {} | {} of {} | {} | {} of {} | {} | {} |",
        entry.title.replace('|', "\\|"),
        yes(verdict.compiles),
        yes(verdict.formatted),
        verdict.states.map_or_else(|| "-".to_string(), |states| states.to_string()),
        verdict.goals.0,
        verdict.goals.1,
        verdict.holding,
        verdict.failures.0,
        verdict.failures.1,
        verdict.restating,
        verdict.free,
    );
}

#[cfg(test)]
mod tests {
    use super::super::facts::Archetype;
    use super::super::verdict;
    use super::*;

    #[test]
    fn each_design_has_a_row_under_its_folder() {
        let entries = [Entry {
            path: "designs/systems/tickets.design".into(),
            title: "Seats | holds".into(),
            verdict: Some(verdict::read("formatted yes\ndesign Tickets: proved\nstates 431\n")),
        }];
        let text = page(&Facts::default(), &entries);
        assert!(text.contains("\n## Whole systems\n") && !text.contains("## Archetypes"));
        let row = "| [tickets](systems/tickets.design) | Seats \\| holds | yes | yes | proved | \
            431 | 0 of 0 | 0 | 0 of 0 | 0 | 0 |\n";
        assert!(text.ends_with(row), "{text}");
    }

    #[test]
    fn what_is_not_written_yet_is_named() {
        let archetype =
            |id: &str| Archetype { id: id.into(), name: "Name".into(), ..Archetype::default() };
        let facts =
            Facts { archetypes: vec![archetype("A05"), archetype("A06")], ..Facts::default() };
        let entries = [Entry {
            path: "designs/product/A06.design".into(),
            title: "Items".into(),
            verdict: None,
        }];
        let text = page(&facts, &entries);
        assert!(text.ends_with("\nNot written yet:\n\n- A05 Name\n"), "{text}");
    }
}
