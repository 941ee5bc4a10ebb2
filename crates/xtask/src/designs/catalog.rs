//! `docs/catalog/`: a page for each archetype of infrastructure, and a list of them.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Entry, id, with_ending};

pub const DESIGNS: &str = "designs/infra/";
pub const INDEX: &str = "docs/catalog/README.md";

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
# The catalog of infrastructure

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

pub fn index(entries: &[Entry]) -> String {
    let mut out = String::from(HEAD);
    out.push_str(
        "| archetype | title | states explored | failures |\n| --- | --- | ---: | ---: |\n",
    );
    for entry in entries.iter().filter(|entry| entry.path.starts_with(DESIGNS)) {
        let id = id(&entry.path);
        let verdict = entry.verdict.clone().unwrap_or_default();
        let _ = writeln!(
            out,
            "| [{id}]({id}.md) | {} | {} | {} |",
            entry.title.replace('|', "\\|"),
            verdict.states.map_or_else(|| "-".to_string(), |states| states.to_string()),
            verdict.shown.len(),
        );
    }
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
        let text =
            index(&["designs/infra/I02.design", "designs/systems/tickets.design"].map(entry));
        assert!(
            text.contains("| [I02](I02.md) | A \\| b | 431 | 0 |\n") && !text.contains("tickets")
        );
    }

    #[test]
    fn a_script_names_its_protocols() {
        let script = "serve\nprotocol main\nann: x[y]\n  protocol no\nprotocol repair\n";
        assert_eq!(driven(script), ["main", "repair"].map(String::from).into());
    }
}
