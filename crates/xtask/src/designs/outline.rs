//! What a design declares, read from its text.
//!
//! Only what the ledger asks for: names of states and attributes, operations with the words of
//! their guards, protocols step by step, hotspots. The text was compiled and formatted before (its
//! verdict says so), so nothing here judges it.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub struct Outline {
    /// subjects, states, logs, caches and blobs, each with the attributes that it declares and
    /// the parts of its key
    pub states: BTreeMap<String, BTreeSet<String>>,
    /// `actor[operation]`, and the words of its guard
    pub operations: BTreeMap<String, BTreeSet<String>>,
    pub views: BTreeSet<String>,
    pub protocols: BTreeMap<String, Vec<Path>>,
    pub hotspots: BTreeSet<String>,
    /// what goals are written with: `progress_never_regresses(…)`
    pub families: BTreeSet<String>,
}

/// `a[x] -> b[y] refused c => done`
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// `a[x]`, `b[y] refused c`
    pub steps: Vec<String>,
    pub outcome: Option<String>,
}

impl Outline {
    /// The attributes of a state, or of a view under this name: what a view shows is derived, and asked of nobody here.
    pub fn kept(&self, name: &str) -> Option<&BTreeSet<String>> {
        static NONE: BTreeSet<String> = BTreeSet::new();
        self.states.get(name).or_else(|| self.views.contains(name).then_some(&NONE))
    }
}

const ITEMS: [&str; 19] = [
    "actor",
    "subject",
    "blob",
    "step",
    "repair",
    "effect",
    "read",
    "view",
    "define",
    "protocol",
    "invariant",
    "recovers",
    "leads_to",
    "failure",
    "defence",
    "hotspot",
    "check",
    "test",
    "use",
];

pub fn outline(text: &str) -> Outline {
    let mut outline = Outline::default();
    let mut defines: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for item in items(text) {
        let words: Vec<&str> = item.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["subject", rest @ ..] => subject(&mut outline, rest),
            ["blob", name, ..] => {
                outline.states.insert((*name).into(), ["digest".to_owned()].into());
            }
            ["step" | "repair" | "effect" | "read", rest @ ..] => operation(&mut outline, rest),
            ["view", name, ..] => {
                outline.views.insert((*name).into());
            }
            ["define", name, rest @ ..] => {
                let _ = defines.insert((*name).into(), strings(rest));
            }
            ["protocol", name, "{", rest @ ..] => {
                outline.protocols.insert((*name).into(), paths(rest));
            }
            // a goal of a part is called `part.goal`
            ["invariant" | "recovers" | "leads_to", _, ":", family, "(", ..]
            | ["invariant" | "recovers" | "leads_to", _, ".", _, ":", family, "(", ..] => {
                outline.families.insert((*family).into());
            }
            ["hotspot", name, ..] => {
                outline.hotspots.insert(name.trim_matches('"').into());
            }
            _ => {}
        }
    }
    for guard in outline.operations.values_mut() {
        spell_out(guard, &defines);
    }
    outline
}

/// A guard that uses a `define` reads what the `define` reads.
fn spell_out(guard: &mut BTreeSet<String>, defines: &BTreeMap<String, BTreeSet<String>>) {
    loop {
        let more: BTreeSet<String> =
            guard.iter().filter_map(|word| defines.get(word)).flatten().cloned().collect();
        let before = guard.len();
        guard.extend(more);
        if guard.len() == before {
            return;
        }
    }
}

/// The tokens of each item. An item begins with its word at the beginning of a line.
fn items(text: &str) -> Vec<Vec<String>> {
    let mut items: Vec<Vec<String>> = Vec::new();
    for line in text.lines() {
        let first = line.split(' ').next().unwrap_or_default();
        let declares = ITEMS.contains(&first);
        if declares {
            items.push(Vec::new());
        }
        if let Some(item) = items.last_mut() {
            tokens(line, item);
        }
    }
    items
}

/// Words, texts in their quotes, arrows, and every other sign by itself; comments are left out.
fn tokens(line: &str, out: &mut Vec<String>) {
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") {
            return;
        } else if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else if first.is_alphanumeric() || first == '_' {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else {
            let arrows = ["|->", "->", "=>", ":="];
            arrows
                .iter()
                .find(|arrow| rest.starts_with(**arrow))
                .map_or(first.len_utf8(), |a| a.len())
        };
        if !first.is_whitespace() {
            out.push(rest[..length].to_owned());
        }
        rest = &rest[length..];
    }
}

fn strings(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// What stands between the bracket that `words` begin with and its partner, and what comes after.
fn bracketed<'w, 't>(words: &'w [&'t str]) -> (&'w [&'t str], &'w [&'t str]) {
    let mut depth = 0;
    for (at, word) in words.iter().enumerate() {
        match *word {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (&words[1.min(at)..at], &words[at + 1..]);
        }
    }
    (&[], &[])
}

fn subject(outline: &mut Outline, words: &[&str]) {
    let [name, rest @ ..] = words else { return };
    let (key, mut rest) = bracketed(rest);
    // the parts of a key are read like attributes
    let key = attributes(key);
    let mut all = key.clone();
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        let kept = matches!(*word, "truth" | "volatile" | "log" | "cache" | "ephemeral");
        let Some((state, after)) = after.split_first().filter(|_| kept) else { continue };
        let Some(open) = after.iter().position(|word| *word == "{") else { continue };
        let (body, after) = bracketed(&after[open..]);
        let mut declared = attributes(body);
        declared.extend(key.iter().cloned());
        all.extend(declared.iter().cloned());
        if *word == "log" {
            declared.extend(["start", "end", "offset"].map(str::to_owned));
        }
        outline.states.insert((*state).to_owned(), declared);
        rest = after;
    }
    outline.states.entry((*name).to_owned()).or_default().extend(all);
}

/// The names before a colon, outside of brackets.
fn attributes(words: &[&str]) -> BTreeSet<String> {
    let named = words.windows(2).filter(|pair| pair[1] == ":").map(|pair| pair[0].to_owned());
    named.collect()
}

fn operation(outline: &mut Outline, words: &[&str]) {
    let [actor, rest @ ..] = words else { return };
    let (head, _) = bracketed(rest);
    let Some((name, mut head)) = head.split_first() else { return };
    if head.first() == Some(&"(") {
        (_, head) = bracketed(head);
    }
    let guard = if head.first() == Some(&"{") { bracketed(head).0 } else { &[] };
    outline.operations.insert(format!("{actor}[{name}]"), strings(guard));
}

fn paths(mut words: &[&str]) -> Vec<Path> {
    let mut paths = Vec::new();
    let mut path = Path::default();
    while let Some((word, rest)) = words.split_first() {
        words = rest;
        match (*word, rest) {
            ("=>", [outcome, rest @ ..]) => {
                path.outcome = Some((*outcome).to_owned());
                paths.push(std::mem::take(&mut path));
                words = rest;
            }
            ("|->", _) if !path.steps.is_empty() => paths.push(std::mem::take(&mut path)),
            ("refused", [clause, rest @ ..]) => {
                if let Some(step) = path.steps.last_mut() {
                    *step = format!("{step} refused {clause}");
                }
                words = rest;
            }
            (actor, ["[", ..]) => {
                let (head, rest) = bracketed(rest);
                path.steps.push(format!("{actor}[{}]", head.first().unwrap_or(&"")));
                words = rest;
            }
            _ => {}
        }
    }
    if !path.steps.is_empty() {
        paths.push(path);
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
archetype I99 Doors \"Doors\"

subject Door(door: text, floor: Floor) {
    // a truth Lie { no: int }
    truth DoorState { open: bool = false, colour: (RED | GREEN)? }
        visible to guard where keeper = me
    log Moves { by: actor } retain 90d
}

blob Picture

define is_shut(door: Door) = not door.open

step guard[open_it(door: Door, n: int = 1) {
    shut: is_shut(door)
    few: n < 3
}] { DoorState.open := true }

read guard[look] = Open()

view Open = count Door where open

protocol main { guard[open_it { is_shut(door) }] -> guard[look] => done }

protocol repair {
    guard[open_it] refused shut => retry
        |-> guard[look] -> guard[open_it]
}

invariant forward: progress_never_regresses(Door, opened)
invariant few: all d in Door: count(d) < 3

hotspot \"front // door\" on Door
";

    fn set(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn states_and_their_attributes_are_read() {
        let outline = outline(TEXT);
        let names: Vec<&str> = outline.states.keys().map(String::as_str).collect();
        assert_eq!(names, ["Door", "DoorState", "Moves", "Picture"]);
        assert_eq!(outline.states["DoorState"], set(&["door", "floor", "open", "colour"]));
        assert_eq!(outline.states["Door"], set(&["door", "floor", "open", "colour", "by"]));
        assert_eq!(
            outline.states["Moves"],
            set(&["door", "floor", "by", "start", "end", "offset"])
        );
    }

    #[test]
    fn operations_have_the_words_of_their_guards_defines_spelled_out() {
        let outline = outline(TEXT);
        let names: Vec<&str> = outline.operations.keys().map(String::as_str).collect();
        assert_eq!(names, ["guard[look]", "guard[open_it]"]);
        let guard = &outline.operations["guard[open_it]"];
        assert!(guard.contains("open") && guard.contains("few"), "{guard:?}");
        assert!(outline.operations["guard[look]"].is_empty());
        assert_eq!(outline.views, set(&["Open"]));
    }

    #[test]
    fn protocols_are_paths_of_steps() {
        let outline = outline(TEXT);
        let path = |steps: &[&str], outcome: Option<&str>| Path {
            steps: steps.iter().map(|step| (*step).to_owned()).collect(),
            outcome: outcome.map(str::to_owned),
        };
        assert_eq!(
            outline.protocols["main"],
            [path(&["guard[open_it]", "guard[look]"], Some("done"))]
        );
        assert_eq!(
            outline.protocols["repair"],
            [
                path(&["guard[open_it] refused shut"], Some("retry")),
                path(&["guard[look]", "guard[open_it]"], None)
            ]
        );
        assert_eq!(outline.hotspots, set(&["front // door"]));
        assert_eq!(outline.families, set(&["progress_never_regresses"]));
    }
}
