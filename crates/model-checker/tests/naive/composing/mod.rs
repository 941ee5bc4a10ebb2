//! How a design that uses others is made: at random, and at once as text and as it would be written by hand.

mod writing;

use std::collections::BTreeMap;

use super::ast::*;
use super::composed::{Composed, STATES_MAX};
use super::dice::Dice;
use super::generate::USER;
use super::parts;
use super::phrases::{Phrases, Scope, boxed};
use super::{shrink, text};

/// The noun of each part, and the scope of its goals.
const NOUNS: [(&str, &str); 2] = [("Zed", "zed"), ("Yak", "yak")];

/// The same seed gives the same design.
pub fn design(seed: u64) -> Composed {
    let mut dice = Dice::new(seed ^ 0xc0_4905e);
    loop {
        let wanted = dice.pick(&parts::WANTED);
        let first = parts::small(&mut dice, &wanted);
        // A step touches one place, so what has places stands alone.
        let two = dice.chance(45) && !parts::has_places(&first);
        let second = two.then(|| {
            let fits = |made: &Design| {
                !parts::has_places(made)
                    && parts::fits(&first, made)
                    && first.check.time == made.check.time
            };
            parts::small(&mut dice, &fits)
        });
        let mut maker = Maker::new(first, second, seed, &mut dice);
        if !maker.is_one_world() {
            continue;
        }
        for _ in 0..1 + maker.dice.below(4) {
            maker.change();
        }
        maker.own();
        let made = maker.written();
        let size = parts::states(&made.flat, STATES_MAX);
        if size.is_some_and(|states| states > 1) && !made.flat.goals.is_empty() {
            return made;
        }
    }
}

struct Maker<'d> {
    dice: &'d mut Dice,
    flat: Design,
    before: Design,
    /// the archetypes by themselves
    alone: Vec<Design>,
    /// where the second part begins: subjects, operations, effects, goals, failures
    from: [usize; 5],
    /// lines of the block of each `use`
    blocks: [Vec<String>; 2],
    /// own items
    items: Vec<String>,
    /// subjects that are bound to one of the design's
    bound: BTreeMap<usize, String>,
    /// what each failure of `flat` is called in its archetype; empty: it is the design's own
    titles: Vec<String>,
    /// the parts of operations, as `flat` has them now
    op_parts: Vec<Option<usize>>,
    goal_parts: Vec<Option<usize>>,
    changes: Vec<&'static str>,
    serial: usize,
}

fn of_record(record: Expr, subject: usize) -> Scope {
    Scope { records: vec![(record, subject)], ..Scope::default() }
}

fn deletes(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Delete(_) => true,
        Stmt::If(_, then, otherwise) => deletes(then) || deletes(otherwise),
        Stmt::For(_, _, inner) => deletes(inner),
        _ => false,
    })
}

/// The record that an operation is of.
fn home(params: &[Param]) -> Option<usize> {
    match params.first() {
        Some(Param { ty: Ty::Ref(subject), .. }) => Some(*subject),
        _ => None,
    }
}

impl<'d> Maker<'d> {
    fn new(first: Design, second: Option<Design>, seed: u64, dice: &'d mut Dice) -> Maker<'d> {
        let from = [
            first.subjects.len(),
            first.ops.len(),
            first.effects.len(),
            first.goals.len(),
            first.failures.len(),
        ];
        let mut alone = vec![first.clone()];
        let flat = match second {
            None => Design { seed, ..first },
            Some(second) => {
                alone.push(second.clone());
                parts::join(first, second, seed, dice).design
            }
        };
        let part = |at: usize, begin: usize| Some(usize::from(at >= begin));
        let titles = (0..flat.failures.len()).map(|at| {
            let part = usize::from(at >= from[4]);
            format!("{}: f{}", NOUNS[part].1, at - if part == 1 { from[4] } else { 0 })
        });
        Maker {
            titles: titles.collect(),
            op_parts: (0..flat.ops.len()).map(|at| part(at, from[1])).collect(),
            goal_parts: (0..flat.goals.len()).map(|at| part(at, from[3])).collect(),
            before: flat.clone(),
            flat,
            alone,
            from,
            blocks: [Vec::new(), Vec::new()],
            items: Vec::new(),
            bound: BTreeMap::new(),
            changes: Vec::new(),
            serial: 0,
            dice,
        }
    }

    /// What an archetype says of its world and the whole does not say would be taken over.
    fn is_one_world(&self) -> bool {
        let flat = &self.flat.check;
        self.alone.iter().all(|part| {
            let said = |faults: &[(Fault, Option<u32>)]| !faults.is_empty();
            (said(&flat.faults) || !said(&part.check.faults))
                && (flat.time.is_some() || part.check.time.is_none())
                && (flat.horizon.is_some() || part.check.horizon.is_none())
        })
    }

    fn serial(&mut self) -> usize {
        self.serial += 1;
        self.serial
    }

    fn phrases(&mut self) -> Phrases<'_> {
        Phrases { dice: self.dice, design: &self.flat, spans: vec![1], locals: 300, ranked: false }
    }

    fn part_of_subject(&self, subject: usize) -> usize {
        usize::from(subject >= self.from[0])
    }

    fn change(&mut self) {
        match self.dice.below(10) {
            0 | 1 => self.state(),
            2..=4 => self.clause(),
            5..=7 => self.effect(),
            8 => self.hide(),
            _ => self.leave_out(),
        }
    }

    /// One state more, in the block or in a subject of the design's own that the archetype's is bound to.
    fn state(&mut self) {
        let subject = self.dice.below(self.flat.subjects.len());
        let (part, number) = (self.part_of_subject(subject), self.serial());
        let held = &self.flat.subjects[subject];
        let alone = &self.alone[part].subjects[subject - if part == 1 { self.from[0] } else { 0 }];
        let plain = held.parent.is_none() && !held.place && !self.bound.contains_key(&subject);
        let name = format!("more{number}");
        let state = format!("truth More{number} {{ {name}: bool = false }}");
        let key = format!("{}k: {}", alone.low, if held.number_key { "int" } else { "text" });
        if plain && self.dice.chance(40) {
            let own = format!("Own{number}");
            self.items.push(format!("subject {own}({key}) {{\n    {state}\n}}\n"));
            let old = format!("{}{}", NOUNS[part].0, alone.name);
            self.blocks[part].push(format!("subject {old} is {own}"));
            self.bound.insert(subject, own);
            self.changes.push("bound");
        } else {
            let line = format!("@{subject} also {{ {state} }}");
            self.blocks[part].push(line);
            self.changes.push("state");
        }
        let (ty, default, optional) = (Ty::Bool, Value::Bool(false), false);
        let more = Attr { name, ty, optional, default, volatile: false, range: None };
        self.flat.subjects[subject].attrs.push(more);
    }

    /// One clause more, on an operation or an effect.
    fn clause(&mut self) {
        let number = self.serial();
        let name = format!("y{number}");
        let effects = self.flat.effects.len();
        if effects > 0 && self.dice.chance(20) {
            let at = self.dice.below(effects);
            let Some(subject) = home(&self.flat.effects[at].params) else { return };
            let clause = self.phrases().simple(&of_record(Expr::Param(0), subject));
            let effect = &self.flat.effects[at];
            let part = usize::from(at >= self.from[2]);
            let shown = text::clause(&self.flat, &effect.params, None, &clause);
            let line = format!("{} also {{ {name}: {shown} }}", effect.name);
            self.put(part, line);
            self.flat.effects[at].guard.push((name, clause));
            return self.changes.push("clause");
        }
        let ops: Vec<usize> =
            (0..self.flat.ops.len()).filter(|at| self.op_parts[*at].is_some()).collect();
        let at = self.dice.pick(&ops);
        let Some(subject) = home(&self.flat.ops[at].params) else { return };
        // Of a record that is made now nothing is known before.
        if self.flat.ops[at].params[0].new {
            return;
        }
        let clause = self.phrases().simple(&of_record(Expr::Param(0), subject));
        let op = &self.flat.ops[at];
        let shown = text::clause(&self.flat, &op.params, Some(op.actor), &clause);
        let line = format!("{} also {{ {name}: {shown} }}", op.name);
        let part = self.op_parts[at].unwrap_or(0);
        self.put(part, line);
        self.flat.ops[at].guard.push((name, clause));
        self.changes.push("clause");
    }

    /// One effect more. It says `into` unless it writes what was added.
    fn effect(&mut self) {
        let effects = self.flat.effects.len();
        let into = |flat: &Design, stmt: &Stmt| match stmt {
            Stmt::Assign(_, subject, attr, ..) => {
                !flat.subjects[*subject].attrs[*attr].name.starts_with("more")
            }
            _ => true,
        };
        if effects > 0 && self.dice.chance(25) {
            let at = self.dice.below(effects);
            let Some(subject) = home(&self.flat.effects[at].params) else { return };
            if deletes(&self.flat.effects[at].on_ok) {
                return;
            }
            let stmt = self.phrases().assign(&of_record(Expr::Param(0), subject), 0);
            let word = if into(&self.flat, &stmt) { " into" } else { "" };
            let effect = &self.flat.effects[at];
            let shown =
                text::statements(&self.flat, &effect.params, None, std::slice::from_ref(&stmt));
            let line = format!("{} also{word} on ok {{ {shown} }}", effect.name);
            self.put(usize::from(at >= self.from[2]), line);
            self.flat.effects[at].on_ok.push(stmt);
            return self.changes.push("effect");
        }
        let fits = |at: &usize| {
            let op = &self.flat.ops[*at];
            self.op_parts[*at].is_some() && op.kind != Kind::Read && !deletes(&op.body)
        };
        let ops: Vec<usize> = (0..self.flat.ops.len()).filter(fits).collect();
        if ops.is_empty() {
            return;
        }
        let at = self.dice.pick(&ops);
        let Some(subject) = home(&self.flat.ops[at].params) else { return };
        let stmt = self.phrases().assign(&of_record(Expr::Param(0), subject), 0);
        let word = if into(&self.flat, &stmt) { " into" } else { "" };
        let op = &self.flat.ops[at];
        let shown =
            text::statements(&self.flat, &op.params, Some(op.actor), std::slice::from_ref(&stmt));
        let line = format!("{} also{word} {{ {shown} }}", op.name);
        let part = self.op_parts[at].unwrap_or(0);
        self.put(part, line);
        self.flat.ops[at].body.push(stmt);
        self.changes.push("effect");
    }

    /// One operation less, if nothing speaks of it and no line changes it.
    fn hide(&mut self) {
        let last_heard = self.flat.ops.iter().rposition(|op| op.kind == Kind::Heard);
        let fits = |at: &usize| {
            let op = &self.flat.ops[*at];
            let changed = self
                .blocks
                .iter()
                .flatten()
                .any(|line| line.split([' ', '.']).next().is_some_and(|word| word == op.name));
            matches!(op.kind, Kind::Step | Kind::Read)
                && self.op_parts[*at].is_some()
                && last_heard.is_none_or(|heard| *at > heard)
                && !changed
                && !shrink::named(&self.flat, *at)
        };
        let ops: Vec<usize> = (0..self.flat.ops.len()).filter(fits).collect();
        if ops.is_empty() || self.flat.ops.len() < 2 {
            return;
        }
        let at = self.dice.pick(&ops);
        let part = self.op_parts.remove(at).unwrap_or(0);
        let op = self.flat.ops.remove(at);
        shrink::renumber(&mut self.flat, at);
        self.put(part, format!("hide {}", op.name));
        self.changes.push("hidden");
    }

    /// One goal less; failures that break it go with it.
    fn leave_out(&mut self) {
        if self.flat.goals.len() < 2 {
            return;
        }
        let at = self.dice.below(self.flat.goals.len());
        let Some(part) = self.goal_parts[at] else { return };
        let name = self.plain_goal(at);
        self.blocks[part]
            .push(format!("without goal {}.{name} because \"nobody asks for it\"", NOUNS[part].1));
        self.goal_parts.remove(at);
        self.flat.goals.remove(at);
        let gone: Vec<usize> = (0..self.flat.failures.len())
            .filter(|it| self.flat.failures[*it].breaks == at)
            .collect();
        for it in gone.into_iter().rev() {
            self.flat.failures.remove(it);
            self.titles.remove(it);
        }
        for failure in &mut self.flat.failures {
            failure.breaks -= usize::from(failure.breaks > at);
        }
        self.changes.push("left out");
    }

    /// What a goal is called in its archetype.
    fn plain_goal(&self, at: usize) -> String {
        let name = &self.flat.goals[at].name;
        match self.goal_parts[at] {
            Some(1) => name.strip_suffix("_2").unwrap_or(name).to_string(),
            _ => name.clone(),
        }
    }

    /// A step and a goal of the design's own.
    fn own(&mut self) {
        let two = self.alone.len() == 2;
        let subject = self.dice.below(self.flat.subjects.len());
        let record = |subject: usize, flat: &Design| Param {
            name: flat.subjects[subject].low.into(),
            ty: Ty::Ref(subject),
            new: false,
            default: None,
        };
        if self.dice.chance(60) {
            let number = self.serial();
            let stmt = self.phrases().assign(&of_record(Expr::Param(0), subject), 0);
            let mut params = vec![record(subject, &self.flat)];
            let mut guard = Vec::new();
            if two && self.dice.chance(60) {
                let across: Vec<usize> = (0..self.flat.subjects.len())
                    .filter(|other| self.part_of_subject(*other) != self.part_of_subject(subject))
                    .collect();
                let other = self.dice.pick(&across);
                params.push(record(other, &self.flat));
                guard.push(("o0".into(), self.phrases().simple(&of_record(Expr::Param(1), other))));
            }
            let (kind, actor, keyed) = (Kind::Step, USER, false);
            let name = format!("own{number}");
            let op = Op { name, kind, actor, params, guard, body: vec![stmt], keyed };
            let shown = text::operation(&self.flat, &op);
            self.items.push(self.scoped(&shown, None));
            self.flat.ops.push(op);
            self.op_parts.push(None);
            self.changes.push("own step");
        }
        if two || self.dice.chance(40) {
            let scope = of_record(Expr::Local(0), subject);
            let (left, right) = (self.phrases().simple(&scope), self.phrases().simple(&scope));
            let body = Expr::Quant {
                all: true,
                local: 0,
                over: Domain::Subject(subject),
                filter: None,
                body: boxed(Expr::Or(vec![left, right])),
            };
            let (name, leads) = ("own_goal".to_string(), None);
            let goal = Goal { name, recovers: false, leads, uses_old: false, body };
            let shown = text::goal(&self.flat, &goal);
            self.items.push(self.scoped(&shown, None));
            self.flat.goals.push(goal);
            self.goal_parts.push(None);
        }
    }

    fn put(&mut self, part: usize, line: String) {
        self.blocks[part].push(line);
    }
}
