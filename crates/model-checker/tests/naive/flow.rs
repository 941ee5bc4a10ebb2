//! Which places of a design share their values, and whose names can meet.

use std::collections::BTreeSet;

use super::ast::*;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    Attr(usize, usize),
    Param(usize, usize),
    /// of an effect; the answer comes after the parameters
    Sent(usize, usize),
    Memory(usize, usize),
    Copy(usize),
    Me(usize),
}

#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// in units of five seconds
    pub durations: BTreeSet<i64>,
    pub read_times: BTreeSet<(usize, usize)>,
    pub times_meet: bool,
    pub has_next: bool,
    /// each pair both ways round
    pub meet: BTreeSet<(usize, usize)>,
    alike: Vec<(Place, Place)>,
    copied: Vec<(Place, Place)>,
    compared: Vec<(Place, Place)>,
    literal: Vec<(Place, Value)>,
}

/// Where an expression stands.
#[derive(Clone, Copy)]
enum At {
    Op(usize),
    Effect(usize),
    Goal,
}

impl Flow {
    pub fn of(design: &Design) -> Flow {
        let mut flow = Flow::default();
        for (number, op) in design.ops.iter().enumerate() {
            let at = At::Op(number);
            op.guard.iter().for_each(|(_, clause)| flow.expr(design, at, clause));
            flow.body(design, at, &op.body);
            if let (Kind::Read, Some(Param { ty: Ty::Ref(subject), .. })) =
                (op.kind, op.params.first())
            {
                // It answers all that there is.
                let times = design.subjects[*subject].attrs.iter().enumerate();
                let times = times.filter(|(_, attr)| attr.ty == Ty::Time);
                flow.read_times.extend(times.map(|(at, _)| (*subject, at)));
            }
            for param in &op.params {
                if let Some(Value::Span(units)) = param.default {
                    flow.durations.insert(units);
                }
            }
        }
        for (number, effect) in design.effects.iter().enumerate() {
            let at = At::Effect(number);
            effect.guard.iter().for_each(|(_, clause)| flow.expr(design, at, clause));
            for body in [&effect.on_ok, &effect.on_refused, &effect.on_unknown] {
                flow.body(design, at, body);
            }
        }
        design.goals.iter().for_each(|goal| flow.expr(design, At::Goal, &goal.body));
        for attr in design.subjects.iter().flat_map(|subject| &subject.attrs) {
            if let Value::Span(units) = attr.default {
                flow.durations.insert(units);
            }
        }
        flow.alike = [&flow.copied[..], &flow.compared[..]].concat();
        flow.meetings(design);
        flow
    }

    /// The places that share their values with this one.
    fn class(&self, place: Place) -> BTreeSet<Place> {
        let mut class = BTreeSet::from([place]);
        loop {
            let more: Vec<Place> = self
                .alike
                .iter()
                .flat_map(|(left, right)| [(*left, *right), (*right, *left)])
                .filter(|(left, right)| class.contains(left) && !class.contains(right))
                .map(|(_, right)| right)
                .collect();
            if more.is_empty() {
                return class;
            }
            class.extend(more);
        }
    }

    /// Every literal that something is compared with which shares this place's values.
    pub fn literals(&self, place: Place) -> Vec<Value> {
        let class = self.class(place);
        let held = self.literal.iter().filter(|(held, _)| class.contains(held));
        let literals: BTreeSet<Value> = held.map(|(_, value)| value.clone()).collect();
        literals.into_iter().collect()
    }

    /// Whose principals get to one place, or to two that are compared.
    fn meetings(&mut self, design: &Design) {
        for one in 0..design.actors.len() {
            for place in self.class(Place::Me(one)) {
                let Place::Me(other) = place else { continue };
                let apart = design.actors[one].apart == Some(other)
                    || design.actors[other].apart == Some(one);
                if one != other && !apart {
                    self.meet.insert((one, other));
                }
            }
        }
    }

    fn body(&mut self, design: &Design, at: At, body: &[Stmt]) {
        for stmt in body {
            self.stmt(design, at, stmt);
        }
    }

    fn stmt(&mut self, design: &Design, at: At, stmt: &Stmt) {
        match stmt {
            Stmt::Assign(record, subject, attr, change, value) => {
                self.expr(design, at, record);
                self.expr(design, at, value);
                let ty = &design.subjects[*subject].attrs[*attr].ty;
                let list = matches!(ty, Ty::List | Ty::Lines);
                if *change == Change::Set || list {
                    self.copy(design, at, value, Place::Attr(*subject, *attr));
                }
            }
            Stmt::Remember(field, _, value) => {
                self.expr(design, at, value);
                let At::Op(op) = at else { panic!("nobody remembers here") };
                self.copy(design, at, value, Place::Memory(design.ops[op].actor, *field));
            }
            Stmt::Copy(_, value) => {
                self.expr(design, at, value);
                self.copy(design, at, value, Place::Copy(0));
            }
            Stmt::New(_, parent, own) => {
                parent.iter().for_each(|parent| self.expr(design, at, parent));
                self.expr(design, at, own);
            }
            Stmt::Delete(record) | Stmt::Append(record, _) => self.expr(design, at, record),
            Stmt::Tell(op, args) => {
                for (number, arg) in args.iter().enumerate() {
                    self.expr(design, at, arg);
                    self.copy(design, at, arg, Place::Param(*op, number));
                }
            }
            Stmt::Ask(effect, args) => {
                for (number, arg) in args.iter().enumerate() {
                    self.expr(design, at, arg);
                    self.copy(design, at, arg, Place::Sent(*effect, number));
                }
            }
            Stmt::If(condition, then, otherwise) => {
                self.expr(design, at, condition);
                self.body(design, at, then);
                self.body(design, at, otherwise);
            }
            Stmt::For(_, over, inner) => {
                self.expr(design, at, over);
                self.body(design, at, inner);
            }
        }
    }

    fn copy(&mut self, design: &Design, at: At, value: &Expr, target: Place) {
        for place in places(design, at, value) {
            self.copied.push((place, target));
        }
    }

    fn compare(&mut self, design: &Design, at: At, left: &Expr, right: &Expr) {
        let (lefts, rights) = (places(design, at, left), places(design, at, right));
        for one in &lefts {
            self.compared.extend(rights.iter().map(|other| (*one, *other)));
        }
        for (places, other) in [(&lefts, right), (&rights, left)] {
            let literals: Vec<&Expr> = match other {
                Expr::SetOf(parts) => parts.iter().collect(),
                other => vec![other],
            };
            for literal in literals {
                if let Expr::Lit(value) = literal {
                    self.literal.extend(places.iter().map(|place| (*place, value.clone())));
                }
            }
        }
        let times = |expr: &Expr| time_inside(design, expr);
        self.times_meet |= times(left) && times(right);
    }

    fn expr(&mut self, design: &Design, at: At, expr: &Expr) {
        match expr {
            Expr::Lit(Value::Span(units)) => {
                self.durations.insert(*units);
            }
            Expr::Attr(_, subject, attr)
                if design.subjects[*subject].attrs[*attr].ty == Ty::Time =>
            {
                self.read_times.insert((*subject, *attr));
            }
            Expr::Next(_) => self.has_next = true,
            Expr::View(subject, attr, value) => {
                self.literal.push((Place::Attr(*subject, *attr), value.clone()));
            }
            Expr::Cmp(_, left, right) | Expr::In(left, right) => {
                self.compare(design, at, left, right);
            }
            _ => {}
        }
        for inner in inner(expr) {
            self.expr(design, at, inner);
        }
    }
}

fn time_inside(design: &Design, expr: &Expr) -> bool {
    match expr {
        Expr::Attr(_, subject, attr) => design.subjects[*subject].attrs[*attr].ty == Ty::Time,
        other => inner(other).into_iter().any(|inner| time_inside(design, inner)),
    }
}

/// The places that a value may come from as it is.
fn places(design: &Design, at: At, expr: &Expr) -> Vec<Place> {
    let both = |left, right| [places(design, at, left), places(design, at, right)].concat();
    match expr {
        Expr::Attr(_, subject, attr) => vec![Place::Attr(*subject, *attr)],
        Expr::Param(param) => match at {
            At::Op(op) => vec![Place::Param(op, *param)],
            At::Effect(effect) => vec![Place::Sent(effect, *param)],
            At::Goal => Vec::new(),
        },
        Expr::Memory(field, _) => match at {
            At::Op(op) => vec![Place::Memory(design.ops[op].actor, *field)],
            _ => Vec::new(),
        },
        Expr::Copied(_) => vec![Place::Copy(0)],
        Expr::Remembered(_, actor, field, _) => vec![Place::Memory(*actor, *field)],
        Expr::Arg(_, Row::Message(op), param) => vec![Place::Param(*op, *param)],
        Expr::Arg(_, Row::Entry(effect), param) => vec![Place::Sent(*effect, *param)],
        Expr::Me => match at {
            At::Op(op) => vec![Place::Me(design.ops[op].actor)],
            _ => Vec::new(),
        },
        Expr::Old(inner) => places(design, at, inner),
        // A list of records stands for their texts: the numbers have few values, all of them given.
        Expr::Field(_, 0, list) => places(design, at, list),
        Expr::Line(mark, _) => places(design, at, mark),
        Expr::If(_, then, otherwise) => both(then, otherwise),
        _ => Vec::new(),
    }
}

/// What an expression is made of.
pub fn inner(expr: &Expr) -> Vec<&Expr> {
    fn of(over: &Domain) -> Vec<&Expr> {
        match over {
            Domain::Subject(_) | Domain::People(_) | Domain::Rows(_) => Vec::new(),
            Domain::Children(_, inner) | Domain::Elements(inner) => vec![inner],
        }
    }
    match expr {
        Expr::Lit(_)
        | Expr::Param(_)
        | Expr::Local(_)
        | Expr::Me
        | Expr::Now
        | Expr::Memory(..)
        | Expr::Copied(_)
        | Expr::Arg(..)
        | Expr::View(..)
        | Expr::Field(..)
        | Expr::CopyThere(_) => Vec::new(),
        Expr::Keyed(_, parent, own) => parent.as_deref().into_iter().chain([&**own]).collect(),
        Expr::Attr(one, ..)
        | Expr::Own(one, _)
        | Expr::Parent(one, _)
        | Expr::LogEnd(one, _)
        | Expr::LogStart(one, _)
        | Expr::Old(one)
        | Expr::Not(one)
        | Expr::IsNull(one)
        | Expr::Size(one)
        | Expr::Next(one)
        | Expr::Remembered(_, _, _, one)
        | Expr::Done(_, one) => vec![one],
        Expr::And(parts) | Expr::Or(parts) | Expr::SetOf(parts) => parts.iter().collect(),
        Expr::Implies(left, right)
        | Expr::Cmp(_, left, right)
        | Expr::Plus(left, right)
        | Expr::Minus(left, right)
        | Expr::Min(left, right)
        | Expr::Max(left, right)
        | Expr::Line(left, right)
        | Expr::In(left, right) => vec![left, right],
        Expr::If(condition, then, otherwise) => vec![condition, then, otherwise],
        Expr::Quant { over, filter, body, .. } => {
            of(over).into_iter().chain(filter.as_deref()).chain([&**body]).collect()
        }
        Expr::Total { over, filter, value, .. } => {
            of(over).into_iter().chain(filter.as_deref()).chain(value.as_deref()).collect()
        }
    }
}

/// Every expression of a body, those of inner statements too.
pub fn exprs(body: &[Stmt]) -> Vec<&Expr> {
    let mut list = Vec::new();
    for stmt in body {
        match stmt {
            Stmt::Assign(record, _, _, _, value) => list.extend([record, value]),
            Stmt::Remember(_, _, value) | Stmt::Copy(_, value) => list.push(value),
            Stmt::New(_, parent, own) => list.extend(parent.iter().chain([own])),
            Stmt::Delete(record) | Stmt::Append(record, _) => list.push(record),
            Stmt::Tell(_, args) | Stmt::Ask(_, args) => list.extend(args),
            Stmt::If(condition, then, otherwise) => {
                list.push(condition);
                list.extend(exprs(then));
                list.extend(exprs(otherwise));
            }
            Stmt::For(_, over, inner) => {
                list.push(over);
                list.extend(exprs(inner));
            }
        }
    }
    list
}

pub fn anywhere(expr: &Expr, is: &dyn Fn(&Expr) -> bool) -> bool {
    is(expr) || inner(expr).into_iter().any(|inner| anywhere(inner, is))
}

/// Does it matter who calls?
pub fn mentions_caller(op: &Op) -> bool {
    let is = |expr: &Expr| {
        matches!(expr, Expr::Me | Expr::Memory(..) | Expr::Copied(_) | Expr::CopyThere(_))
    };
    fn hands_out(body: &[Stmt]) -> bool {
        body.iter().any(|stmt| match stmt {
            Stmt::Remember(..) | Stmt::Copy(..) => true,
            Stmt::If(_, then, otherwise) => hands_out(then) || hands_out(otherwise),
            Stmt::For(_, _, inner) => hands_out(inner),
            _ => false,
        })
    }
    op.guard.iter().any(|(_, clause)| anywhere(clause, &is))
        || exprs(&op.body).into_iter().any(|expr| anywhere(expr, &is))
        || hands_out(&op.body)
}

/// The memory that an operation takes along: field and parameter.
pub fn takes(op: &Op) -> BTreeSet<(usize, usize)> {
    fn walk(expr: &Expr, into: &mut BTreeSet<(usize, usize)>) {
        if let Expr::Memory(field, param) = expr {
            into.insert((*field, *param));
        }
        inner(expr).into_iter().for_each(|inner| walk(inner, into));
    }
    let mut all = BTreeSet::new();
    op.guard.iter().for_each(|(_, clause)| walk(clause, &mut all));
    exprs(&op.body).into_iter().for_each(|expr| walk(expr, &mut all));
    all
}
