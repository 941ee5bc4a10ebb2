//! What a random design promises, and what may go wrong in its world.

use super::ast::*;
use super::flow;
use super::generate::{Maker, Theme, USER};
use super::phrases::{Scope, boxed, cmp, int};

impl Maker {
    pub(super) fn goals(&mut self) {
        for number in 0..2 + self.dice.below(2) {
            let body = self.invariant();
            let uses_old = flow::anywhere(&body, &|held| matches!(held, Expr::Old(_)));
            let name = format!("i{number}");
            self.design.goals.push(Goal { name, recovers: false, leads: None, uses_old, body });
        }
        let recovers = match self.theme {
            Theme::Effects => 80,
            Theme::Network => 50,
            Theme::Copies => 0,
            _ if self.design.ops.iter().any(|op| op.kind == Kind::Repair) => 100,
            _ => 20,
        };
        if self.dice.chance(recovers) {
            let subject = self.dice.below(self.design.subjects.len());
            let scope = Scope { records: vec![(Expr::Local(0), subject)], ..Scope::default() };
            let effects = self.theme == Theme::Effects && self.dice.chance(60);
            let mut phrases = self.phrases();
            let mut body = phrases.condition(&scope, 1);
            if effects {
                let at = Expr::Attr(boxed(Expr::Local(0)), 0, 0);
                body = cmp(Cmp::Ne, at, Expr::Lit(Value::Enum(1)));
            }
            self.locals += 10;
            let body = Expr::Quant {
                all: true,
                local: 0,
                over: Domain::Subject(subject),
                filter: None,
                body: boxed(body),
            };
            self.design.goals.push(Goal {
                name: "r0".into(),
                recovers: true,
                leads: None,
                uses_old: false,
                body,
            });
        }
    }

    /// Whatever begins to wait is served, with some of the steps owed.
    pub(super) fn leads_to(&mut self) {
        if !self.dice.chance(60) {
            return;
        }
        let subject = self.dice.below(self.design.subjects.len());
        let scope = Scope { records: vec![(Expr::Local(0), subject)], ..Scope::default() };
        let often = [35, 80][self.dice.below(2)];
        let may = |op: &Op| matches!(op.kind, Kind::Step | Kind::Read);
        let mut by = Vec::new();
        for number in 0..self.design.ops.len() {
            if may(&self.design.ops[number]) && self.dice.chance(often) {
                by.push(number);
            }
        }
        let nots = [self.dice.chance(30), self.dice.chance(50)];
        let opposite = self.dice.chance(40);
        let not = |negated: bool, body: Expr| match negated {
            true => Expr::Not(boxed(body)),
            false => body,
        };
        let mut phrases = self.phrases();
        let from = phrases.simple(&scope);
        let to = match opposite {
            true => Expr::Not(boxed(from.clone())),
            false => not(nots[1], phrases.simple(&scope)),
        };
        let from = not(nots[0] && !opposite, from);
        self.locals += 10;
        let body = Expr::Quant {
            all: true,
            local: 0,
            over: Domain::Subject(subject),
            filter: None,
            body: boxed(Expr::Implies(boxed(from), boxed(to))),
        };
        let breaks = self.design.goals.len();
        let (name, leads) = ("l0".into(), Some(by));
        self.design.goals.push(Goal { name, recovers: false, leads, uses_old: false, body });
        if let Some(first) = self.design.failures.first()
            && self.dice.chance(60)
        {
            let without = first.without.clone();
            self.design.failures.push(Failure { without, breaks });
        }
    }

    fn invariant(&mut self) -> Expr {
        let subject = self.dice.below(self.design.subjects.len());
        let log = self.design.subjects[subject].log;
        let effects = !self.design.effects.is_empty();
        let times_meet = self.theme == Theme::Time;
        let scope =
            Scope { records: vec![(Expr::Local(0), subject)], times_meet, ..Scope::default() };
        let two = self.ranked && self.numbers_meet(subject);
        let roll = self.dice.below(12);
        let limit = self.dice.below(3) as i64;
        let mut phrases = self.phrases();
        let over = Domain::Subject(subject);
        let all = |body: Expr| Expr::Quant {
            all: true,
            local: 0,
            over: over.clone(),
            filter: None,
            body: boxed(body),
        };
        let body = match roll {
            0 if log => all(cmp(Cmp::Le, Expr::LogEnd(boxed(Expr::Local(0)), subject), int(limit))),
            1 if log => {
                let end = Expr::LogEnd(boxed(Expr::Local(0)), subject);
                let start = Expr::LogStart(boxed(Expr::Local(0)), subject);
                all(cmp(Cmp::Le, Expr::Minus(boxed(end), boxed(start)), int(limit)))
            }
            0..=2 if effects => {
                let done = Expr::Done(0, boxed(Expr::Local(0)));
                let condition = phrases.simple(&scope);
                let none = cmp(Cmp::Eq, done, int(0));
                all(Expr::Or(vec![none, condition]))
            }
            _ if two && roll.is_multiple_of(2) => {
                let at = |attr: usize| Expr::Attr(boxed(Expr::Local(0)), subject, attr);
                let none = cmp(Cmp::Eq, at(roll / 2 % 2), int(0));
                let op = [Cmp::Ne, Cmp::Lt, Cmp::Ge][limit as usize];
                all(Expr::Or(vec![none, cmp(op, at(0), at(1))]))
            }
            3 => all(phrases.condition(&scope, 2)),
            4 => all(Expr::Or(vec![phrases.condition(&scope, 1), phrases.condition(&scope, 1)])),
            5 => Expr::Quant {
                all: false,
                local: 0,
                over: over.clone(),
                filter: None,
                body: boxed(phrases.condition(&scope, 1)),
            },
            6 | 7 => {
                let filter = Some(boxed(phrases.simple(&scope)));
                let count = Expr::Total { local: 0, over: over.clone(), filter, value: None };
                cmp(Cmp::Le, count, int(limit.min(1)))
            }
            8 => all(Expr::Or(vec![phrases.simple(&scope), phrases.simple(&scope)])),
            _ => all(phrases.change(&scope)),
        };
        self.locals += 10;
        body
    }

    pub(super) fn faults(&mut self) {
        let memory = !self.design.actors[USER].fields.is_empty();
        let chance = |fault: Fault, theme: Theme| match fault {
            Fault::Crash if memory => 40,
            Fault::Crash if theme == Theme::Copies => 40,
            Fault::Pause | Fault::LostReply if memory => 50,
            Fault::Late if theme == Theme::Memory => 20,
            Fault::Duplicate if theme == Theme::Memory => 40,
            Fault::Late | Fault::Duplicate
                if matches!(theme, Theme::Truth | Theme::Time | Theme::Effects) =>
            {
                8
            }
            Fault::ClockStep if theme == Theme::Time => 25,
            Fault::LostMessage | Fault::DoubledMessage | Fault::Partition
                if theme == Theme::Network =>
            {
                45
            }
            Fault::Evict | Fault::Stale if theme == Theme::Copies => 55,
            _ => 0,
        };
        for (fault, _) in Fault::ALL {
            if self.dice.chance(chance(fault, self.theme)) {
                let budget = self.dice.chance(55).then_some(1);
                self.design.check.faults.push((fault, budget));
            }
        }
        if self.lone && !self.design.has(Fault::DoubledMessage) {
            self.design.check.faults.push((Fault::DoubledMessage, Some(1)));
            self.design.check.faults.sort_unstable();
        }
        if self.design.has(Fault::ClockStep) {
            for subject in &mut self.design.subjects {
                subject.count = 1;
            }
        }
    }

    pub(super) fn failures(&mut self) {
        if !self.dice.chance(35) {
            return;
        }
        let mut all = Vec::new();
        for (number, op) in self.design.ops.iter().enumerate() {
            match op.kind {
                Kind::Repair => all.push(Without::Repair(number)),
                Kind::Step | Kind::Heard => {
                    all.extend((0..op.guard.len()).map(|at| Without::Clause(number, at)));
                    if op.params[0].new {
                        all.push(Without::Fresh(number));
                    }
                    if op.keyed {
                        all.push(Without::Keyed(number));
                    }
                    if op.body.iter().any(|stmt| matches!(stmt, Stmt::Ask(..))) {
                        all.push(Without::Outbox(number));
                    }
                    if let Ty::Ref(subject) = op.params[0].ty
                        && self.design.subjects[subject].made
                        && !op.params[0].new
                    {
                        all.push(Without::Exists(number));
                    }
                }
                Kind::Read => {}
            }
        }
        for (number, effect) in self.design.effects.iter().enumerate() {
            if !effect.answers {
                all.push(Without::Key(number));
            }
        }
        for _ in 0..1 + self.dice.below(2) {
            if !all.is_empty() {
                let without = all.remove(self.dice.below(all.len()));
                let breaks = self.dice.below(self.design.goals.len());
                self.design.failures.push(Failure { without, breaks });
            }
        }
    }

    /// Leaves out what nothing uses.
    pub(super) fn trim(&mut self) {
        let remembers = self
            .design
            .ops
            .iter()
            .any(|op| !flow::takes(op).is_empty() || op.body.iter().any(remembers));
        if !remembers {
            self.design.actors[USER].fields.clear();
            self.design.check.faults.retain(|(fault, _)| {
                !matches!(fault, Fault::Crash | Fault::Pause | Fault::LostReply)
                    || self.theme == Theme::Copies && *fault == Fault::Crash
            });
        }
    }
}

fn remembers(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Remember(..) => true,
        Stmt::If(_, then, otherwise) => then.iter().chain(otherwise).any(remembers),
        _ => false,
    }
}
