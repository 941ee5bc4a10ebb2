//! Every command that a document names is one that the program takes, and every block of commands is
//! run or stands in a list that says why not.

use std::process::Stdio;

use crate::cli::support::{command, folder};
use crate::pages::parts::{blocks, pages};

/// Blocks of commands that no test types: the page, how the block begins, and why.
const NOT_RUN: &[(&str, &str, &str)] = &[
    ("docs/clients.md", "steadfast client", "run by the tests of clients"),
    ("docs/clients.md", "steadfast serve", "serves without an end; run by the tests of origins"),
    (
        "docs/identity.md",
        "steadfast serve tickets --oidc",
        "needs an issuer; run by the tests of OIDC",
    ),
    ("docs/commands.md", "steadfast dev shop.design", "typed in docs/first-steps.md"),
    (
        "docs/demo.md",
        "steadfast demo tickets",
        "the whole size; `cli::demo` runs all of them small",
    ),
    ("docs/deploy/postgres.md", "createdb", "needs a database; run by `cli::postgres`"),
    ("docs/deploy/postgres.md", "steadfast copy", "needs a database; run by `cli::copying`"),
    ("docs/deploy/postgres.md", "steadfast backup", "needs a database; run by `cli::copying`"),
    ("docs/explain.md", "java", "TLC; `cargo xtask tlc` runs it"),
    (
        "docs/how-to/move-to-postgres.md",
        "steadfast serve tickets --store",
        "a second machine; several servers are run by `cli::postgres`",
    ),
    ("docs/installing.md", "cargo install", "builds everything anew"),
    ("docs/installing.md", "cargo xtask dist", "a stage of `cargo xtask test`"),
    ("docs/installing.md", "sha256sum", "needs the archive, and writes below /usr/local"),
    ("docs/installing.md", "useradd", "needs a machine of its own"),
    ("docs/installing.md", "docker", "needs a container engine"),
    (
        "docs/outgoing.md",
        "steadfast serve payments",
        "serves without an end; calls a service of others",
    ),
    (
        "docs/outgoing.md",
        "steadfast serve tickets",
        "serves without an end; calls a service of others",
    ),
    ("docs/replacing.md", "steadfast replace", "typed in docs/how-to/migrate.md"),
    ("docs/replacing.md", "steadfast serve", "typed in docs/how-to/migrate.md, but for the option"),
    ("docs/scale.md", "cargo xtask bench postgres", "a benchmark"),
    ("docs/scale.md", "cargo xtask bench partitions", "a benchmark"),
    (
        "docs/server.md",
        "steadfast serve tickets --tls-cert",
        "`clients::tls` of the server's tests",
    ),
    (
        "docs/server.md",
        "steadfast serve tickets --otlp",
        "needs a collector; `cli::traces` has one",
    ),
    (
        "docs/simulate.md",
        "$ steadfast simulate shop.design",
        "shows a design that is wrong; `simulator` has such",
    ),
    ("docs/simulate.md", "$ steadfast verify", "shows a store with a thousand transitions"),
];

/// Words that are typed at a shell, at the start of an indented line.
const TYPED: &[&str] = &[
    "steadfast",
    "curl",
    "cargo",
    "docker",
    "createdb",
    "systemctl",
    "useradd",
    "install",
    "tar",
    "sha256sum",
    "java",
    "TOKEN=$(steadfast",
    "export",
];

/// `steadfast …` in code on one line of prose, in a table, or in a block.
fn named(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = None;
    for line in page.lines() {
        if let Some(info) = line.strip_prefix("```") {
            fenced = match fenced {
                None => Some(info.to_string()),
                Some(_) => None,
            };
            continue;
        }
        let typed = match &fenced {
            Some(info) if info == "console" => line.strip_prefix("$ "),
            Some(_) => None,
            None => line.strip_prefix("    "),
        };
        if let Some(typed) = typed {
            let typed = typed.strip_prefix("$ ").unwrap_or(typed);
            found.extend(typed.strip_prefix("steadfast ").map(String::from));
        } else if fenced.is_none() && !line.starts_with("    ") {
            let code = line.split('`').skip(1).step_by(2);
            found.extend(code.filter_map(|code| code.strip_prefix("steadfast ")).map(String::from));
        }
    }
    found
}

/// The words of a command as a shell would take them apart, up to the next command.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for c in line.chars() {
        match (quote, c) {
            (None, '(') if word.ends_with('$') => quote = Some(')'),
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, ';' | '|' | '>' | '&') => break,
            (None, '\\') => break,
            (None, ' ') => {
                words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            }
            (_, c) => word.push(c),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// Whether the program takes these words. With `--help` at the end nothing is done, and what stands
/// before it is still read.
fn taken(words: &[String]) -> Result<(), String> {
    let mut all: Vec<&str> = words.iter().map(String::as_str).collect();
    // `…` stands for whatever comes here, and brackets for what may be left out
    all.retain(|word| !word.contains('…'));
    let optional = |word: &str| match word.trim_matches(['[', ']']) {
        "ENGINE" => "postgres".to_string(),
        word => word.to_string(),
    };
    let all: Vec<String> = all.into_iter().map(optional).filter(|word| word != "\\|").collect();
    let mut all: Vec<&str> = all.iter().map(String::as_str).collect();
    all.push("--help");
    let ran = command(&folder("empty"), &all).stdout(Stdio::null()).output().unwrap();
    let told = String::from_utf8_lossy(&ran.stderr).into_owned();
    ran.status.success().then_some(()).ok_or(told)
}

#[test]
fn every_command_that_a_page_names_is_taken() {
    let (mut count, mut wrong) = (0, Vec::new());
    for (name, page) in pages() {
        for line in named(&page) {
            let words = words(&line);
            // `steadfast --help`, and names of files
            if words.first().is_none_or(|first| first.starts_with(['-', 'N'])) {
                continue;
            }
            count += 1;
            if let Err(why) = taken(&words) {
                wrong.push(format!("{name}: `steadfast {line}`\n{why}"));
            }
        }
    }
    assert!(count >= 100, "{count} commands");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_not_typed_by_a_test_is_listed() {
    let mut found = Vec::new();
    for (name, page) in pages() {
        let transcript = page.lines().any(|line| line.starts_with("    $ "));
        // these have tests of their own, which type every line
        let own = ["docs/first-steps.md", "docs/derivation.md"].contains(&name.as_str());
        if own || name == "README.md" && transcript {
            continue;
        }
        let mut before = "";
        for line in page.lines() {
            let typed = line
                .strip_prefix("    ")
                .filter(|line| TYPED.iter().any(|word| line.split(' ').next() == Some(word)));
            // the first line of a block
            if let Some(typed) = typed.filter(|_| !before.starts_with("    ")) {
                found.push((name.clone(), typed.to_string()));
            }
            before = line;
        }
        for block in blocks(&page) {
            let typed = block.lines.iter().find(|line| line.starts_with("$ "));
            if let Some(typed) = typed.filter(|_| block.info != "console") {
                found.push((name.clone(), typed.clone()));
            }
        }
    }
    let listed = |name: &str, line: &str| {
        NOT_RUN.iter().any(|(page, begins, _)| *page == name && line.starts_with(begins))
    };
    let unlisted: Vec<_> = found.iter().filter(|(name, line)| !listed(name, line)).collect();
    assert!(unlisted.is_empty(), "nobody types {unlisted:#?}");
    for (page, begins, why) in NOT_RUN {
        let there = found.iter().any(|(name, line)| name == page && line.starts_with(begins));
        assert!(there, "{page}: `{begins}` is listed ({why}), and not there");
    }
}

#[test]
fn a_command_that_is_not_taken_is_caught() {
    assert!(taken(&words("check tickets --report x.html")).is_ok());
    assert!(taken(&words("check tickets --repotr x.html")).is_err());
    assert!(taken(&words("chekc tickets")).is_err());
    assert_eq!(words("find 'a b' c; echo"), ["find", "a b", "c"]);
    assert_eq!(named("`steadfast list` and\n\n    $ steadfast show A08\n"), ["list", "show A08"]);
}
