//! `docs/catalog/`: a page for each archetype, and a list of them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::facts::{Archetype, Facts};
use super::{Entry, id, with_ending};

/// The archetypes, and how they are called together.
const FOLDERS: [(&str, &str); 2] =
    [("designs/infra/", "Infrastructure"), ("designs/product/", "Products")];
pub const INDEX: &str = "docs/catalog/README.md";

/// Has this design a page? Whole systems have none.
pub fn has_page(path: &str) -> bool {
    FOLDERS.iter().any(|(folder, _)| path.starts_with(folder))
}

pub fn page_path(id: &str) -> String {
    format!("docs/catalog/{id}.md")
}

pub fn drawings_path(id: &str) -> String {
    format!("docs/catalog/{id}.svg")
}

/// The sheet that `explain` derives, its drawings, the traces of the failures, and the script.
pub fn page(path: &str, sheet: &str, traces: &str, script: Option<&str>) -> String {
    let id = id(path);
    let (title, sheet) = sheet.split_once('\n').unwrap_or((sheet, ""));
    let mut out = format!(
        "{title}\n\n[The design](../../{path}), [its verdict](../../{}), \
         [the other archetypes](README.md)\n\n![what there is, how it changes and in which order]\
         ({id}.svg)\n{sheet}",
        with_ending(path, "verdict"),
    );
    if !traces.is_empty() {
        let _ = write!(
            out,
            "\n## What the failures look like\n\nThe shortest history that each protection \
             prevents, told by the checker in a world\nwithout it.\n\n```text\n{}\n```\n",
            traces.trim_end()
        );
    }
    if let Some(script) = script {
        let _ = write!(
            out,
            "\n## Driven over HTTP\n\n[How to read it](README.md#how-a-drive-is-read).\n\n\
             ```text\n{}\n```\n",
            script.trim_end()
        );
    }
    out
}

const HEAD: &str = "\
# The catalog

For each archetype a page: what is authoritative and who changes it, what each operation is, which
protection prevents which failure, and what the failure looks like without it. Everything on these
pages is derived from the design, found by the checker, or done on a server; they are written by
`cargo xtask designs`, and the tests fail when they are no longer true.

";

const READING: &str = "
## How a drive is read

Beside each design lies a script, `designs/infra/I02.drive`. The tests serve the design with the binary,
on a store in a directory, and carry out the script over HTTP, line by line.

| line | what happens |
| --- | --- |
| `ann: holder[renew(resource: r1, ttl: 1h)]` | Ann calls it, and it is done |
| `… refused fenced` | it is refused, by this clause |
| `… = { owner_id: ann }` | it is a read, and answers with this (and perhaps more) |
| `ann under k1: …` | the same with an idempotency key; `replayed`: it was done before |
| `await reaper[reclaim] of Resource[r1]` | nobody calls it: a repair, a message or an answer from outside; it is waited for in the feed |
| `await projector[apply] refused in_order` | a message that arrives and is refused |
| `Resource[r1] is { value: two }` | the truth of a record, now; `becomes`: before long |
| `view Runnable is { total: 1 }` | a view, before long |
| `crash` | the server is killed with SIGKILL, and started again on its store |
| `time 30s = 3s` | from the next start on, this length of time in the design is that one |
| `delay downstream_writer[apply] = 10s` | from the next start on, this repair comes so much later |
| `pass 1100ms` | nothing is done for so long |
| `outside sink` | a service that the design calls; `loses its answers`, `refuses`, `is down`, `answers`; `did { … } once`: how often it acted |
| `upload \"…\" as content` | content is stored; `$content` is its digest |
| `outside keystore holds k1` | the service has the private half of a key, `$k1` is the public one; it signs what it is asked to, or `signs something else` |
| `let s1 = keystore signature` | `$s1` is the latest signature that it made; `digest`: what it was asked to sign |
| `let root = Authority[a1] root` | `$root` is an attribute, as it is now; `hash(a1)`: the digest of texts |
| `ann forgets` | Ann loses what she was told to remember |
| `protocol main` | what follows walks through this protocol: each of its paths must be seen, in order |

Whoever calls remembers what it was handed out, and sends it along: a stale actor is one that calls
again after somebody else did.
";

/// A row for each archetype of the facts, also for those that have no design yet.
pub fn index(facts: &Facts, entries: &[Entry]) -> String {
    let mut out = String::from(HEAD);
    for (folder, heading) in FOLDERS {
        let _ = write!(
            out,
            "## {heading}\n\n| archetype | title | states explored | failures |\n\
             | --- | --- | ---: | ---: |\n",
        );
        let inside =
            |archetype: &&Archetype| folder.ends_with(&format!("/{}/", archetype.folder()));
        for Archetype { id, name, .. } in facts.archetypes.iter().filter(inside) {
            let path = format!("{folder}{id}.design");
            let Some(entry) = entries.iter().find(|entry| entry.path == path) else {
                let _ = writeln!(out, "| {id} | {name}: not written yet | - | - |");
                continue;
            };
            let verdict = entry.verdict.clone().unwrap_or_default();
            let _ = writeln!(
                out,
                "| [{id}]({id}.md) | {} | {} | {} |",
                entry.title.replace('|', "\\|"),
                verdict.states.map_or_else(|| "-".to_string(), |states| states.to_string()),
                verdict.shown.len(),
            );
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out.push_str(READING);
    out
}

/// The protocols that a script walks through.
pub fn driven(script: &str) -> BTreeSet<String> {
    let names = script.lines().filter_map(|line| line.strip_prefix("protocol "));
    names.map(|name| name.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::verdict;
    use super::*;

    #[test]
    fn a_page_holds_the_sheet_the_traces_and_the_script() {
        let path = "designs/infra/I02.design";
        let text = page(path, "# I02\n\n## A\n", "1. x\n\n", Some("serve\n"));
        for part in ["# I02\n\n[The design](../../designs/infra/I02.design)", "(I02.svg)\n\n## A\n"]
        {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(text.contains("```text\n1. x\n```\n") && text.ends_with("```text\nserve\n```\n"));
    }

    #[test]
    fn the_list_has_a_row_for_each_archetype() {
        let entry = |path: &str| Entry {
            path: path.into(),
            title: "A | b".into(),
            verdict: Some(verdict::read("formatted yes\nstates 431\n")),
        };
        let known = |id: &str, name: &str| Archetype {
            id: id.into(),
            name: name.into(),
            ..Archetype::default()
        };
        let facts = Facts {
            archetypes: vec![known("A05", "View"), known("A08", "Hold"), known("I02", "Claim")],
            ..Facts::default()
        };
        let paths = [
            "designs/infra/I02.design",
            "designs/product/A08.design",
            "designs/systems/tickets.design",
        ];
        let text = index(&facts, &paths.map(entry));
        for row in [
            "## Infrastructure\n\n| archetype | title | states explored | failures |\n\
             | --- | --- | ---: | ---: |\n| [I02](I02.md) | A \\| b | 431 | 0 |\n",
            "| [A08](A08.md) | A \\| b | 431 | 0 |\n",
            "| A05 | View: not written yet | - | - |\n",
        ] {
            assert!(text.contains(row), "{row}\n{text}");
        }
        assert!(!text.contains("tickets"));
    }

    #[test]
    fn a_script_names_its_protocols() {
        let script = "serve\nprotocol main\nann: x[y]\n  protocol no\nprotocol repair\n";
        assert_eq!(driven(script), ["main", "repair"].map(String::from).into());
    }
}
