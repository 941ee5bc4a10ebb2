//! The operations of a random design.

use super::ast::*;
use super::flow;
use super::generate::{BOSS, MENDER, Maker, Theme, USER};
use super::phrases::{Scope, boxed, cmp, int};

impl Maker {
    pub(super) fn maker(&mut self, subject: usize) {
        let low = self.design.subjects[subject].low;
        let (name, number_key) = (format!("make_{low}"), self.design.subjects[subject].number_key);
        let parent = self.design.subjects[subject].parent;
        let scope = Scope { records: vec![(Expr::Param(0), subject)], ..Scope::default() };
        let mut op = Op {
            name,
            kind: Kind::Step,
            actor: USER,
            params: vec![self.record_param(subject, true)],
            guard: Vec::new(),
            body: Vec::new(),
            keyed: false,
        };
        let number = self.design.subjects[0].attrs.iter().position(|attr| attr.ty == Ty::Int);
        match (number_key, number, parent) {
            (true, Some(number), parent) if subject == 1 => {
                // The key is computed: it may lie outside of the world.
                op.params = vec![self.record_param(0, false)];
                let own = Expr::Attr(boxed(Expr::Param(0)), 0, number);
                let next = Stmt::Assign(Expr::Param(0), 0, number, Change::Add, int(1));
                op.body = vec![Stmt::New(1, parent.map(|_| Expr::Param(0)), own), next];
            }
            _ => {
                let mut phrases = self.phrases();
                op.body = vec![phrases.assign(&scope, 0)];
                self.locals += 10;
            }
        }
        self.push(op);
    }

    /// Perhaps one more record, by a key that is computed from what is at hand. It may be one of those that are at hand,
    /// and it may not be there.
    fn computed(&mut self, records: &mut Vec<(Expr, usize)>) {
        if self.theme == Theme::Network || !self.dice.chance(30) {
            return;
        }
        let subject = self.dice.below(self.design.subjects.len());
        let Subject { parent, number_key, count, .. } = self.design.subjects[subject];
        let at_hand = |of: usize| records.iter().find(|held| held.1 == of).map(|held| &held.0);
        let own = if number_key {
            let number = self.design.subjects[0].attrs.iter().position(|attr| attr.ty == Ty::Int);
            match (at_hand(0), number) {
                (Some(alpha), Some(number)) if self.dice.chance(40) => {
                    Some(Expr::Attr(boxed(alpha.clone()), 0, number))
                }
                _ => Some(int(self.dice.below(count) as i64)),
            }
        } else {
            at_hand(subject).map(|held| Expr::Own(boxed(held.clone()), subject))
        };
        let under = parent.map(at_hand);
        let (Some(own), false) = (own, under == Some(None)) else { return };
        let under = under.flatten().map(|held| boxed(held.clone()));
        records.push((Expr::Keyed(subject, under, boxed(own)), subject));
    }

    /// One step of a client.
    pub(super) fn op(&mut self, number: usize) {
        let actor = if self.has_boss() && self.dice.chance(50) { BOSS } else { USER };
        let subject = self.dice.below(self.design.subjects.len());
        let mut params = vec![self.record_param(subject, false)];
        let mut records = vec![(Expr::Param(0), subject)];
        if self.design.subjects.len() > 1 && self.dice.chance(35) {
            params.push(self.record_param(1 - subject, false));
            records.push((Expr::Param(1), 1 - subject));
        }
        if self.design.subjects[subject].parent.is_some()
            && records.len() == 1
            && self.dice.chance(40)
        {
            records.push((Expr::Parent(boxed(Expr::Param(0)), 0), 0));
        }
        self.computed(&mut records);
        let mut wanted = [
            (self.dice.chance(25) && !self.ranked, "num", Ty::Int),
            (self.dice.chance(15), "flag", Ty::Bool),
            (self.dice.chance(35) && self.theme == Theme::Time, "ttl", Ty::Span),
            (self.dice.chance(60), "name", Ty::Text),
            (self.dice.chance(20) && self.theme == Theme::Truth, "names", Ty::List),
            (self.lines && self.dice.chance(60), "lines", Ty::Lines),
            (self.dice.chance(20) && self.has_boss(), "to", Ty::Actor),
        ];
        let network = self.theme == Theme::Network;
        let defaults = [self.dice.chance(35), self.dice.chance(35), self.dice.chance(35)];
        loop {
            let mut all = params.clone();
            let mut scope = Scope {
                records: records.clone(),
                me: !network,
                times_meet: self.theme == Theme::Time,
                children: true,
                ..Scope::default()
            };
            for (on, name, ty) in &wanted {
                if !on {
                    continue;
                }
                let at = Some(all.len());
                let mut default = None;
                match *name {
                    "num" => {
                        scope.num = at;
                        default = defaults[0].then_some(Value::Int(2));
                    }
                    "flag" => scope.flag = at,
                    "ttl" => {
                        scope.ttl = at;
                        default = defaults[1].then_some(Value::Span(self.spans[0]));
                    }
                    "name" => {
                        scope.name = at;
                        default = defaults[2].then_some(Value::Written("x"));
                    }
                    "names" => scope.names = at,
                    "lines" => scope.lines = at,
                    _ => scope.to = at,
                }
                all.push(Param { name: (*name).into(), ty: ty.clone(), new: false, default });
            }
            let alphas: Vec<usize> =
                (0..params.len()).filter(|at| params[*at].ty == Ty::Ref(0)).collect();
            if actor == USER && !self.design.actors[USER].fields.is_empty() && alphas.len() == 1 {
                scope.memory = Some((0, alphas[0]));
            }
            if self.design.subjects[subject].copies.is_some() && self.int_there(subject) {
                scope.copy = Some(0);
            }
            let clauses = match number {
                0 => 0,
                _ => usize::from(self.dice.chance(75)) + usize::from(self.dice.chance(25)),
            };
            let count = 1 + self.dice.below(2);
            let mut phrases = self.phrases();
            let guard: Vec<(String, Expr)> =
                (0..clauses).map(|at| (format!("c{at}"), phrases.condition(&scope, 1))).collect();
            let mut body = phrases.statements(&scope, count, 1);
            self.locals += 20;
            let explicit = self.design.subjects[subject].made;
            let childless = self.design.subjects.iter().all(|held| held.parent != Some(subject));
            if explicit && childless && self.dice.chance(25) {
                body.push(Stmt::Delete(Expr::Param(0)));
            }
            let op = Op {
                name: format!("op_{number}"),
                kind: Kind::Step,
                actor,
                params: all,
                guard,
                body,
                keyed: self.dice.chance(10),
            };
            let mut unused = false;
            for (at, param) in op.params.iter().enumerate().skip(params.len()) {
                if !uses(&op, at) {
                    unused = true;
                    wanted
                        .iter_mut()
                        .filter(|held| held.1 == param.name)
                        .for_each(|held| held.0 = false);
                }
            }
            if !unused {
                return self.push(op);
            }
        }
    }

    pub(super) fn int_there(&self, subject: usize) -> bool {
        self.design.subjects[subject].attrs.iter().any(|attr| attr.ty == Ty::Int)
    }

    /// Are the first two attributes of a record numbers? Then goals compare them.
    pub(super) fn numbers_meet(&self, subject: usize) -> bool {
        let attrs = &self.design.subjects[subject].attrs;
        attrs.len() > 1 && attrs.iter().take(2).all(|attr| attr.ty == Ty::Int)
    }

    /// A step that only advances a number of the first subject.
    pub(super) fn advance(&mut self, attr: usize) {
        let (name, kind) = (format!("advance_{attr}"), Kind::Step);
        let body = vec![Stmt::Assign(Expr::Param(0), 0, attr, Change::Add, int(1))];
        let (params, guard) = (vec![self.record_param(0, false)], Vec::new());
        self.push(Op { name, kind, actor: USER, params, guard, body, keyed: false });
    }

    pub(super) fn repair(&mut self) {
        let subject = self.dice.below(self.design.subjects.len());
        let times_meet = self.theme == Theme::Time;
        let scope = Scope {
            records: vec![(Expr::Param(0), subject)],
            times_meet,
            children: true,
            ..Scope::default()
        };
        let params = vec![self.record_param(subject, false)];
        let count = 1 + self.dice.below(2);
        let mut phrases = self.phrases();
        let guard = vec![("c0".to_string(), phrases.condition(&scope, 1))];
        let body = phrases.statements(&scope, count, 1);
        self.locals += 20;
        let name = "mend".to_string();
        let kind = Kind::Repair;
        self.push(Op { name, kind, actor: MENDER, params, guard, body, keyed: false });
    }

    pub(super) fn read(&mut self) {
        if self.design.actors[USER].fields.is_empty() {
            return;
        }
        let scope = Scope { records: vec![(Expr::Param(0), 0)], ..Scope::default() };
        let ty = &self.design.actors[USER].fields[0].ty;
        let at = self.design.subjects[0].attrs.iter().position(|attr| attr.ty == *ty);
        let value =
            Expr::Attr(boxed(Expr::Param(0)), 0, at.expect("memory is of a type that is there"));
        let guarded = self.dice.chance(30);
        let mut phrases = self.phrases();
        let guard =
            if guarded { vec![("c0".to_string(), phrases.simple(&scope))] } else { Vec::new() };
        let (params, body) = (vec![self.record_param(0, false)], vec![Stmt::Remember(0, 0, value)]);
        let name = "look".to_string();
        self.push(Op { name, kind: Kind::Read, actor: USER, params, guard, body, keyed: false });
    }

    /// A time is moved on from where it was, which may be too long ago to be known.
    pub(super) fn move_on(&mut self) {
        let place = Expr::Attr(boxed(Expr::Param(0)), 0, 0);
        let guard = vec![("c0".to_string(), cmp(Cmp::Le, place.clone(), Expr::Now))];
        let length = self.phrases().span();
        let (change, value) = match self.design.ops.len() % 2 {
            0 => (Change::Add, length),
            _ => (Change::Set, Expr::Next(boxed(place))),
        };
        let body = vec![Stmt::Assign(Expr::Param(0), 0, 0, change, value)];
        let (name, params) = ("move_on".to_string(), vec![self.record_param(0, false)]);
        self.push(Op { name, kind: Kind::Step, actor: USER, params, guard, body, keyed: false });
    }

    /// A step that sends, and one that hears; perhaps that sends on.
    pub(super) fn network(&mut self) {
        let on = self.dice.chance(50) || self.lone;
        let hear = self.design.ops.len() + 1;
        let number = |at| Expr::Attr(boxed(Expr::Param(at)), 0, 0);
        let node =
            |name: &str| Param { name: name.into(), ty: Ty::Ref(0), new: false, default: None };
        let scope = Scope { records: vec![(Expr::Param(0), 0)], ..Scope::default() };
        let told = Param { name: "told".into(), ty: Ty::Int, new: false, default: None };
        let guarded = self.dice.chance(60);
        let twice = self.dice.chance(15);
        let count = self.dice.below(2);
        let once = self.once;
        let mut phrases = self.phrases();
        let tell = |to: usize, own: usize, with: Expr| {
            let mut args = vec![Expr::Param(to), with];
            if on {
                args.push(Expr::Param(own));
            }
            Stmt::Tell(hear, args)
        };
        let mut talk = Op {
            name: "talk".into(),
            kind: Kind::Step,
            actor: USER,
            params: vec![node("a"), node("other")],
            guard: if guarded {
                vec![("c0".into(), phrases.condition(&scope, 1))]
            } else {
                Vec::new()
            },
            body: phrases.statements(&scope, 1, 0),
            keyed: false,
        };
        if once {
            let sent = Expr::Attr(boxed(Expr::Param(0)), 0, 1);
            talk.guard = vec![("c0".into(), Expr::Not(boxed(sent)))];
            let yes = Expr::Lit(Value::Bool(true));
            talk.body = vec![Stmt::Assign(Expr::Param(0), 0, 1, Change::Set, yes)];
        }
        talk.body.push(tell(1, 0, number(0)));
        let scope = Scope { num: Some(1), ..scope };
        let mut heard = Op {
            name: "hear".into(),
            kind: Kind::Heard,
            actor: USER,
            params: vec![node("a"), told],
            guard: (0..1 + count)
                .map(|at| (format!("c{at}"), phrases.condition(&scope, 0)))
                .collect(),
            body: vec![phrases.assign(&scope, 0)],
            keyed: false,
        };
        let own = Stmt::Assign(Expr::Param(0), 0, 0, Change::Set, Expr::Param(1));
        if !uses(&heard, 1) {
            heard.body.push(own);
        }
        if on {
            heard.params.push(node("other"));
            let with = if twice { number(0) } else { Expr::Param(1) };
            heard.body.push(tell(2, 0, with));
        }
        self.locals += 20;
        if once {
            self.design.check.messages = if self.lone { 1 } else { 2 };
        }
        self.push(talk);
        self.push(heard);
    }

    pub(super) fn effect(&mut self) {
        let bank = self.design.actors.len() - 1;
        let status =
            |at: usize| Stmt::Assign(Expr::Param(0), 0, 0, Change::Set, Expr::Lit(Value::Enum(at)));
        let is = |at: usize| {
            cmp(Cmp::Eq, Expr::Attr(boxed(Expr::Param(0)), 0, 0), Expr::Lit(Value::Enum(at)))
        };
        let number = self.design.subjects[0].attrs.iter().position(|attr| attr.ty == Ty::Int);
        let sum = number.filter(|_| self.dice.chance(65));
        let answers = number.is_some() && self.dice.chance(40);
        let record = self.record_param(0, false);
        let mut params = vec![record.clone()];
        let mut args = vec![Expr::Param(0)];
        if let Some(number) = sum {
            params.push(Param { name: "sum".into(), ty: Ty::Int, new: false, default: None });
            args.push(Expr::Attr(boxed(Expr::Param(0)), 0, number));
        }
        let ask = Stmt::Ask(0, args.clone());
        let on_ok = match (number, answers, sum, self.dice.below(4)) {
            (Some(number), true, _, _) => {
                let answer = Expr::Param(params.len());
                vec![status(2), Stmt::Assign(Expr::Param(0), 0, number, Change::Set, answer)]
            }
            (Some(number), _, Some(_), _) => {
                vec![
                    status(2),
                    Stmt::Assign(Expr::Param(0), 0, number, Change::Set, Expr::Param(1)),
                ]
            }
            (Some(number), _, _, 0) => {
                vec![status(2), Stmt::Assign(Expr::Param(0), 0, number, Change::Add, int(1))]
            }
            _ => vec![status(2)],
        };
        let on_refused = vec![status(self.dice.below(3))];
        let on_unknown = match self.dice.below(3) {
            0 => vec![status(self.dice.below(3))],
            1 if sum.is_none() => vec![ask.clone()],
            _ => Vec::new(),
        };
        let guarded = self.dice.chance(50);
        let guard = if guarded { vec![("c0".into(), is(1))] } else { Vec::new() };
        self.design.effects.push(Effect {
            name: "pay".into(),
            actor: bank,
            params,
            guard,
            answers,
            on_ok,
            on_refused,
            on_unknown,
        });
        let guard = if self.dice.chance(60) { vec![("c0".into(), is(0))] } else { Vec::new() };
        let body = vec![status(1), ask.clone()];
        self.push(Op {
            name: "ask".into(),
            kind: Kind::Step,
            actor: USER,
            params: vec![record.clone()],
            guard,
            body,
            keyed: false,
        });
        if self.dice.chance(50) {
            let when = self.dice.below(2);
            self.push(Op {
                name: "ask_again".into(),
                kind: Kind::Repair,
                actor: MENDER,
                params: vec![record],
                guard: vec![("c0".into(), is(when))],
                body: vec![ask],
                keyed: false,
            });
        }
    }
}

/// Does the operation mention this parameter?
pub fn uses(op: &Op, param: usize) -> bool {
    let is = |expr: &Expr| *expr == Expr::Param(param);
    op.guard.iter().any(|(_, clause)| flow::anywhere(clause, &is))
        || flow::exprs(&op.body).into_iter().any(|expr| flow::anywhere(expr, &is))
}
