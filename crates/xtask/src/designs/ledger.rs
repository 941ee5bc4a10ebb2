//! `designs/LEDGER.md`: what the catalog has to cover, and what its designs do cover.
//!
//! A state counts when it is declared with its attributes; an action, when its operations are there
//! and were seen to happen; a protocol, when a protocol of the design has its paths, step by step,
//! and each guard reads what it must; a failure, when the checker found its protection load-bearing,
//! when the compiler refuses it, or when it is declared as covered by another protection; a hotspot,
//! when it is bound to something that is counted; a pair of prevention and repair, when its failure counts and
//! the operations that repair it were seen to happen.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::facts::{Archetype, Facts, Pair, Path, Protocol};
use super::outline::{self, Outline};
use super::shown::Carried;
use super::verdict::{Failure, Verdict};

/// A design as the ledger sees it.
pub struct Design {
    pub id: String,
    pub outline: Outline,
    pub verdict: Verdict,
    /// what came of carrying out its failures
    pub carried: Vec<Carried>,
    /// protocols that are walked through over HTTP
    pub driven: BTreeSet<String>,
}

const HEAD: &str = "\
# Ledger

What each archetype has to cover, and how much of it its design does cover. The
tables in [facts](facts/) say what there is to cover; the design, and the verdict beside it, say what
is covered. This page is written by `cargo xtask designs`, and the tests fail when it is no longer
true.

- **states**: declared, with the attributes that the protocols read
- **actions**: the write and read paths, each as operations that the checker saw happen
- **lines**: the lines of the sheet of actions that `explain` derives from the design
- **protocols**, **steps**: found as paths, with these actors, operations and outcomes, and guards
  that read what they must
- **driven**: protocols that a test client walks through over HTTP, on a server that is killed on the
  way, as the script beside the design tells; of products, the protocols that the design declares
- **failures**: proven both ways: unreachable as written, and reachable once the protection is taken
  away; or refused by the compiler; or declared as covered by a second protection, and found so
- **measured**: those of the failures that are quantities, and are watched at run time instead
- **shown**: histories of failures that were carried out on a server: [the list](SHOWN.md)
- **hotspots**: bound to what gets hot, and counted at run time under this name
- **pairs**: failures of which a prevention and a repair are known: the prevention is proven as above,
  and the operations that repair were seen to happen
- **families**: the invariant families that are known to matter, and that a goal is written with
- **known**: family, group, special move, security and domains, as `explain` shows them

What becomes of each verdict when a number of its world is one larger stands in
[larger worlds](LARGER.md).

";

/// Covered, of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count(usize, usize);

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
        self.1 += other.1;
    }
}

#[derive(Debug, Default)]
struct Row {
    states: Count,
    actions: Count,
    lines: Count,
    protocols: Count,
    steps: Count,
    driven: Count,
    failures: Count,
    measured: usize,
    shown: Count,
    hotspots: Count,
    pairs: Count,
    families: Count,
    known: Count,
    missing: Vec<String>,
}

pub fn page(facts: &Facts, designs: &[Design]) -> String {
    let mut out = String::from(HEAD);
    out.push_str(
        "| archetype | states | actions | lines | protocols | steps | driven | failures | measured | \
         shown | hotspots | pairs | families | known |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let mut all = Row::default();
    let mut missing = String::new();
    let mut unwritten = Vec::new();
    for archetype in &facts.archetypes {
        let design = designs.iter().find(|design| design.id == archetype.id);
        let mut row = row(archetype, design);
        row.known = Count(archetype.notes.len(), facts.kinds.len());
        let name = match design {
            Some(_) => {
                let (id, folder) = (&archetype.id, archetype.folder());
                format!("[{id}]({folder}/{id}.design) {}", archetype.name)
            }
            None => format!("{} {}, not written yet", archetype.id, archetype.name),
        };
        line(&mut out, &name, &row);
        if design.is_none() {
            unwritten.push(format!("{} {}", archetype.id, archetype.name));
        } else if !row.missing.is_empty() {
            let _ = write!(missing, "\n### {}\n\n", archetype.id);
            for what in &row.missing {
                let _ = writeln!(missing, "- {what}");
            }
        }
        all.add(&row);
    }
    line(&mut out, "all", &all);
    if !unwritten.is_empty() {
        out.push_str("\n## What has no design yet\n\n");
        for archetype in unwritten {
            let _ = writeln!(out, "- {archetype}");
        }
    }
    out.push_str("\n## What designs still lack\n");
    match missing.is_empty() {
        true => out.push_str("\nNothing, of those that there are.\n"),
        false => out.push_str(&missing),
    }
    out
}

impl Row {
    fn add(&mut self, other: &Self) {
        self.states += other.states;
        self.actions += other.actions;
        self.lines += other.lines;
        self.protocols += other.protocols;
        self.steps += other.steps;
        self.driven += other.driven;
        self.failures += other.failures;
        self.measured += other.measured;
        self.shown += other.shown;
        self.hotspots += other.hotspots;
        self.pairs += other.pairs;
        self.families += other.families;
        self.known += other.known;
    }
}

fn line(out: &mut String, name: &str, row: &Row) {
    let cell = |count: Count| match count {
        Count(_, 0) => "-".to_owned(),
        Count(covered, total) => format!("{covered} / {total}"),
    };
    let _ = writeln!(
        out,
        "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        cell(row.states),
        cell(row.actions),
        cell(row.lines),
        cell(row.protocols),
        cell(row.steps),
        cell(row.driven),
        cell(row.failures),
        row.measured,
        cell(row.shown),
        cell(row.hotspots),
        cell(row.pairs),
        cell(row.families),
        cell(row.known),
    );
}

fn row(archetype: &Archetype, design: Option<&Design>) -> Row {
    let mut row = Row::default();
    for state in &archetype.states {
        let names = [Some(&state.name), state.also.as_ref()].into_iter().flatten();
        let found =
            design.and_then(|design| names.into_iter().find_map(|name| design.outline.kept(name)));
        let lacks: Option<Vec<&str>> = found.map(|declared| {
            let names = state.attributes.iter().filter(|name| !declared.contains(*name));
            names.map(String::as_str).collect()
        });
        row.states += count(
            &mut row.missing,
            match lacks {
                None => Some(format!("state `{}`", state.name)),
                Some(lacks) if lacks.is_empty() => None,
                Some(lacks) => Some(format!("state `{}`: `{}`", state.name, lacks.join("`, `"))),
            },
        );
    }
    for action in &archetype.actions {
        let seen = |operation: &String| design.is_some_and(|design| design.happens(operation));
        let covered = !action.operations.is_empty() && action.operations.iter().all(seen);
        row.actions +=
            count(&mut row.missing, (!covered).then(|| format!("action: {}", action.name)));
    }
    for (line, held) in &archetype.lines {
        let covered = *held && design.is_some();
        row.lines += count(&mut row.missing, (!covered).then(|| format!("action line: {line}")));
    }
    for protocol in &archetype.protocols {
        let (steps, lacks) = covered_steps(protocol, design);
        row.steps += steps;
        row.protocols += count(&mut row.missing, lacks);
        let driven = design.is_some_and(|design| design.is_driven_through(protocol));
        let lacks = format!("protocol `{}`: not driven over HTTP", protocol.name);
        row.driven += count(&mut row.missing, (!driven).then_some(lacks));
    }
    if archetype.protocols.is_empty() {
        // nothing says which protocols there have to be, so those that the design declares are driven
        let declared = design.into_iter().flat_map(|design| design.outline.protocols.keys());
        for name in declared {
            let driven = design.is_some_and(|design| design.driven.contains(name));
            let lacks = format!("protocol `{name}`: not driven over HTTP");
            row.driven += count(&mut row.missing, (!driven).then_some(lacks));
        }
    }
    for failure in &archetype.failures {
        let (covered, measured) = proven(failure, design);
        row.measured += usize::from(measured);
        row.failures += count(&mut row.missing, (!covered).then(|| format!("failure: {failure}")));
    }
    for carried in design.iter().flat_map(|design| &design.carried) {
        let lacks = || format!("{}, {}: {}", carried.title, carried.claim, carried.result);
        row.shown += count(&mut row.missing, (!carried.is_shown()).then(lacks));
    }
    for hotspot in &archetype.hotspots {
        let covered = design.is_some_and(|design| design.outline.hotspots.contains(hotspot));
        row.hotspots += count(&mut row.missing, (!covered).then(|| format!("hotspot: {hotspot}")));
    }
    for pair in &archetype.pairs {
        row.pairs += count(&mut row.missing, unpaired(pair, design));
    }
    for family in &archetype.families {
        let used = design.is_some_and(|design| design.outline.families.contains(family));
        let lacks = format!("family of invariants: `{family}`, in no goal");
        row.families += count(&mut row.missing, (!used).then_some(lacks));
    }
    row
}

fn count(missing: &mut Vec<String>, what: Option<String>) -> Count {
    let covered = usize::from(what.is_none());
    missing.extend(what);
    Count(covered, 1)
}

/// What a pair lacks.
fn unpaired(pair: &Pair, design: Option<&Design>) -> Option<String> {
    let happens = |operation: &&String| design.is_some_and(|design| design.happens(operation));
    let unseen: Vec<&str> =
        pair.repaired_by.iter().filter(|by| !happens(by)).map(String::as_str).collect();
    let what = if !proven(&pair.failure, design).0 {
        "its prevention is not proven".to_owned()
    } else if pair.repaired_by.is_empty() {
        format!("nothing repairs it: {}", pair.repair)
    } else if !unseen.is_empty() {
        format!("its repair was not seen: `{}`", unseen.join("`, `"))
    } else {
        return None;
    };
    Some(format!("pair: {}: {what}", pair.failure))
}

impl Design {
    /// Is each of its paths in a protocol that the script beside the design walks through?
    fn is_driven_through(&self, protocol: &Protocol) -> bool {
        let mut driven =
            self.outline.protocols.iter().filter(|(name, _)| self.driven.contains(*name));
        protocol.paths.iter().all(|path| {
            driven.clone().any(|(_, paths)| paths.iter().any(|found| same(path, found)))
        }) && driven.next().is_some()
    }

    /// Is there such an operation or view, and was it seen to happen?
    fn happens(&self, operation: &str) -> bool {
        let declared = self.outline.operations.contains_key(operation)
            || self.outline.views.contains(operation);
        let name = operation.split(['[', ']']).nth(1).unwrap_or(operation);
        let unseen =
            |what: &String| what.split(' ').next() == Some(name) && !what.contains("refuse");
        declared && !self.verdict.unseen.iter().any(unseen)
    }
}

/// The steps that are there, and what the protocol lacks.
fn covered_steps(protocol: &Protocol, design: Option<&Design>) -> (Count, Option<String>) {
    let all: usize = protocol.paths.iter().map(|path| path.steps.len()).sum();
    let lacks = |what: String| Some(format!("protocol `{}`: {what}", protocol.name));
    let Some(design) = design else {
        return (Count(0, all), lacks("no design".into()));
    };
    let mut covered = 0;
    let mut problems = BTreeSet::new();
    for step in protocol.paths.iter().flat_map(|path| &path.steps) {
        let Some(guard) = design.outline.operations.get(&step.operation) else {
            problems.insert(format!("no `{}`", step.operation));
            continue;
        };
        let unread = step.reads.iter().filter(|read| {
            !read.split('.').next_back().is_some_and(|attribute| guard.contains(attribute))
        });
        let unread: Vec<&str> = unread.map(String::as_str).collect();
        if unread.is_empty() {
            covered += 1;
        } else {
            problems.insert(format!(
                "`{}` does not read `{}`",
                step.operation,
                unread.join("`, `")
            ));
        }
    }
    let is_there = |path: &Path| {
        design.outline.protocols.values().any(|paths| paths.iter().any(|found| same(path, found)))
    };
    for path in protocol.paths.iter().filter(|path| !is_there(path)) {
        let steps: Vec<&str> = path.steps.iter().map(|step| step.operation.as_str()).collect();
        problems.insert(format!("no path `{}`", steps.join(" -> ")));
    }
    let problems: Vec<String> = problems.into_iter().collect();
    (Count(covered, all), if problems.is_empty() { None } else { lacks(problems.join("; ")) })
}

fn same(path: &Path, found: &outline::Path) -> bool {
    let steps = path.steps.iter().map(|step| &step.operation);
    steps.eq(found.steps.iter()) && (path.outcome.is_none() || path.outcome == found.outcome)
}

/// Is the failure shown, and is it measured only?
fn proven(failure: &str, design: Option<&Design>) -> (bool, bool) {
    let Some(design) = design else { return (false, false) };
    let said: Vec<&Failure> =
        design.verdict.shown.iter().filter(|shown| shown.title == failure).collect();
    let fine = |shown: &&Failure| {
        shown.status.starts_with("load-bearing in ") && !shown.status.contains("declared in depth")
            || shown.status.ends_with("as declared: defence in depth")
            || shown.status.starts_with("refused, ")
    };
    let measured = said.iter().any(|shown| shown.status.starts_with("measured, "));
    let covered = !said.is_empty()
        && said.iter().all(|shown| fine(shown) || shown.status.starts_with("measured, "));
    (covered, measured)
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
