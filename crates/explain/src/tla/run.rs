//! What an operation does, statement by statement: each sees what the earlier ones wrote. Every change
//! gives a variable a new name, and the last one is what it is in the next state.

use std::collections::{BTreeMap, BTreeSet};

use design::model::{
    AttrId, ClauseRef, Expr, ExprKind, LocalId, OperationId, Retention, StateId, StateKind, Stmt,
    StmtKind, SubjectId, Type,
};

use super::expr::Scope;
use super::text::{Tight, and, implies, occurrences, or, tuple};

pub(super) struct Run<'w> {
    pub scope: Scope<'w>,
    pub(super) operation: OperationId,
    /// `label` and condition, in the order in which they are tried
    pub guard: Vec<(String, String)>,
    /// names that are given on the way, each with what it stands for
    defs: Vec<(String, String)>,
    /// what must hold on the way
    needs: Vec<String>,
    /// the conditions of the `if`s around
    pub(super) path: Vec<String>,
    counts: BTreeMap<String, u32>,
    /// parameters whose records are taken to be there, with their defaults
    pretended: BTreeSet<LocalId>,
    /// under which conditions memory is written, and something is sent
    pub wrote: Vec<String>,
    pub sent: Vec<String>,
    /// without its protection, calls to the world outside may get lost
    pub calls_lost: bool,
}

impl<'w> Run<'w> {
    pub fn of(scope: Scope<'w>, operation: OperationId) -> Run<'w> {
        Run {
            scope,
            operation,
            guard: Vec::new(),
            defs: Vec::new(),
            needs: Vec::new(),
            path: Vec::new(),
            counts: BTreeMap::new(),
            pretended: BTreeSet::new(),
            wrote: Vec::new(),
            sent: Vec::new(),
            calls_lost: false,
        }
    }

    /// `exists`, `fresh`, then the clauses in order; then the records of `new` parameters are made.
    pub fn guarded(&mut self) {
        let world = self.scope.world;
        let held = &world.design.operations[self.operation.index()];
        let id = self.operation;
        let gone = |clause| world.is_clause_gone(id, clause);
        let mut exists = Vec::new();
        let mut fresh = Vec::new();
        for param in &held.params {
            let Some(subject) = param.ty.subject() else { continue };
            if world.subject(subject).implicit {
                self.scope.present.insert(param.local);
                continue;
            }
            let name = self.scope.locals[&param.local].clone();
            let there = format!("{}[{name}]", world.there(subject));
            if param.new {
                fresh.push(format!("~{there}"));
                exists.extend(self.parent_there(subject, &name));
            } else if param.ty.is_optional() {
                exists.push(format!("({name} = Null \\/ {there})"));
            } else {
                exists.push(there);
                self.scope.present.insert(param.local);
                if gone(ClauseRef::Exists) {
                    self.pretended.insert(param.local);
                }
            }
        }
        if !exists.is_empty() && !gone(ClauseRef::Exists) {
            self.guard.push(("exists".into(), and(&exists)));
        }
        if !fresh.is_empty() && !gone(ClauseRef::Fresh) {
            self.guard.push(("fresh".into(), and(&fresh)));
        }
        for (at, clause) in held.guard.iter().enumerate() {
            if !gone(ClauseRef::Named(at as u32)) {
                let holds = self.scope.test(&clause.body).holds();
                self.guard.push((clause.name.clone(), holds));
            }
        }
        for param in held.params.iter().filter(|param| param.new) {
            let Some(subject) = param.ty.subject() else { continue };
            let key = self.scope.locals[&param.local].clone();
            self.put(&world.there(subject), &key, "TRUE", false);
            if gone(ClauseRef::Fresh) {
                self.reset(subject, &key, false);
            }
            self.scope.present.insert(param.local);
        }
    }

    /// A child can be made only while its parent is there.
    pub(super) fn parent_there(&self, subject: SubjectId, key: &str) -> Option<String> {
        let world = self.scope.world;
        let parent = world.subject(subject).parent?;
        if world.subject(parent).implicit {
            return None;
        }
        let of = world.part(subject, key, 0);
        Some(format!("{}[{of}]", self.scope.var(&world.there(parent))))
    }

    pub(super) fn need(&mut self, condition: String) {
        let condition =
            if self.path.is_empty() { condition } else { implies(&and(&self.path), &condition) };
        if !self.needs.contains(&condition) {
            self.needs.push(condition);
        }
    }

    pub(super) fn needs(&mut self, conditions: Vec<String>) {
        conditions.into_iter().for_each(|condition| self.need(condition));
    }

    /// Names a value.
    pub(super) fn define(&mut self, name: &str, text: String) -> String {
        let count = self.counts.entry(name.to_owned()).or_insert(0);
        *count += 1;
        let name = format!("{name}_{count}");
        self.defs.push((name.clone(), text));
        name
    }

    pub(super) fn change(&mut self, variable: &str, text: String) {
        let name = self.define(variable, text);
        self.scope.now.insert(variable.to_owned(), name);
    }

    pub(super) fn put(&mut self, variable: &str, key: &str, value: &str, grows: bool) {
        let held = self.scope.var(variable);
        let text = if grows {
            format!("Put({held}, {key}, {value})")
        } else {
            format!("[{held} EXCEPT ![{key}] = {value}]")
        };
        self.change(variable, text);
    }

    /// All attributes of a record as they are where nothing was written.
    fn reset(&mut self, subject: SubjectId, key: &str, grows: bool) {
        let world = self.scope.world;
        let held = world.subject(subject);
        for at in (0..held.attributes.len()).map(AttrId::of) {
            if world.kept(subject, at) {
                self.put(&world.attr(subject, at), key, &world.blank(subject, at), grows);
            }
        }
        for (at, state) in held.states.iter().enumerate() {
            if matches!(state.kind, StateKind::Log { .. }) {
                for end in [false, true] {
                    self.put(&world.log(subject, StateId::of(at), end), key, "0", grows);
                }
            }
        }
    }

    pub fn body(&mut self, body: &[Stmt]) {
        for statement in body {
            if !self.scope.world.is_statement_gone(self.operation, statement.id) {
                self.statement(statement);
            }
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Assign { target, op, value } => self.assign(target, *op, value),
            StmtKind::Let { local, value } => {
                let term = self.scope.term(value);
                self.needs(term.needs.clone());
                let name = self.define("let", term.text);
                self.scope.locals.insert(*local, name);
            }
            StmtKind::New { subject, keys, fields } => self.make(*subject, keys, fields),
            StmtKind::Delete { target } => {
                let Some((subject, key)) = self.record(target) else { return };
                let world = self.scope.world;
                self.put(&world.there(subject), &key, "FALSE", false);
                self.reset(subject, &key, false);
                // what was known to be there may have been this one
                self.scope.present.clear();
            }
            StmtKind::Append { base, log, fields } => {
                let Some((subject, key)) = self.record(base) else { return };
                for (_, value) in fields {
                    let term = self.scope.term(value);
                    self.needs(term.needs);
                }
                let world = self.scope.world;
                let end = world.log(subject, *log, true);
                self.put(&end, &key, "@ + 1", false);
                let kind = world.subject(subject).states[log.index()].kind;
                if let StateKind::Log { retain: Retention::Entries(keep) } = kind {
                    let end = self.scope.var(&end);
                    let first = format!("Larger(@, {end}[{key}] - {keep})");
                    self.put(&world.log(subject, *log, false), &key, &first, false);
                }
            }
            StmtKind::Emit { fields, .. } => {
                for (_, value) in fields {
                    let term = self.scope.term(value);
                    self.needs(term.needs);
                }
            }
            StmtKind::Send { operation, args } => self.send(*operation, args),
            StmtKind::For { local, domain, body } => self.each(*local, domain, body),
            StmtKind::If { condition, then, otherwise } => {
                let term = self.scope.test(condition);
                self.needs(term.needs.clone());
                let when =
                    if term.text.len() > 24 { self.define("when", term.text) } else { term.text };
                self.branch(&when, |run| run.body(then), |run| run.body(otherwise));
            }
        }
    }

    /// Runs one or the other, and joins what they leave.
    fn branch(
        &mut self,
        when: &str,
        then: impl FnOnce(&mut Run<'w>),
        otherwise: impl FnOnce(&mut Run<'w>),
    ) {
        let before = self.scope.clone();
        self.path.push(when.to_owned());
        then(self);
        self.path.pop();
        let yes = std::mem::replace(&mut self.scope, before.clone());
        self.path.push(format!("~({when})"));
        otherwise(self);
        self.path.pop();
        let no = std::mem::replace(&mut self.scope, before.clone());
        let changed: BTreeSet<String> = yes.now.keys().chain(no.now.keys()).cloned().collect();
        for variable in changed {
            let (one, other) = (yes.var(&variable), no.var(&variable));
            if one != other {
                self.change(&variable, format!("IF {when} THEN {one} ELSE {other}"));
            } else if one != before.var(&variable) {
                self.scope.now.insert(variable, one);
            }
        }
        for at in 0..before.memory.len() {
            let (one, other) = (&yes.memory[at], &no.memory[at]);
            if one != other {
                let name = self.define("remembered", format!("IF {when} THEN {one} ELSE {other}"));
                self.scope.memory[at] = name;
            }
        }
        let known = yes.present.intersection(&no.present).copied();
        self.scope.present = known.collect();
    }

    /// In the order of the elements, each by itself.
    fn each(&mut self, local: LocalId, domain: &Expr, body: &[Stmt]) {
        let world = self.scope.world;
        let collection = self.scope.term(domain);
        self.needs(collection.needs.clone());
        let held = self.define("each", collection.text);
        match domain.ty.required() {
            Type::List { max, .. } => {
                let room = world.setting("list", 4).min(i64::from(*max));
                for at in 1..=room {
                    self.scope.locals.insert(local, format!("{held}[{at}]"));
                    self.branch(&format!("Len({held}) >= {at}"), |run| run.body(body), |_| {});
                }
            }
            Type::Set { of, .. } | Type::Map { key: of, .. } => {
                let Some(values) = world.universe(of) else {
                    world.refuse("`for` over a set of numbers or texts");
                    return;
                };
                let map = matches!(domain.ty.required(), Type::Map { .. });
                let among = if map { format!("DOMAIN {held}") } else { held };
                for value in values {
                    self.scope.locals.insert(local, value.clone());
                    let when = format!("{value} \\in {among}");
                    self.branch(&when, |run| run.body(body), |_| {});
                }
            }
            _ => {
                world.refuse("`for` over something else than a collection");
            }
        }
        self.scope.locals.remove(&local);
    }

    /// The record that is changed: it must be there.
    pub(super) fn record(&mut self, base: &Expr) -> Option<(SubjectId, String)> {
        let world = self.scope.world;
        let subject = base.ty.subject()?;
        let term = self.scope.term(base);
        self.needs(term.needs.clone());
        if term.nullable {
            self.need(format!("{} # Null", term.within(Tight::Sum)));
        }
        let key = term.text;
        if world.subject(subject).implicit {
            return Some((subject, key));
        }
        match &base.kind {
            ExprKind::Local(local) if self.pretended.contains(local) => {
                self.put(&world.there(subject), &key, "TRUE", false);
            }
            ExprKind::Local(local) if self.scope.present.contains(local) => {}
            _ => {
                let there = self.scope.var(&world.there(subject));
                self.need(format!("{there}[{key}]"));
            }
        }
        Some((subject, key))
    }

    /// Under which condition memory is written.
    pub fn writes_memory(&self) -> Option<String> {
        condition(&self.wrote)
    }

    pub fn sends(&self) -> Option<String> {
        condition(&self.sent)
    }

    /// What must hold, and what the variables of `of` become; the others stay as they are.
    pub fn finish(mut self, of: &[String], memory: &[(String, String)]) -> Vec<String> {
        let mut parts: Vec<String> = Vec::new();
        let mut same: Vec<String> = Vec::new();
        let mut becomes: Vec<(String, String)> = Vec::new();
        for variable in of {
            match self.scope.now.get(variable) {
                Some(name) => becomes.push((variable.clone(), name.clone())),
                None if memory.iter().any(|(held, _)| held == variable) => {}
                None => same.push(variable.clone()),
            }
        }
        becomes.extend(memory.iter().cloned());
        // A name that is used once, as what a variable becomes, need not be given.
        for at in (0..self.defs.len()).rev() {
            let (name, text) = self.defs[at].clone();
            let elsewhere = self.defs.iter().map(|(_, text)| text).chain(&self.needs);
            let used: usize = elsewhere.map(|text| occurrences(text, &name)).sum();
            let target: Vec<usize> =
                (0..becomes.len()).filter(|at| occurrences(&becomes[*at].1, &name) > 0).collect();
            if used == 0 && target.is_empty() {
                self.defs.remove(at);
            } else if used == 0 && target.len() == 1 && becomes[target[0]].1 == name {
                becomes[target[0]].1 = text;
                self.defs.remove(at);
            }
        }
        parts.extend(
            self.guard.iter().map(|(label, text)| {
                format!("{}:: {}", label_name(label), condition_of_action(text))
            }),
        );
        let mut last: Vec<String> =
            self.needs.iter().map(|need| condition_of_action(need)).collect();
        last.extend(becomes.iter().map(|(variable, text)| format!("{variable}' = {text}")));
        if self.defs.is_empty() {
            parts.extend(last);
        } else {
            let mut text = String::from("LET ");
            let defs: Vec<String> =
                self.defs.iter().map(|(name, text)| format!("{name} == {text}")).collect();
            text.push_str(&defs.join("\n    "));
            text.push_str("\nIN  ");
            let last: Vec<String> = last.iter().map(|part| format!("/\\ {part}")).collect();
            text.push_str(&last.join("\n    "));
            parts.push(text);
        }
        if !same.is_empty() {
            parts.push(format!("UNCHANGED {}", tuple(&same)));
        }
        parts
    }
}

/// TLC takes a bare disjunction in an action for a choice, and looks at every part of it.
fn condition_of_action(text: &str) -> String {
    if text.contains("\\/") || text.contains("\\E") || text.contains("IF ") {
        format!("Holds({text})")
    } else {
        text.to_owned()
    }
}

/// A label of TLA+ is a name that nothing else has.
fn label_name(name: &str) -> String {
    format!("clause_{name}")
}

fn condition(paths: &[String]) -> Option<String> {
    match paths {
        [] => None,
        paths if paths.iter().any(|path| path == "TRUE") => Some("TRUE".into()),
        paths => Some(or(paths)),
    }
}
