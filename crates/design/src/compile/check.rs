//! The small world of `check { … }`: everything that the checker must enumerate is finite in it.

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::tree::{self, CheckItem, CheckKey, CheckName, CheckValue, Item, ItemKind};
use syntax::{Diagnostic, Span};

use super::Compiler;
use super::relevance::{Site, looked_at};
use crate::model::visit::{each, each_statement, statement_exprs};
use crate::model::*;
use crate::suggest;

/// What was written in `check`, findable by name.
#[derive(Default)]
pub(super) struct Entries {
    list: Vec<Entry>,
    by_name: FxHashMap<Vec<String>, usize>,
}

/// One entry, and whether anything asked for it.
pub(super) struct Entry {
    pub words: Vec<String>,
    pub value: CheckValue,
    pub span: Span,
    pub used: bool,
}

const SETTINGS: [&str; 9] =
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

    fn settings(&mut self, world: &mut World, entries: &mut Entries) {
        for entry in &mut entries.list {
            let [word] = entry.words.as_slice() else {
                continue;
            };
            match (word.as_str(), &entry.value) {
                ("faults", CheckValue::Words(words)) => {
                    entry.used = true;
                    for (name, budget) in words {
                        let budget = budget.as_ref().and_then(|budget| self.count(budget));
                        let known = Fault::ALL.iter().find(|(_, word)| *word == name.text);
                        match known {
                            Some((fault, _)) => {
                                world.faults.push(FaultSetting { fault: *fault, budget })
                            }
                            None => {
                                let words: Vec<&str> =
                                    Fault::ALL.iter().map(|(_, word)| *word).collect();
                                let mut problem = Diagnostic::error(
                                    "E0704",
                                    name.span,
                                    format!("no fault `{}`", name.text),
                                );
                                problem = match suggest::did_you_mean(
                                    &name.text,
                                    words.iter().copied(),
                                ) {
                                    Some(hint) => problem.help(hint),
                                    None => {
                                        problem.help(format!("the faults are {}", words.join(", ")))
                                    }
                                };
                                self.report(problem);
                            }
                        }
                    }
                    world.faults.sort_by_key(|setting| setting.fault);
                    world.faults.dedup_by_key(|setting| setting.fault);
                }
                ("symmetry", CheckValue::Words(words))
                    if words.len() == 1 && matches!(words[0].0.text.as_str(), "off" | "on") =>
                {
                    entry.used = true;
                    world.symmetry_off = words[0].0.text == "off";
                }
                ("faults" | "symmetry", _) => {
                    entry.used = true;
                    let wanted = if word == "faults" {
                        "faults by name, as in `crash, lost_reply 2`"
                    } else {
                        "`off` or `on`"
                    };
                    let span = entry.span;
                    self.wrong_value(span, wanted);
                }
                (setting, CheckValue::Number(number))
                    if SETTINGS.contains(&setting) && !self.is_named(setting) =>
                {
                    entry.used = true;
                    let value = match setting {
                        "depth" => self.depth(number),
                        "list" | "time" | "schedules" => Some(self.at_least_one(number)),
                        _ => self.count(number),
                    };
                    match value {
                        Some(n) if setting == "horizon" => world.horizon = Some(n),
                        Some(n) if setting == "unknowns" && n > 0 => {
                            let span = number.span;
                            self.report(Diagnostic::error("E0703", span, "expected 0").help(
                                "an answer is `unknown` any number of times; `unknowns: 0` \
                                     says that it never is",
                            ));
                        }
                        Some(n) => world.settings.push((setting.to_string(), i64::from(n))),
                        None => {}
                    }
                }
                _ => {}
            }
        }
    }

    /// Is there a key part, an actor or a parameter of this name?
    fn is_named(&self, word: &str) -> bool {
        self.names.actors.contains_key(word)
            || self
                .design
                .subjects
                .iter()
                .any(|subject| subject.keys.iter().any(|key| key.name == word))
            || self
                .design
                .operations
                .iter()
                .any(|operation| operation.params.iter().any(|param| param.name == word))
    }

    fn key_domains(&mut self, world: &mut World, entries: &mut Entries) {
        for at in 0..self.design.subjects.len() {
            let subject = self.design.subjects[at].clone();
            for (part, key) in subject.keys.iter().enumerate() {
                let values = match &key.ty {
                    Type::Ref(parent) => Values::Refs(*parent),
                    Type::Bool | Type::Enum(_) => Values::Whole,
                    Type::Actor => Values::Principals,
                    Type::Error => Values::Irrelevant,
                    ty => match entries.find(&[&subject.name, &key.name]) {
                        Some(entry) => self.values(entry, ty, key.range),
                        None => {
                            self.no_domain(
                                world.span,
                                &key.name,
                                key.span,
                                &format!("{}: 2", key.name),
                            );
                            Values::Irrelevant
                        }
                    },
                };
                world.keys[at][part] = values;
            }
        }
    }

    fn actor_counts(&mut self, world: &mut World, entries: &mut Entries) {
        for at in 0..self.design.actors.len() {
            let id = ActorId::of(at);
            let actor = self.design.actors[at].clone();
            let count = match entries.find(&[&actor.name]) {
                Some(entry) => match &entry.value {
                    CheckValue::Number(number) => self.at_least_one(number),
                    _ => {
                        let span = entry.span;
                        self.wrong_value(span, "how many of them there are");
                        1
                    }
                },
                None => {
                    if actor.continues.is_none() && self.tells_principals_apart(id) {
                        let example = format!("{}: 2", actor.name);
                        self.no_domain(world.span, &actor.name, actor.span, &example);
                    }
                    1
                }
            };
            world.actors[at] = count;
        }
        for at in 0..self.design.actors.len() {
            world.actors[at] = world.actors[self.root_actor(ActorId::of(at)).index()];
        }
    }

    /// Does it matter which principal of this actor calls?
    fn tells_principals_apart(&self, actor: ActorId) -> bool {
        self.design.operations.iter().any(|operation| {
            if self.root_actor(operation.actor) != actor {
                return false;
            }
            let mut found = !operation.memory.is_empty();
            let mut look = |value: &Expr| {
                each(value, &mut |part| found |= matches!(part.kind, ExprKind::Me));
            };
            for clause in &operation.guard {
                look(&clause.body);
            }
            each_statement(&operation.body, &mut |statement| {
                statement_exprs(statement, &mut look);
            });
            found
        })
    }

    fn param_domains(
        &mut self,
        world: &mut World,
        entries: &mut Entries,
        looked: &FxHashSet<Site>,
    ) {
        for at in 0..self.design.operations.len() {
            let operation = self.design.operations[at].clone();
            // what an event of this design tells comes from whoever emits it
            let told = operation.hears.as_ref().is_some_and(|hears| hears.design.is_none());
            let called = !told
                && operation.each.is_none()
                && matches!(
                    operation.kind,
                    OperationKind::Step { .. } | OperationKind::Read { .. }
                );
            for (place, param) in operation.params.iter().enumerate() {
                let site = Site::Local(OperationId::of(at), param.local);
                let is_looked = looked.contains(&site);
                if param.ty.fields().is_some() {
                    world.params[at][place] = self.struct_domain(
                        (&operation.name, param),
                        entries,
                        is_looked && called,
                        world.span,
                    );
                    continue;
                }
                let entry = entries.find(&[&operation.name, &param.name]);
                world.params[at][place] = self.domain_of(
                    (&param.ty, param.range),
                    &param.name,
                    param.span,
                    entry,
                    is_looked && called,
                    world.span,
                    param.default.as_ref(),
                );
            }
        }
    }

    fn answer_domains(
        &mut self,
        world: &mut World,
        entries: &mut Entries,
        looked: &FxHashSet<Site>,
    ) {
        for at in 0..self.design.operations.len() {
            let operation = self.design.operations[at].clone();
            let OperationKind::Effect(effect) = &operation.kind else {
                continue;
            };
            let Some(local) = effect.on_ok.param else {
                continue;
            };
            let known = operation.locals[local.index()].clone();
            let is_looked = looked.contains(&Site::Local(OperationId::of(at), local));
            let entry = entries.find(&[&operation.name, &known.name]);
            world.answers[at] = Some(self.domain_of(
                (&known.ty, effect.on_ok.range),
                &known.name,
                operation.head,
                entry,
                is_looked,
                world.span,
                None,
            ));
        }
    }

    fn attribute_bounds(&mut self, world: &mut World, entries: &mut Entries) {
        for entry in entries.list.iter_mut().filter(|entry| !entry.used) {
            let [state, attribute] = entry.words.as_slice() else {
                continue;
            };
            let Some([(subject, state)]) = self.names.states.get(state).map(Vec::as_slice) else {
                continue;
            };
            let (subject, state) = (*subject, *state);
            let owner = &self.design.subjects[subject.index()];
            let attr = owner.states[state.index()]
                .attributes
                .iter()
                .find(|attr| owner.attributes[attr.index()].name == *attribute)
                .copied();
            let Some(attr) = attr else { continue };
            entry.used = true;
            let ty = owner.attributes[attr.index()].ty.required().clone();
            let range = owner.attributes[attr.index()].range;
            let span = entry.span;
            if !matches!(ty, Type::Int | Type::Decimal | Type::Money(_) | Type::Duration) {
                let name = self.type_name(&ty);
                self.wrong_value(span, &format!("nothing: `{name}` is finite as it is"));
                continue;
            }
            let value = entry.value.clone();
            match value {
                CheckValue::Range(low, high) => {
                    // of a duration: so many units
                    let of = if ty == Type::Duration { Type::Int } else { ty.clone() };
                    let low = self.whole(&low, &of);
                    let high = self.whole(&high, &of);
                    if let (Some(low), Some(high)) = (low, high) {
                        if low > high {
                            self.wrong_value(span, "the smaller number first");
                            continue;
                        }
                        if ty != Type::Duration {
                            self.values_within(&Values::Range(low, high), &ty, range, span);
                        }
                        world.bounds.push(Bound { subject, attr, low, high });
                    }
                }
                _ => self.wrong_value(span, "a range, as in `0..5`"),
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

const NEEDS_A_SIZE: &str = "name a key part, an actor, a parameter, `State.attribute`, `faults`, \
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
