//! Small random designs. The same seed gives the same design.

use super::ast::*;
use super::dice::Dice;
use super::flow;
use super::phrases::{Phrases, Scope, boxed, cmp, int};

/// What a design is about; each draws its own features.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Theme {
    Truth,
    Memory,
    Time,
    Effects,
    Network,
    Copies,
}

struct Maker {
    dice: Dice,
    design: Design,
    theme: Theme,
    spans: Vec<i64>,
    locals: usize,
    ranked: bool,
}

const USER: usize = 0;
const MENDER: usize = 1;
const BOSS: usize = 2;

/// Do parents that steps make have children?
const MADE_PARENTS: bool = true;

pub fn design(seed: u64) -> Design {
    let mut dice = Dice::new(seed);
    let theme = match dice.below(100) {
        0..24 => Theme::Truth,
        24..46 => Theme::Memory,
        46..64 => Theme::Time,
        64..77 => Theme::Effects,
        77..91 => Theme::Network,
        _ => Theme::Copies,
    };
    let mut maker = Maker {
        dice,
        design: Design { seed, ..Design::default() },
        theme,
        spans: vec![1],
        locals: 100,
        ranked: false,
    };
    maker.ranked = matches!(theme, Theme::Memory | Theme::Truth) && maker.dice.chance(45);
    maker.make();
    maker.design
}

impl Maker {
    fn phrases(&mut self) -> Phrases<'_> {
        Phrases {
            dice: &mut self.dice,
            design: &self.design,
            spans: self.spans.clone(),
            locals: self.locals,
            ranked: self.ranked,
        }
    }

    fn make(&mut self) {
        self.actors();
        self.subjects();
        self.sizes();
        self.remember();
        for at in 0..self.design.subjects.len() {
            if self.design.subjects[at].made {
                self.maker(at);
            }
        }
        if self.theme == Theme::Network {
            self.network();
        }
        if self.theme == Theme::Effects {
            self.effect();
        }
        let count = match self.theme {
            Theme::Network | Theme::Effects => 1,
            _ => 2 + self.dice.below(2),
        };
        for number in 0..count {
            self.op(number);
        }
        if self.theme != Theme::Copies && self.dice.chance(60) {
            self.repair();
        }
        if self.theme == Theme::Memory && self.dice.chance(50) {
            self.read();
        }
        let alone = self.design.subjects[0].count == 1 && self.design.check.horizon.is_some();
        if self.theme == Theme::Time && alone && self.dice.chance(30) {
            self.move_on();
        }
        self.goals();
        self.faults();
        self.failures();
        self.trim();
    }

    fn actors(&mut self) {
        let count = 1 + self.dice.below(2);
        let actor = |name, count| Actor { name, count, fields: Vec::new(), apart: None };
        self.design.actors = vec![actor("user", count), actor("mender", 0)];
        if self.theme == Theme::Truth && self.dice.chance(40) {
            let mut boss = actor("boss", 1);
            boss.apart = self.dice.chance(30).then_some(USER);
            self.design.actors.push(boss);
        }
        if self.theme == Theme::Effects {
            self.design.actors.push(actor("bank", 0));
        }
    }

    fn has_boss(&self) -> bool {
        self.design.actors.get(BOSS).is_some_and(|actor| actor.name == "boss")
    }

    fn subjects(&mut self) {
        let network = self.theme == Theme::Network;
        let small = matches!(self.theme, Theme::Time | Theme::Effects | Theme::Memory);
        let one = |name, low| Subject {
            name,
            low,
            parent: None,
            count: 1,
            number_key: false,
            made: false,
            place: false,
            attrs: Vec::new(),
            log: false,
            retain: None,
            copies: None,
        };
        let mut alpha = one("Alpha", "a");
        alpha.count = if network || self.dice.chance(if small { 30 } else { 60 }) { 2 } else { 1 };
        alpha.place = network;
        alpha.made = !network && self.dice.chance(25);
        alpha.log = !network && self.dice.chance(20);
        alpha.retain = (alpha.log && self.dice.chance(40)).then_some(1);
        alpha.copies = (self.theme == Theme::Copies).then_some(USER);
        let made = alpha.made;
        self.design.subjects.push(alpha);
        if self.theme == Theme::Truth && self.dice.chance(60) {
            let mut beta = one("Beta", "b");
            beta.parent = (self.dice.chance(60) && (MADE_PARENTS || !made)).then_some(0);
            beta.made = self.dice.chance(45) || beta.parent.is_some() && made;
            beta.number_key = beta.made && self.dice.chance(60);
            beta.count = 1 + self.dice.below(2);
            self.design.subjects.push(beta);
        }
        for at in 0..self.design.subjects.len() {
            let attrs = self.attrs(at);
            self.design.subjects[at].attrs = attrs;
        }
        if self.design.subjects.get(1).is_some_and(|beta| beta.number_key) && !self.int_there(0) {
            let last = self.design.subjects[0].attrs.last_mut().expect("there are some");
            (last.ty, last.optional, last.default) = (Ty::Int, false, Value::Int(0));
        }
    }

    fn attrs(&mut self, subject: usize) -> Vec<Attr> {
        let mut kinds = vec![Ty::Enum, Ty::Bool, Ty::Int, Ty::Int];
        let mut first = Ty::Int;
        match self.theme {
            Theme::Truth => {
                kinds.extend([Ty::Actor, Ty::Actor, Ty::Text, Ty::Text]);
                let others = self.design.subjects.len();
                if others > 1 {
                    kinds.extend([Ty::Ref(1 - subject), Ty::Set(1 - subject)]);
                }
                if self.dice.chance(30) {
                    kinds.push(Ty::List);
                }
                first = self.dice.pick(&kinds);
                if self.has_boss() && subject == 0 {
                    first = Ty::Actor;
                }
            }
            Theme::Time => {
                first = Ty::Time;
                kinds.extend([Ty::Time, Ty::Span]);
            }
            Theme::Effects => first = Ty::Enum,
            Theme::Memory if self.dice.chance(15) => {
                first = Ty::Time;
                kinds = vec![Ty::Int, Ty::Bool];
            }
            _ => {}
        }
        let count = match self.theme {
            Theme::Truth => 2 + self.dice.below(2),
            _ => 1 + self.dice.below(2),
        };
        let low = self.design.subjects[subject].low;
        (0..count)
            .map(|at| {
                let ty = if at == 0 { first.clone() } else { self.dice.pick(&kinds) };
                let (optional, default) = match ty {
                    Ty::Bool => (false, Value::Bool(false)),
                    Ty::Int => (false, Value::Int(0)),
                    Ty::Enum => (false, Value::Enum(0)),
                    Ty::Text => (false, Value::Written("")),
                    Ty::Span => (false, Value::Span(1)),
                    Ty::Set(_) => (false, Value::Set(Default::default())),
                    Ty::List => (false, Value::List(Vec::new())),
                    Ty::Time | Ty::Actor | Ty::Ref(_) => (true, Value::Null),
                };
                Attr { name: format!("{low}_{at}"), ty, optional, default }
            })
            .collect()
    }

    fn sizes(&mut self) {
        let low = -(self.dice.below(2) as i64);
        let check = &mut self.design.check;
        check.bound = (low, 1 + self.dice.below(2) as i64);
        check.given = (0, 1);
        check.texts = 1 + self.dice.below(2);
        check.spans = self.dice.pick(&[(1, 1), (2, 2), (1, 2)]);
        check.calls = if self.dice.chance(12) { 2 } else { 1 };
        check.messages = 1 + self.dice.below(2);
        check.list = 1 + self.dice.below(2);
        check.log = 1 + self.dice.below(2) as i64;
        check.never_unknown = self.dice.chance(20);
        if self.has_boss() && self.dice.chance(50) {
            self.design.check.to = Some(self.dice.pick(&[USER, BOSS]));
        }
        self.spans = self.dice.pick(&[vec![1], vec![1, 2], vec![2, 3]]);
        let timed = |attr: &Attr| matches!(attr.ty, Ty::Time | Ty::Span);
        if self.design.subjects.iter().flat_map(|held| &held.attrs).any(timed)
            && self.dice.chance(70)
        {
            let check = &mut self.design.check;
            check.time = Some(1 + self.dice.below(2) as i64);
            check.horizon = Some(self.dice.pick(&[3, 4, 5]));
        }
    }

    fn remember(&mut self) {
        let wanted = match self.theme {
            Theme::Memory => 100,
            Theme::Truth | Theme::Time => 20,
            _ => 0,
        };
        let numbers = self.design.subjects[0].attrs.iter();
        let mut kinds: Vec<Ty> = numbers.map(|attr| attr.ty.clone()).collect();
        kinds.retain(|ty| matches!(ty, Ty::Int));
        if !kinds.is_empty() && self.dice.chance(wanted) {
            let ty = self.dice.pick(&kinds);
            self.design.actors[USER].fields.push(Field { name: "my_n", ty, of: 0 });
        }
    }

    fn record_param(&self, subject: usize, new: bool) -> Param {
        let held = &self.design.subjects[subject];
        Param { name: held.low.into(), ty: Ty::Ref(subject), new, default: None }
    }

    fn push(&mut self, op: Op) {
        self.design.ops.push(op);
    }

    fn maker(&mut self, subject: usize) {
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
                op.body = vec![Stmt::New(1, parent.map(|_| Expr::Param(0)), own)];
            }
            _ => {
                let mut phrases = self.phrases();
                op.body = vec![phrases.assign(&scope, 0)];
                self.locals += 10;
            }
        }
        self.push(op);
    }

    /// One step of a client.
    fn op(&mut self, number: usize) {
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
            records.push((Expr::Parent(boxed(Expr::Param(0))), 0));
        }
        let mut wanted = [
            (self.dice.chance(25) && !self.ranked, "num", Ty::Int),
            (self.dice.chance(15), "flag", Ty::Bool),
            (self.dice.chance(35) && self.theme == Theme::Time, "ttl", Ty::Span),
            (self.dice.chance(60), "name", Ty::Text),
            (self.dice.chance(20) && self.theme == Theme::Truth, "names", Ty::List),
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

    fn int_there(&self, subject: usize) -> bool {
        self.design.subjects[subject].attrs.iter().any(|attr| attr.ty == Ty::Int)
    }

    fn repair(&mut self) {
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

    fn read(&mut self) {
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
    fn move_on(&mut self) {
        let place = Expr::Attr(boxed(Expr::Param(0)), 0, 0);
        let guard = vec![("c0".to_string(), cmp(Cmp::Le, place, Expr::Now))];
        let length = self.phrases().span();
        let body = vec![Stmt::Assign(Expr::Param(0), 0, 0, Change::Add, length)];
        let (name, params) = ("move_on".to_string(), vec![self.record_param(0, false)]);
        self.push(Op { name, kind: Kind::Step, actor: USER, params, guard, body, keyed: false });
    }

    /// A step that sends, and one that hears; perhaps that sends on.
    fn network(&mut self) {
        let on = self.dice.chance(50);
        let hear = self.design.ops.len() + 1;
        let number = |at| Expr::Attr(boxed(Expr::Param(at)), 0, 0);
        let node =
            |name: &str| Param { name: name.into(), ty: Ty::Ref(0), new: false, default: None };
        let scope = Scope { records: vec![(Expr::Param(0), 0)], ..Scope::default() };
        let told = Param { name: "told".into(), ty: Ty::Int, new: false, default: None };
        let guarded = self.dice.chance(60);
        let twice = self.dice.chance(15);
        let count = self.dice.below(2);
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
        self.push(talk);
        self.push(heard);
    }

    fn effect(&mut self) {
        let bank = self.design.actors.len() - 1;
        let status =
            |at: usize| Stmt::Assign(Expr::Param(0), 0, 0, Change::Set, Expr::Lit(Value::Enum(at)));
        let is = |at: usize| {
            cmp(Cmp::Eq, Expr::Attr(boxed(Expr::Param(0)), 0, 0), Expr::Lit(Value::Enum(at)))
        };
        let number = self.design.subjects[0].attrs.iter().position(|attr| attr.ty == Ty::Int);
        let sum = number.filter(|_| self.dice.chance(40));
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

    fn goals(&mut self) {
        for number in 0..2 + self.dice.below(2) {
            let body = self.invariant();
            let uses_old = flow::anywhere(&body, &|held| matches!(held, Expr::Old(_)));
            let name = format!("i{number}");
            self.design.goals.push(Goal { name, recovers: false, uses_old, body });
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
                uses_old: false,
                body,
            });
        }
    }

    fn invariant(&mut self) -> Expr {
        let subject = self.dice.below(self.design.subjects.len());
        let log = self.design.subjects[subject].log;
        let effects = !self.design.effects.is_empty();
        let times_meet = self.theme == Theme::Time;
        let scope =
            Scope { records: vec![(Expr::Local(0), subject)], times_meet, ..Scope::default() };
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

    fn faults(&mut self) {
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
        if self.design.has(Fault::ClockStep) {
            for subject in &mut self.design.subjects {
                subject.count = 1;
            }
        }
    }

    fn failures(&mut self) {
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
    fn trim(&mut self) {
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

/// Does the operation mention this parameter?
pub fn uses(op: &Op, param: usize) -> bool {
    let is = |expr: &Expr| *expr == Expr::Param(param);
    op.guard.iter().any(|(_, clause)| flow::anywhere(clause, &is))
        || flow::exprs(&op.body).into_iter().any(|expr| flow::anywhere(expr, &is))
}
