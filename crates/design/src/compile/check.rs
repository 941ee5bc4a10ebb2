//! The small world of `check { … }`: everything that the checker must enumerate is finite in it.

use rustc_hash::FxHashMap;
use syntax::tree::{self, CheckItem, CheckKey, CheckName, CheckValue, Item, ItemKind};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::relevance::looked_at;
use crate::model::*;
use crate::suggest;

/// What was written in `check`, findable by name.
#[derive(Default)]
pub(super) struct Entries {
    pub(super) list: Vec<Entry>,
    by_name: FxHashMap<Vec<String>, usize>,
}

/// One entry, and whether anything asked for it.
pub(super) struct Entry {
    pub words: Vec<String>,
    pub value: CheckValue,
    pub span: Span,
    pub used: bool,
}

pub(super) const SETTINGS: [&str; 9] =
    ["horizon", "unknowns", "messages", "calls", "log", "depth", "list", "time", "schedules"];

impl Compiler {
    pub(super) fn check_world(&mut self, items: &[Item]) {
        let mut written: Option<Span> = None;
        let mut named: Vec<(&Item, &CheckName, &CheckItem)> = Vec::new();
        for item in items {
            let ItemKind::Check(check) = &item.kind else {
                continue;
            };
            if let Some(name) = &check.named {
                named.push((item, name, check));
                continue;
            }
            if let Some(first) = written {
                self.report(
                    Diagnostic::error("E0202", item.span, "a design has one default world")
                        .also(first, "the first `check`")
                        .help(
                            "put everything into one of them, or make this one a world for some \
                             goals: `check NAME for GOAL { … }`",
                        ),
                );
                continue;
            }
            written = Some(item.span);
            self.design.world = self.small_world(item.span, &check.entries);
        }
        if written.is_none() {
            self.design.world = self.empty_world();
            self.no_default_world(named.first().map(|(item, ..)| item.span));
        }
        for (item, name, check) in named {
            self.named_world(item, name, check);
        }
    }

    fn no_default_world(&mut self, named: Option<Span>) {
        if let Some(span) = named {
            self.report(
                Diagnostic::error("E0708", span, "there is no default world beside this one")
                    .help("add `check { … }`: everything but these goals is looked at there"),
            );
        } else if !self.diagnostics.iter().any(Diagnostic::is_error) {
            let span = self.design.span;
            self.report(
                Diagnostic::warning(
                    "W0701",
                    span,
                    "there is no `check`, so nothing can be explored",
                )
                .help("say how small a world is enough: `check { seat: 1  buyer: 2 }`"),
            );
        }
    }

    /// `check races for one_winner, in_time { … }`
    fn named_world(&mut self, item: &Item, named: &CheckName, check: &CheckItem) {
        let name = &named.name;
        let earlier = self.design.worlds.iter().find(|world| world.name == name.text);
        let earlier = earlier.map(|world| world.world.span);
        if !name.text.is_empty() && !self.free("world", name, earlier) {
            return;
        }
        if named.goals.is_empty() {
            self.report(
                Diagnostic::error(
                    "E0706",
                    name.span,
                    format!("the world `{}` is for no goal", name.text),
                )
                .help(format!(
                    "say for which: `check {} for GOAL, GOAL {{ … }}`; the default world has no name",
                    name.text
                )),
            );
        }
        let mut goals = Vec::new();
        for written in &named.goals {
            if written.text.is_empty() {
                continue; // it could not be read
            }
            let Some(goal) = self.goal_named(written) else { continue };
            let elsewhere = self.design.worlds.iter().find(|world| world.goals.contains(&goal));
            let place = match elsewhere {
                Some(world) => Some((world.world.span, format!("in `{}`", world.name))),
                None if goals.contains(&goal) => Some((item.span, "in this very world".into())),
                None => None,
            };
            if let Some((span, place)) = place {
                let message = format!("`{}` is judged {place} already", written.text);
                self.report(
                    Diagnostic::error("E0707", written.span, message)
                        .also(span, "here")
                        .help("a goal is judged in one world; leave it out of the other"),
                );
                continue;
            }
            goals.push(goal);
        }
        let world = self.small_world(item.span, &check.entries);
        self.design.worlds.push(NamedWorld { name: name.text.clone(), goals, world });
    }

    fn empty_world(&self) -> World {
        World {
            keys: self
                .design
                .subjects
                .iter()
                .map(|subject| vec![Values::Irrelevant; subject.keys.len()])
                .collect(),
            actors: vec![1; self.design.actors.len()],
            params: self
                .design
                .operations
                .iter()
                .map(|operation| vec![Values::Irrelevant; operation.params.len()])
                .collect(),
            answers: vec![None; self.design.operations.len()],
            ..World::default()
        }
    }

    /// One world, as it is written.
    fn small_world(&mut self, span: Span, written: &[tree::CheckEntry]) -> World {
        let mut entries = Entries::default();
        let mut world = World { written: true, span, ..self.empty_world() };
        for entry in written {
            self.check_entry(entry, &mut entries);
        }
        self.settings(&mut world, &mut entries);
        let looked = looked_at(&self.design);
        self.key_domains(&mut world, &mut entries);
        self.actor_counts(&mut world, &mut entries);
        self.param_domains(&mut world, &mut entries, &looked);
        self.answer_domains(&mut world, &mut entries, &looked);
        self.attribute_bounds(&mut world, &mut entries);
        self.unused_entries(span, &entries);
        world
    }

    fn check_entry(&mut self, entry: &tree::CheckEntry, entries: &mut Entries) {
        match &entry.key {
            CheckKey::Duration(_) => self.report(
                Diagnostic::error(
                    "E0705",
                    entry.span,
                    "the durations of a design keep their proportion, so none has ticks of its own",
                )
                .help("leave this out; for a parameter say which durations callers give, as in `ttl: {5s, 10m}`"),
            ),
            CheckKey::Name(words) => {
                let words: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
                if let Some(&earlier) = entries.by_name.get(&words) {
                    let span = entries.list[earlier].span;
                    self.report(
                        Diagnostic::error(
                            "E0202",
                            entry.span,
                            format!("`{}` is said twice", words.join(".")),
                        )
                        .also(span, "first said here")
                        .help("leave one of them out"),
                    );
                    return;
                }
                entries.by_name.insert(words.clone(), entries.list.len());
                entries.list.push(Entry {
                    words,
                    value: entry.value.clone(),
                    span: entry.span,
                    used: false,
                });
            }
        }
    }

    fn unused_entries(&mut self, world: Span, entries: &Entries) {
        if self.something_is_missing() {
            return; // perhaps what it gives a size to
        }
        // often all of one step that is no longer there, so they share a message
        let mut left_over: Option<Diagnostic> = None;
        for entry in entries.list.iter().filter(|entry| !entry.used) {
            let mut words: Vec<String> = SETTINGS.iter().map(|word| (*word).to_string()).collect();
            words.extend(["faults".to_string(), "symmetry".to_string()]);
            words.extend(self.design.actors.iter().map(|actor| actor.name.clone()));
            for subject in &self.design.subjects {
                words.extend(subject.keys.iter().map(|key| key.name.clone()));
            }
            for operation in &self.design.operations {
                for param in &operation.params {
                    let fields = param.ty.fields().unwrap_or(&[]);
                    words.extend(fields.iter().map(|held| format!("{}.{}", param.name, held.name)));
                    words.push(param.name.clone());
                }
            }
            let word = entry.words.join(".");
            if let Some(meant) = suggest::nearest(&word, words.iter().map(String::as_str)) {
                // one slip of the pen, one message
                let sizeless = format!("how many values `{meant}` has");
                self.diagnostics.retain(|d| {
                    d.code != "E0701" || d.primary.span != world || !d.message.ends_with(&sizeless)
                });
            }
            let problem = Diagnostic::error(
                "E0702",
                entry.span,
                format!("nothing called `{word}` needs a size"),
            );
            match suggest::did_you_mean(&word, words.iter().map(String::as_str)) {
                Some(hint) => self.report_once(problem.help(hint)),
                None => match &mut left_over {
                    Some(first) => first
                        .secondary
                        .push(syntax::Label { span: entry.span, text: format!("nor `{word}`") }),
                    None => left_over = Some(problem.help(NEEDS_A_SIZE)),
                },
            }
        }
        // several worlds name the same
        if let Some(problem) = left_over {
            self.report_once(problem);
        }
    }
}

pub(super) const NEEDS_A_SIZE: &str = "name a key part, an actor, a parameter, `State.attribute`, `faults`, \
                            `horizon`, `unknowns`, `messages`, `calls`, `log`, `list`, `time`, `depth` or \
                            `symmetry`";

impl Entries {
    /// The entry for a field of the records in a list: `step.lines.qty`, else `lines.qty`, else
    /// `qty`.
    pub(super) fn find_field(&mut self, path: [&str; 3]) -> Option<&mut Entry> {
        let words = |path: &[&str]| path.iter().map(|word| (*word).to_string()).collect();
        let names: [Vec<String>; 3] = [words(&path), words(&path[1..]), words(&path[2..])];
        let at = *names.iter().find_map(|name| self.by_name.get(name))?;
        self.list[at].used = true;
        Some(&mut self.list[at])
    }

    /// The entry for a thing: `owner.name` if there is one, else `name`.
    pub(super) fn find(&mut self, path: &[&str]) -> Option<&mut Entry> {
        let exact: Vec<String> = path.iter().map(|word| (*word).to_string()).collect();
        let bare = vec![exact.last()?.clone()];
        let at = *self.by_name.get(&exact).or_else(|| self.by_name.get(&bare))?;
        self.list[at].used = true;
        Some(&mut self.list[at])
    }
}
