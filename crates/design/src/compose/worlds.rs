//! The small worlds of what is used: each archetype brings its own.

use rustc_hash::FxHashMap;
use syntax::tree::{CheckEntry, CheckItem, CheckKey, CheckValue, Expr, ExprKind, ItemKind};
use syntax::{FileId, Span};

use super::flat::{Edit, Flat};
use super::naming::Naming;
use super::{Composer, Part};
use crate::analysis::DefinitionKind as Kind;
use crate::archetype::rename;
use crate::model::{Design, OperationKind, Type};

const FLAT: FileId = FileId(0);

/// One `check` of an archetype, in the words of the design that uses it.
#[derive(Clone, Debug)]
pub struct UsedWorld {
    /// none: the default one
    name: Option<String>,
    /// of a named one
    goals: Vec<String>,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    words: Vec<String>,
    value: Flat,
    kind: EntryKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum EntryKind {
    /// of something that only this archetype has
    Own,
    /// how many there are of an actor, who may be another's, too
    Actor,
    /// faults, depth, symmetry …
    Setting,
}

impl Entry {
    fn key(&self) -> String {
        self.words.join(".")
    }

    fn said(&self) -> String {
        let text = self.value.text();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn number(&self) -> Option<u32> {
        self.said().parse().ok()
    }
}

impl Composer<'_> {
    /// Notes the worlds of an archetype. Its goals are noted already.
    pub(super) fn take_worlds(
        &mut self,
        part: &mut Part,
        design: &Design,
        naming: &Naming<'_>,
        flat: &Flat,
    ) {
        let targets = Targets::new(design, naming, &part.used.noun);
        let items = syntax::parse(&flat.text(), FLAT).tree.items;
        let left = |goal: &String| part.used.left_out.iter().any(|held| held.goal == *goal);
        let mut worlds = Vec::new();
        for item in &items {
            let ItemKind::Check(check) = &item.kind else { continue };
            let mut entries = Vec::new();
            for entry in &check.entries {
                targets.entries(entry, flat, &mut entries);
            }
            let hidden = |entry: &Entry| part.used.hidden.contains(&entry.words[0]);
            entries.retain(|entry| entry.words.len() < 2 || !hidden(entry));
            let name = check.named.as_ref().map(|named| named.name.text.clone());
            let goals = check.named.iter().flat_map(|named| &named.goals);
            let goals = goals.map(|goal| goal.text.clone()).filter(|goal| !left(goal)).collect();
            worlds.push(UsedWorld { name, goals, entries });
        }
        part.worlds = worlds;
    }

    /// One default world for everything, and a world for the goals of each part that has another one.
    pub(super) fn join_worlds(&mut self, flat: Flat, parts: &[Part]) -> Flat {
        if parts.iter().all(|part| part.worlds.is_empty()) {
            return flat;
        }
        let text = flat.text();
        let items = syntax::parse(&text, FLAT).tree.items;
        let checks = || {
            items.iter().filter_map(|item| match &item.kind {
                ItemKind::Check(check) => Some((item, check)),
                _ => None,
            })
        };
        let own = checks().find(|(_, check)| check.named.is_none());
        let taken: Vec<String> = checks()
            .filter_map(|(_, check)| check.named.as_ref())
            .flat_map(|named| named.goals.iter().map(|goal| goal.text.clone()))
            .collect();
        let written: Vec<Entry> = own.map_or_else(Vec::new, |(_, check)| plain(check, &flat));
        let more = default_of(&written, parts);
        let mut edits = Vec::new();
        let place = own.map(|(item, _)| item.span);
        let mut after = Flat::default();
        match own {
            Some((item, _)) => {
                let at = item.span.end - 1;
                edits.push(Edit { range: at..at, with: lines(&more) });
            }
            None => {
                let from = parts[0].used.span;
                after.push("\n\ncheck {\n".into(), from);
                after.append(lines(&more));
                after.push("}\n".into(), from);
            }
        }
        let default: Vec<Entry> = written.iter().chain(&more).cloned().collect();
        for part in parts {
            for world in &part.worlds {
                let goals = match world.name {
                    Some(_) => world.goals.clone(),
                    None => rest_of(part),
                };
                let goals: Vec<String> =
                    goals.into_iter().filter(|goal| !taken.contains(goal)).collect();
                if goals.is_empty() || world.name.is_none() && says_the_same(&default, world) {
                    continue;
                }
                let name = world.name.clone().unwrap_or_else(|| part.used.scope.clone());
                let from = part.used.span;
                after.push(format!("\n\ncheck {name} for {} {{\n", goals.join(", ")), from);
                after.append(lines(&world.entries));
                after.append(lines(&beside(&default, world, part)));
                after.push("}\n".into(), from);
            }
        }
        let end = place.map_or(flat.len(), |span| span.end);
        edits.push(Edit { range: end..end, with: after });
        flat.edited(edits)
    }
}

/// The goals that no named world of the archetype judges.
fn rest_of(part: &Part) -> Vec<String> {
    let elsewhere: Vec<&String> = part.worlds.iter().flat_map(|world| &world.goals).collect();
    part.goals.iter().filter(|goal| !elsewhere.contains(goal)).cloned().collect()
}

/// What the default world takes from the archetypes.
fn default_of(written: &[Entry], parts: &[Part]) -> Vec<Entry> {
    let mut more: Vec<Entry> = Vec::new();
    let defaults = || {
        let worlds = parts.iter().flat_map(|part| &part.worlds);
        worlds.filter(|world| world.name.is_none())
    };
    let count = defaults().count();
    for entry in defaults().flat_map(|world| &world.entries) {
        if overridden(written, entry) {
            continue;
        }
        let Some(held) = more.iter_mut().find(|held| held.words == entry.words) else {
            let said = defaults()
                .filter(|world| world.entries.iter().any(|other| other.words == entry.words));
            // bounds on the exploration hold only where everybody has them
            let bound = ["unknowns", "depth"].contains(&entry.words[0].as_str());
            if entry.kind != EntryKind::Setting || !bound || said.count() == count {
                more.push(entry.clone());
            }
            continue;
        };
        match entry.kind {
            EntryKind::Setting if entry.words == ["faults"] => held.value = faults(held, entry),
            _ if entry.number() > held.number() => held.value = entry.value.clone(),
            _ => {}
        }
    }
    more
}

/// Has the design said this itself, of all that have the name or of this one?
fn overridden(written: &[Entry], entry: &Entry) -> bool {
    let last = entry.words.last();
    written
        .iter()
        .any(|own| own.words == entry.words || own.words.len() == 1 && own.words.first() == last)
}

/// Both, each with the larger budget.
fn faults(one: &Entry, other: &Entry) -> Flat {
    let list = |entry: &Entry| -> Vec<(String, Option<u32>)> {
        let said = entry.said();
        let words = said.split(',').map(str::trim);
        words
            .map(|word| match word.split_once(' ') {
                Some((name, budget)) => (name.to_string(), budget.trim().parse().ok()),
                None => (word.to_string(), None),
            })
            .collect()
    };
    let mut all = list(one);
    for (name, budget) in list(other) {
        match all.iter_mut().find(|(held, _)| *held == name) {
            Some((_, held)) => *held = held.zip(budget).map(|(a, b)| a.max(b)),
            None => all.push((name, budget)),
        }
    }
    let words: Vec<String> = all
        .into_iter()
        .map(|(name, budget)| match budget {
            Some(budget) => format!("{name} {budget}"),
            None => name,
        })
        .collect();
    Flat::piece(words.join(", "), one.value.origin(Span::new(FLAT, 0, 0)))
}

/// Would the goals of this archetype be judged in the same world if they were judged in the default one?
fn says_the_same(default: &[Entry], world: &UsedWorld) -> bool {
    let settings = |entries: &[Entry]| -> Vec<(String, String)> {
        let named = entries.iter().filter(|entry| entry.kind == EntryKind::Setting);
        let mut all: Vec<_> = named.map(|entry| (entry.key(), entry.said())).collect();
        all.sort();
        all
    };
    let same = |entry: &Entry| {
        let held = default.iter().find(|held| held.words == entry.words);
        let bare = || {
            default.iter().find(|held| {
                held.kind == EntryKind::Own
                    && held.words.len() == 1
                    && held.words.last() == entry.words.last()
            })
        };
        held.or_else(bare).is_some_and(|held| held.said() == entry.said())
    };
    settings(default) == settings(&world.entries)
        && world.entries.iter().filter(|entry| entry.kind != EntryKind::Setting).all(same)
}

/// What the default world says of everything else: not of what is this archetype's own, since a world takes nothing from
/// another.
fn beside(default: &[Entry], world: &UsedWorld, part: &Part) -> Vec<Entry> {
    let own = |entry: &Entry| {
        let mut all = part.worlds.iter().flat_map(|world| &world.entries);
        entry.kind == EntryKind::Own && all.any(|held| held.words == entry.words)
    };
    let said = |entry: &Entry| {
        if own(entry) {
            return true;
        }
        let bare = entry.kind == EntryKind::Own && entry.words.len() == 1;
        world
            .entries
            .iter()
            .any(|own| own.words == entry.words || bare && entry.words.last() == own.words.last())
    };
    let others = default.iter().filter(|entry| entry.kind != EntryKind::Setting && !said(entry));
    others.cloned().collect()
}

/// The entries of the design's own `check`.
fn plain(check: &CheckItem, flat: &Flat) -> Vec<Entry> {
    let named = check.entries.iter().filter_map(|entry| {
        let CheckKey::Name(names) = &entry.key else { return None };
        let words: Vec<String> = names.iter().map(|name| name.text.clone()).collect();
        let kind =
            if is_setting(&words, &entry.value) { EntryKind::Setting } else { EntryKind::Own };
        Some(Entry { words, value: value_of(entry, flat), kind })
    });
    named.collect()
}

fn is_setting(words: &[String], value: &CheckValue) -> bool {
    const SETTINGS: [&str; 9] =
        ["horizon", "unknowns", "messages", "calls", "log", "depth", "list", "time", "schedules"];
    let [word] = words else { return false };
    match value {
        CheckValue::Words(_) => ["faults", "symmetry"].contains(&word.as_str()),
        CheckValue::Number(_) => SETTINGS.contains(&word.as_str()),
        _ => false,
    }
}

/// What stands after the colon.
fn value_of(entry: &CheckEntry, flat: &Flat) -> Flat {
    flat.slice(value_start(entry, flat)..entry.span.end)
}

fn value_start(entry: &CheckEntry, flat: &Flat) -> u32 {
    let start = match &entry.key {
        CheckKey::Name(names) => names.last().map_or(entry.span.start, |name| name.span.end),
        CheckKey::Duration(duration) => duration.span.end,
    };
    let text = flat.slice(start..entry.span.end).text();
    let colon = text.find(':').map_or(0, |at| at as u32 + 1);
    let blank = text[colon as usize..].len() - text[colon as usize..].trim_start().len();
    start + colon + blank as u32
}

fn lines(entries: &[Entry]) -> Flat {
    let mut all = Flat::default();
    for entry in entries {
        let from = entry.value.origin(Span::new(FLAT, 0, 0));
        all.push(format!("    {}: ", entry.key()), Span::new(from.file, from.start, from.start));
        all.append(entry.value.clone());
        all.push("\n".into(), Span::new(from.file, from.start, from.start));
    }
    all
}

/// What the words of an archetype's `check` stand for, by the names that they have in the design.
struct Targets {
    /// (owner, name): with the noun for `X`, and as the design has them
    sized: Vec<Sized>,
    actors: FxHashMap<String, String>,
    states: FxHashMap<String, String>,
    /// of (state, attribute)
    attributes: FxHashMap<(String, String), String>,
}

struct Sized {
    owner: String,
    name: String,
    new: [String; 2],
    is_actor: bool,
}

impl Targets {
    fn new(design: &Design, naming: &Naming<'_>, noun: &str) -> Targets {
        let subjects = naming.by_old_name(&[Kind::Subject]);
        let operations = naming.by_old_name(&[Kind::Operation]);
        let actors = naming.by_old_name(&[Kind::Actor]);
        let states = naming.by_old_name(&[Kind::State]);
        let mut sized = Vec::new();
        let mut add = |owner: &str, names: &FxHashMap<String, String>, name: &str, ty: &Type| {
            let member = naming.member(owner, name);
            let (owner, name) = (rename(owner, noun), rename(name, noun));
            let new = names.get(&owner).cloned().unwrap_or_else(|| owner.clone());
            let is_actor = *ty.required() == Type::Actor;
            let member = member.unwrap_or_else(|| name.clone());
            sized.push(Sized { new: [new, member], owner, name, is_actor });
        };
        for subject in &design.subjects {
            for key in &subject.keys {
                let finite = matches!(
                    key.ty,
                    Type::Ref(_) | Type::Bool | Type::Enum(_) | Type::Actor | Type::Error
                );
                if !finite {
                    add(&subject.name, &subjects, &key.name, &key.ty);
                }
            }
        }
        for operation in &design.operations {
            for param in &operation.params {
                if !matches!(param.ty.required(), Type::Ref(_)) {
                    add(&operation.name, &operations, &param.name, &param.ty);
                }
            }
            if let OperationKind::Effect(effect) = &operation.kind
                && let Some(local) = effect.on_ok.param
            {
                let local = &operation.locals[local.index()];
                add(&operation.name, &operations, &local.name, &local.ty);
            }
        }
        let mut attributes = FxHashMap::default();
        for subject in &design.subjects {
            for attribute in &subject.attributes {
                let state = &subject.states[attribute.state.index()].name;
                if let Some(new) = naming.member(state, &attribute.name) {
                    let key = (rename(state, noun), rename(&attribute.name, noun));
                    attributes.insert(key, new);
                }
            }
        }
        Targets { sized, actors, states, attributes }
    }

    /// The entries that one entry of the archetype stands for.
    fn entries(&self, entry: &CheckEntry, flat: &Flat, all: &mut Vec<Entry>) {
        let CheckKey::Name(names) = &entry.key else { return };
        let words: Vec<String> = names.iter().map(|name| name.text.clone()).collect();
        let value = value_of(entry, flat);
        let mut push = |words: Vec<String>, value: Flat, kind: EntryKind| {
            if !all.iter().any(|held: &Entry| held.words == words) {
                all.push(Entry { words, value, kind });
            }
        };
        let of_actors = || self.actors_in(entry, &value, flat);
        match words.as_slice() {
            [word] => {
                let mut found = false;
                if let Some(actor) = self.actors.get(word) {
                    push(vec![actor.clone()], value.clone(), EntryKind::Actor);
                    found = true;
                }
                for target in self.sized.iter().filter(|target| target.name == *word) {
                    let value = if target.is_actor { of_actors() } else { value.clone() };
                    push(target.new.to_vec(), value, EntryKind::Own);
                    found = true;
                }
                if !found {
                    let setting = is_setting(&words, &entry.value);
                    let kind = if setting { EntryKind::Setting } else { EntryKind::Own };
                    push(words, value, kind);
                }
            }
            [owner, name] => {
                let target = self.sized.iter().find(|it| it.owner == *owner && it.name == *name);
                let new = match (target, self.states.get(owner)) {
                    (Some(target), _) => target.new.to_vec(),
                    (None, Some(state)) => {
                        let member = self.attributes.get(&(owner.clone(), name.clone()));
                        vec![state.clone(), member.unwrap_or(name).clone()]
                    }
                    (None, None) => words.clone(),
                };
                let is_actor = target.is_some_and(|target| target.is_actor);
                let value = if is_actor { of_actors() } else { value.clone() };
                // what is said of one goes before what is said of all that have the name
                match all.iter_mut().find(|held| held.words == new) {
                    Some(held) => held.value = value,
                    None => all.push(Entry { words: new, value, kind: EntryKind::Own }),
                }
            }
            _ => push(words, value, EntryKind::Own),
        }
    }

    /// `{buyer, seller}`, as the design calls them
    fn actors_in(&self, entry: &CheckEntry, value: &Flat, flat: &Flat) -> Flat {
        let CheckValue::Values(values) = &entry.value else { return value.clone() };
        let start = value_start(entry, flat);
        let mut edits = Vec::new();
        for Expr { kind, span } in values {
            let ExprKind::Name(name) = kind else { continue };
            if let Some(new) = self.actors.get(&name.text) {
                let with = Flat::piece(new.clone(), flat.origin(*span));
                edits.push(Edit { range: span.start - start..span.end - start, with });
            }
        }
        value.edited(edits)
    }
}
