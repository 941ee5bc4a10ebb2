//! Random conditions, values and statements.

use super::ast::*;
use super::dice::Dice;

/// What an expression may mention.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// a record and its subject
    pub records: Vec<(Expr, usize)>,
    pub num: Option<usize>,
    pub flag: Option<usize>,
    pub ttl: Option<usize>,
    pub name: Option<usize>,
    pub names: Option<usize>,
    pub lines: Option<usize>,
    pub to: Option<usize>,
    pub me: bool,
    /// the field and the parameter that it is of
    pub memory: Option<(usize, usize)>,
    pub copy: Option<usize>,
    /// stored times may be compared with each other
    pub times_meet: bool,
    /// guards may look at children
    pub children: bool,
}

pub struct Phrases<'d> {
    pub dice: &'d mut Dice,
    pub design: &'d Design,
    /// written durations, in units of five seconds
    pub spans: Vec<i64>,
    pub locals: usize,
    /// numbers are only copied, compared with each other and with 0, and advanced by one
    pub ranked: bool,
}

pub fn boxed(expr: Expr) -> Box<Expr> {
    Box::new(expr)
}

pub fn int(value: i64) -> Expr {
    Expr::Lit(Value::Int(value))
}

pub fn cmp(op: Cmp, left: Expr, right: Expr) -> Expr {
    Expr::Cmp(op, boxed(left), boxed(right))
}

const ORDER: [Cmp; 6] = [Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge];
const SAME: [Cmp; 2] = [Cmp::Eq, Cmp::Ne];

impl Phrases<'_> {
    fn attr(&mut self, scope: &Scope) -> (Expr, usize, usize, Ty) {
        let (record, subject) = self.dice.pick(&scope.records);
        let attrs = &self.design.subjects[subject].attrs;
        let at = self.dice.below(attrs.len());
        (record, subject, at, attrs[at].ty.clone())
    }

    fn of_type(&self, scope: &Scope, wanted: &Ty) -> Vec<Expr> {
        let mut list = Vec::new();
        for (record, subject) in &scope.records {
            for (at, attr) in self.design.subjects[*subject].attrs.iter().enumerate() {
                if attr.ty == *wanted {
                    list.push(Expr::Attr(boxed(record.clone()), *subject, at));
                }
            }
        }
        list
    }

    fn literal(&mut self) -> i64 {
        if self.ranked { 0 } else { self.dice.below(3) as i64 }
    }

    pub fn span(&mut self) -> Expr {
        Expr::Lit(Value::Span(self.dice.pick(&self.spans.clone())))
    }

    fn length(&mut self, scope: &Scope) -> Expr {
        let stored = self.of_type(scope, &Ty::Span);
        match scope.ttl {
            Some(ttl) if self.dice.chance(60) => Expr::Param(ttl),
            _ if !stored.is_empty() && self.dice.chance(50) => self.dice.pick(&stored),
            _ => self.span(),
        }
    }

    fn written(&mut self) -> Expr {
        Expr::Lit(Value::Written(self.dice.pick(&["x", "y", ""])))
    }

    fn reference(&mut self, scope: &Scope, to: usize) -> Option<Expr> {
        let all: Vec<Expr> =
            scope.records.iter().filter(|held| held.1 == to).map(|held| held.0.clone()).collect();
        (!all.is_empty()).then(|| self.dice.pick(&all))
    }

    /// Of one record and constants alone.
    pub fn simple(&mut self, scope: &Scope) -> Expr {
        let (record, subject, at, ty) = self.attr(scope);
        let place = Expr::Attr(boxed(record), subject, at);
        let number = self.literal();
        match ty {
            Ty::Bool if self.dice.chance(50) => place,
            Ty::Bool => Expr::Not(boxed(place)),
            Ty::Int => cmp(self.dice.pick(&ORDER), place, int(number)),
            Ty::Enum => {
                cmp(self.dice.pick(&SAME), place, Expr::Lit(Value::Enum(self.dice.below(3))))
            }
            Ty::Text => cmp(self.dice.pick(&SAME), place, self.written()),
            Ty::Span => cmp(self.dice.pick(&[Cmp::Lt, Cmp::Le, Cmp::Ge]), place, self.span()),
            Ty::Time | Ty::Actor | Ty::Ref(_) if self.dice.chance(50) => Expr::IsNull(boxed(place)),
            Ty::Time | Ty::Actor | Ty::Ref(_) => Expr::Not(boxed(Expr::IsNull(boxed(place)))),
            Ty::Lines if self.dice.chance(70) => self.about_lines(scope, place),
            Ty::Set(_) | Ty::List | Ty::Lines => {
                cmp(self.dice.pick(&[Cmp::Lt, Cmp::Ge]), Expr::Size(boxed(place)), int(number))
            }
        }
    }

    pub fn condition(&mut self, scope: &Scope, depth: usize) -> Expr {
        if depth > 0 && self.dice.chance(35) {
            let left = self.condition(scope, depth - 1);
            let right = self.condition(scope, depth - 1);
            return match self.dice.below(5) {
                0 | 1 => Expr::And(vec![left, right]),
                2 => Expr::Or(vec![left, right]),
                3 => Expr::Implies(boxed(left), boxed(right)),
                _ => Expr::Not(boxed(left)),
            };
        }
        if let Some((field, param)) = scope.memory
            && self.dice.chance(35)
        {
            let ty = self.design.actors[0].fields[field].ty.clone();
            let own: Vec<Expr> = self.of_type(scope, &ty);
            let own: Vec<Expr> = own
                .into_iter()
                .filter(
                    |held| matches!(held, Expr::Attr(record, ..) if **record == Expr::Param(param)),
                )
                .collect();
            if !own.is_empty() {
                let op = self.dice.pick(&[Cmp::Eq, Cmp::Eq, Cmp::Le, Cmp::Ne]);
                return cmp(op, self.dice.pick(&own), Expr::Memory(field, param));
            }
        }
        if let Some(copy) = scope.copy
            && self.dice.chance(40)
        {
            return match self.dice.below(4) {
                0 => Expr::CopyThere(copy),
                1 => Expr::Not(boxed(Expr::CopyThere(copy))),
                _ => {
                    let numbers = self.of_type(scope, &Ty::Int);
                    let other = self.dice.pick(&numbers);
                    cmp(self.dice.pick(&ORDER), Expr::Copied(copy), other)
                }
            };
        }
        if scope.children && self.dice.chance(15) {
            return self.counted(scope);
        }
        if let Some(name) = scope.name
            && self.dice.chance(25)
        {
            return cmp(self.dice.pick(&SAME), Expr::Param(name), self.written());
        }
        if let Some(names) = scope.names
            && self.dice.chance(40)
        {
            let texts = self.of_type(scope, &Ty::Text);
            return match self.dice.below(2) {
                0 if !texts.is_empty() => {
                    Expr::In(boxed(self.dice.pick(&texts)), boxed(Expr::Param(names)))
                }
                _ => cmp(Cmp::Ge, Expr::Size(boxed(Expr::Param(names))), int(1)),
            };
        }
        if let Some(lines) = scope.lines
            && self.dice.chance(50)
        {
            return self.about_lines(scope, Expr::Param(lines));
        }
        if let (Some(to), true) = (scope.to, self.dice.chance(30)) {
            return cmp(self.dice.pick(&SAME), Expr::Param(to), Expr::Me);
        }
        self.about(scope)
    }

    /// A condition on one attribute.
    fn about(&mut self, scope: &Scope) -> Expr {
        let (record, subject, at, ty) = self.attr(scope);
        let place = Expr::Attr(boxed(record), subject, at);
        match ty {
            Ty::Int => {
                let others = self.of_type(scope, &Ty::Int);
                let right = match self.dice.below(6) {
                    0 | 1 if scope.num.is_some() => Expr::Param(scope.num.expect("it is there")),
                    2 => self.dice.pick(&others),
                    3 if !self.ranked => Expr::Plus(boxed(self.dice.pick(&others)), boxed(int(1))),
                    4 if self.ranked => self.dice.pick(&others),
                    _ => int(self.literal()),
                };
                cmp(self.dice.pick(&ORDER), place, right)
            }
            Ty::Text => {
                let others = self.of_type(scope, &Ty::Text);
                let right = match (scope.name, self.dice.below(4)) {
                    (Some(name), 0 | 1) => Expr::Param(name),
                    (_, 2) => self.dice.pick(&others),
                    _ => self.written(),
                };
                cmp(self.dice.pick(&SAME), place, right)
            }
            Ty::Enum if self.dice.chance(25) => {
                let words = [0, 2].map(|at| Expr::Lit(Value::Enum(at))).to_vec();
                Expr::In(boxed(place), boxed(Expr::SetOf(words)))
            }
            Ty::Time => {
                let others = self.of_type(scope, &Ty::Time);
                match self.dice.below(8) {
                    0 => Expr::IsNull(boxed(place)),
                    1 => cmp(self.dice.pick(&ORDER), place, Expr::Now),
                    2 => {
                        let length = self.length(scope);
                        let later = Expr::Plus(boxed(place), boxed(length));
                        cmp(self.dice.pick(&[Cmp::Lt, Cmp::Le, Cmp::Gt]), later, Expr::Now)
                    }
                    3 => {
                        let length = self.length(scope);
                        let since = Expr::Minus(boxed(Expr::Now), boxed(place));
                        cmp(self.dice.pick(&[Cmp::Lt, Cmp::Le, Cmp::Gt]), since, length)
                    }
                    4 if scope.times_meet && others.len() > 1 => {
                        let other = self.dice.pick(&others);
                        cmp(self.dice.pick(&[Cmp::Lt, Cmp::Le]), place, other)
                    }
                    5 | 6 => {
                        let length = self.length(scope);
                        let then = Expr::Minus(boxed(Expr::Now), boxed(length));
                        cmp(self.dice.pick(&[Cmp::Lt, Cmp::Le, Cmp::Ge]), place, then)
                    }
                    _ => cmp(self.dice.pick(&[Cmp::Lt, Cmp::Ge]), place, Expr::Now),
                }
            }
            Ty::Actor if scope.me && self.dice.chance(60) => {
                cmp(self.dice.pick(&SAME), place, Expr::Me)
            }
            Ty::Actor => {
                let others = self.of_type(scope, &Ty::Actor);
                match self.dice.below(2) {
                    0 if others.len() > 1 => {
                        cmp(self.dice.pick(&SAME), place, self.dice.pick(&others))
                    }
                    _ => Expr::IsNull(boxed(place)),
                }
            }
            Ty::Ref(to) => match self.reference(scope, to) {
                Some(other) => cmp(self.dice.pick(&SAME), place, other),
                None => self.through(place, to),
            },
            Ty::Set(of) if self.dice.chance(35) => {
                let local = self.locals;
                self.locals += 1;
                let own = Scope { records: vec![(Expr::Local(local), of)], ..Scope::default() };
                let body = boxed(self.simple(&own));
                let (all, over) = (self.dice.chance(50), Domain::Elements(boxed(place)));
                Expr::Quant { all, local, over, filter: None, body }
            }
            Ty::Set(of) => match self.reference(scope, of) {
                Some(other) => Expr::In(boxed(other), boxed(place)),
                None => cmp(Cmp::Lt, Expr::Size(boxed(place)), int(self.dice.below(3) as i64)),
            },
            _ => self.simple(scope),
        }
    }

    /// A condition on the records of a list.
    fn about_lines(&mut self, scope: &Scope, list: Expr) -> Expr {
        let others = self.of_type(scope, &Ty::Lines);
        if self.dice.chance(15) && !others.is_empty() {
            return cmp(self.dice.pick(&SAME), list, self.dice.pick(&others));
        }
        let local = self.locals;
        self.locals += 1;
        let field = |at: usize| Expr::Field(local, at, boxed(list.clone()));
        let texts = self.of_type(scope, &Ty::Text);
        let about_mark = match (scope.name, self.dice.below(4)) {
            (Some(name), 0 | 1) => cmp(self.dice.pick(&SAME), field(0), Expr::Param(name)),
            (_, 2) if !texts.is_empty() => {
                cmp(self.dice.pick(&SAME), field(0), self.dice.pick(&texts))
            }
            _ => cmp(self.dice.pick(&SAME), field(0), Expr::Lit(Value::Written("x"))),
        };
        let about_number = cmp(self.dice.pick(&[Cmp::Ge, Cmp::Eq]), field(1), int(1));
        let over = Domain::Elements(boxed(list.clone()));
        match self.dice.below(4) {
            0 => {
                let body = boxed(Expr::Or(vec![about_mark, about_number]));
                Expr::Quant { all: true, local, over, filter: None, body }
            }
            1 => {
                let (filter, body) = (Some(boxed(about_number)), boxed(about_mark));
                Expr::Quant { all: false, local, over, filter, body }
            }
            2 => {
                let total =
                    Expr::Total { local, over, filter: Some(boxed(about_mark)), value: None };
                cmp(self.dice.pick(&ORDER), total, int(self.dice.below(3) as i64))
            }
            _ => {
                let filter = self.dice.chance(40).then(|| boxed(about_mark));
                let total = Expr::Total { local, over, filter, value: Some(boxed(field(1))) };
                cmp(self.dice.pick(&[Cmp::Le, Cmp::Ge]), total, int(1))
            }
        }
    }

    /// Puts records into a list, or goes through one.
    fn assign_lines(&mut self, scope: &Scope, (record, subject, at): (Expr, usize, usize)) -> Stmt {
        let texts = self.of_type(scope, &Ty::Text);
        match (scope.lines, scope.name, self.dice.below(4)) {
            (Some(lines), _, 0 | 1) => {
                Stmt::Assign(record, subject, at, Change::Set, Expr::Param(lines))
            }
            (Some(lines), _, 2) => {
                // each of them that counts, once more
                let local = self.locals;
                self.locals += 1;
                let field = |at: usize| Expr::Field(local, at, boxed(Expr::Param(lines)));
                let line = Expr::Line(boxed(field(0)), boxed(field(1)));
                let add = Stmt::Assign(record, subject, at, Change::Add, line);
                let counts = cmp(Cmp::Ge, field(1), int(1));
                Stmt::For(local, Expr::Param(lines), vec![Stmt::If(counts, vec![add], Vec::new())])
            }
            (_, name, _) => {
                let mark = match name {
                    Some(name) => Expr::Param(name),
                    None if !texts.is_empty() => self.dice.pick(&texts),
                    None => Expr::Lit(Value::Written("x")),
                };
                let line = Expr::Line(boxed(mark), boxed(int(self.dice.below(2) as i64)));
                Stmt::Assign(record, subject, at, Change::Add, line)
            }
        }
    }

    /// A condition on what a reference refers to, if it refers to something.
    pub fn through(&mut self, place: Expr, to: usize) -> Expr {
        let there = Expr::Not(boxed(Expr::IsNull(boxed(place.clone()))));
        let scope = Scope { records: vec![(place, to)], ..Scope::default() };
        let condition = self.simple(&scope);
        if self.dice.chance(40) { condition } else { Expr::And(vec![there, condition]) }
    }

    /// Something counted over the children of a record.
    fn counted(&mut self, scope: &Scope) -> Expr {
        let child = self.design.subjects.iter().position(|held| held.parent.is_some());
        let (Some(child), Some(parent)) = (child, self.reference(scope, 0)) else {
            return self.simple(scope);
        };
        let local = self.locals;
        self.locals += 1;
        let own = Scope { records: vec![(Expr::Local(local), child)], ..Scope::default() };
        let over = Domain::Children(child, boxed(parent));
        let condition = boxed(self.simple(&own));
        let numbers = self.of_type(&own, &Ty::Int);
        let total = |value, filter| Expr::Total { local, over: over.clone(), filter, value };
        match self.dice.below(4) {
            0 => Expr::Quant { all: true, local, over, filter: None, body: condition },
            1 => Expr::Quant { all: false, local, over, filter: None, body: condition },
            2 if !numbers.is_empty() => {
                let value = self.dice.pick(&numbers);
                let limit = int(self.dice.below(3) as i64);
                cmp(self.dice.pick(&[Cmp::Le, Cmp::Ge]), total(Some(boxed(value)), None), limit)
            }
            _ => {
                let limit = int(self.dice.below(3) as i64);
                cmp(self.dice.pick(&ORDER), total(None, Some(condition)), limit)
            }
        }
    }

    pub fn statements(&mut self, scope: &Scope, count: usize, depth: usize) -> Vec<Stmt> {
        (0..count).map(|_| self.statement(scope, depth)).collect()
    }

    fn statement(&mut self, scope: &Scope, depth: usize) -> Stmt {
        if depth > 0 && self.dice.chance(15) {
            let condition = self.condition(scope, 1);
            let then = self.statements(scope, 1, depth - 1);
            let count = usize::from(self.dice.chance(30));
            let otherwise = self.statements(scope, count, depth - 1);
            return Stmt::If(condition, then, otherwise);
        }
        if let Some((field, param)) = scope.memory
            && self.dice.chance(40)
        {
            let ty = self.design.actors[0].fields[field].ty.clone();
            let own: Vec<Expr> = self.of_type(scope, &ty);
            if !own.is_empty() {
                return Stmt::Remember(field, param, self.dice.pick(&own));
            }
        }
        if let Some(copy) = scope.copy
            && self.dice.chance(50)
        {
            let numbers = self.of_type(scope, &Ty::Int);
            return Stmt::Copy(copy, self.dice.pick(&numbers));
        }
        for (record, subject) in &scope.records {
            let named = matches!(record, Expr::Param(_));
            if named && self.design.subjects[*subject].log && self.dice.chance(30) {
                return Stmt::Append(record.clone(), *subject);
            }
        }
        self.assign(scope, depth)
    }

    pub fn assign(&mut self, scope: &Scope, depth: usize) -> Stmt {
        let (record, subject, at, ty) = self.attr(scope);
        let place = Expr::Attr(boxed(record.clone()), subject, at);
        let set = |value| Stmt::Assign(record.clone(), subject, at, Change::Set, value);
        let lit = |value| set(Expr::Lit(value));
        match ty {
            Ty::Enum => lit(Value::Enum(self.dice.below(3))),
            Ty::Bool => match (scope.flag, self.dice.below(4)) {
                (Some(flag), 0 | 1) => set(Expr::Param(flag)),
                (_, 2) => set(Expr::Not(boxed(place))),
                _ => lit(Value::Bool(self.dice.chance(60))),
            },
            Ty::Int => match (self.dice.below(8), scope.num, scope.memory) {
                (0..=2, _, _) => Stmt::Assign(record, subject, at, Change::Add, int(1)),
                (3 | 6, _, _) if self.ranked => {
                    let others = self.of_type(scope, &Ty::Int);
                    set(self.dice.pick(&others))
                }
                (3, _, _) => Stmt::Assign(record, subject, at, Change::Take, int(1)),
                (4 | 5, Some(num), _) => set(Expr::Param(num)),
                (4, _, Some((field, param)))
                    if self.design.actors[0].fields[field].ty == Ty::Int =>
                {
                    set(Expr::Memory(field, param))
                }
                (5, _, _) => {
                    let others = self.of_type(scope, &Ty::Int);
                    set(self.dice.pick(&others))
                }
                (6, _, _) => {
                    let more = boxed(Expr::Plus(boxed(place.clone()), boxed(int(1))));
                    let limit = boxed(int(self.dice.below(3) as i64));
                    match self.dice.below(3) {
                        0 => set(Expr::Min(more, limit)),
                        1 => set(Expr::Max(boxed(place), limit)),
                        _ => {
                            let condition = boxed(self.simple(scope));
                            set(Expr::If(condition, boxed(place), limit))
                        }
                    }
                }
                _ => lit(Value::Int(self.literal())),
            },
            Ty::Text => match scope.name {
                Some(name) if self.dice.chance(75) => set(Expr::Param(name)),
                _ => {
                    let written = self.written();
                    set(written)
                }
            },
            Ty::Lines => self.assign_lines(scope, (record, subject, at)),
            Ty::List => match scope.name {
                Some(name) => Stmt::Assign(record, subject, at, Change::Add, Expr::Param(name)),
                None => lit(Value::List(Vec::new())),
            },
            Ty::Time => match self.dice.below(6) {
                0 => lit(Value::Null),
                1 => set(Expr::Now),
                roll => {
                    let length = self.length(scope);
                    match roll {
                        2 => set(Expr::Next(boxed(Expr::Now))),
                        _ => set(Expr::Plus(boxed(Expr::Now), boxed(length))),
                    }
                }
            },
            Ty::Span => {
                let length = match scope.ttl {
                    Some(ttl) => Expr::Param(ttl),
                    None => self.span(),
                };
                set(length)
            }
            Ty::Actor => match scope.to {
                Some(to) if self.dice.chance(50) => set(Expr::Param(to)),
                _ if scope.me && self.dice.chance(80) => set(Expr::Me),
                _ => lit(Value::Null),
            },
            Ty::Ref(to) => match self.reference(scope, to) {
                Some(other) if self.dice.chance(80) => set(other),
                _ => lit(Value::Null),
            },
            Ty::Set(of) => match self.reference(scope, of) {
                Some(other) => {
                    let change = self.dice.pick(&[Change::Add, Change::Add, Change::Take]);
                    Stmt::Assign(record, subject, at, change, other)
                }
                None if depth > 0 => {
                    let local = self.locals;
                    self.locals += 1;
                    let inner =
                        Scope { records: vec![(Expr::Local(local), of)], ..Scope::default() };
                    let body = vec![self.assign(&inner, 0)];
                    Stmt::For(local, place, body)
                }
                None => lit(Value::Set(Default::default())),
            },
        }
    }

    /// A condition on a transition, which holds of one that changes nothing.
    pub fn change(&mut self, scope: &Scope) -> Expr {
        let (record, subject, at, ty) = self.attr(scope);
        let place = Expr::Attr(boxed(record), subject, at);
        let old = Expr::Old(boxed(place.clone()));
        let same = cmp(Cmp::Eq, place.clone(), old.clone());
        match ty {
            Ty::Bool => Expr::Implies(boxed(old), boxed(place)),
            Ty::Int if self.dice.chance(50) => cmp(Cmp::Ge, place, old),
            Ty::Int if self.ranked => cmp(Cmp::Ge, place, old),
            Ty::Int => cmp(Cmp::Le, place, Expr::Plus(boxed(old), boxed(int(1)))),
            Ty::Time if self.dice.chance(30) => {
                // A tick alone may break it.
                let ahead = |at: Expr| cmp(Cmp::Ge, at, Expr::Now);
                let before = Expr::Old(boxed(ahead(place.clone())));
                Expr::Implies(boxed(before), boxed(ahead(place)))
            }
            Ty::Time => {
                let past = cmp(Cmp::Lt, old.clone(), Expr::Now);
                let first = Expr::IsNull(boxed(old));
                let kept = match self.dice.below(3) {
                    0 => same,
                    _ => Expr::Not(boxed(Expr::IsNull(boxed(place)))),
                };
                Expr::Or(vec![first, kept, past])
            }
            Ty::Actor => Expr::Or(vec![same, Expr::IsNull(boxed(old))]),
            _ => {
                let other = self.simple(scope);
                Expr::Or(vec![same, other])
            }
        }
    }
}
