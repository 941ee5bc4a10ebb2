//! Expressions, evaluated by walking them.

use std::collections::BTreeMap;

use super::ast::*;
use super::state::{Heard, State, Taken};
use super::world::World;

/// A step cannot go on: something that it needs is not there.
#[derive(Debug)]
pub struct Missing;
pub type Found<T> = Result<T, Missing>;

/// One evaluation.
pub struct Scene<'s> {
    pub world: &'s World<'s>,
    pub state: State,
    pub old: Option<&'s State>,
    /// looking at the state before
    pub back: bool,
    pub now: i64,
    pub me: Option<usize>,
    pub params: Vec<Value>,
    pub locals: BTreeMap<usize, Value>,
    pub memory: Taken,
    /// goals: what is not there is null
    pub goal: bool,
    /// an absent record reads as its defaults
    pub lenient_records: bool,
    pub copied: BTreeMap<Rec, Value>,
}

impl Scene<'_> {
    fn seen(&self) -> &State {
        match (self.back, self.old) {
            (true, Some(old)) => old,
            _ => &self.state,
        }
    }

    pub fn missing(&self) -> Found<Value> {
        if self.goal { Ok(Value::Null) } else { Err(Missing) }
    }

    pub fn test(&mut self, expr: &Expr) -> Found<bool> {
        match self.eval(expr)? {
            Value::Bool(value) => Ok(value),
            _ if self.goal => Ok(false),
            _ => Err(Missing),
        }
    }

    pub fn record(&mut self, expr: &Expr) -> Found<Option<Rec>> {
        Ok(match self.eval(expr)? {
            Value::Ref(record) => Some(record),
            _ => None,
        })
    }

    fn pair(&mut self, left: &Expr, right: &Expr) -> Found<(Value, Value)> {
        Ok((self.eval(left)?, self.eval(right)?))
    }

    pub fn eval(&mut self, expr: &Expr) -> Found<Value> {
        Ok(match expr {
            Expr::Lit(Value::Span(units)) => Value::Span(self.world.steps(*units)),
            Expr::Lit(value) => value.clone(),
            Expr::Param(at) => self.params[*at].clone(),
            Expr::Local(local) => self.locals[local].clone(),
            Expr::Me => self.me.map_or(Value::Null, Value::Person),
            Expr::Now => Value::Time(if self.back { 0 } else { self.now }),
            Expr::Attr(record, subject, attr) => {
                let Some(record) = self.record(record)? else { return self.missing() };
                match self.seen().records.get(&record) {
                    Some(held) => held.attrs[*attr].clone(),
                    None if self.lenient_records => self.world.defaults(*subject)[*attr].clone(),
                    None => return self.missing(),
                }
            }
            Expr::Parent(record, _) => {
                let Some(record) = self.record(record)? else { return self.missing() };
                let parent = self.world.design.subjects[record.subject].parent;
                Value::Ref(Rec {
                    subject: parent.expect("it is a child"),
                    parent: -1,
                    own: record.parent,
                })
            }
            Expr::Keyed(subject, parent, own) => {
                let parent = match parent {
                    None => -1,
                    Some(parent) => match self.record(parent)? {
                        Some(parent) => parent.own,
                        None => return Ok(Value::Null),
                    },
                };
                match self.eval(own)? {
                    Value::Int(own) => Value::Ref(Rec { subject: *subject, parent, own }),
                    _ => Value::Null,
                }
            }
            Expr::Own(record, _) => match self.record(record)? {
                Some(record) => Value::Int(record.own),
                None => return self.missing(),
            },
            Expr::LogEnd(record, _) | Expr::LogStart(record, _) => {
                let start = matches!(expr, Expr::LogStart(..));
                let Some(record) = self.record(record)? else { return self.missing() };
                match self.seen().records.get(&record) {
                    Some(held) => Value::Int(if start { held.start } else { held.end }),
                    None if self.lenient_records => Value::Int(0),
                    None => return self.missing(),
                }
            }
            Expr::Memory(field, param) => {
                let Value::Ref(record) = self.params[*param] else { return self.missing() };
                self.memory.get(&(*field, record)).cloned().unwrap_or(Value::Null)
            }
            Expr::Copied(param) => {
                let Value::Ref(record) = self.params[*param] else { return self.missing() };
                match self.copied.get(&record) {
                    Some(value) => value.clone(),
                    None => return self.missing(),
                }
            }
            Expr::CopyThere(param) => {
                let Value::Ref(record) = self.params[*param] else { return self.missing() };
                Value::Bool(self.copied.contains_key(&record))
            }
            Expr::Old(inner) => {
                let back = std::mem::replace(&mut self.back, true);
                let value = self.eval(inner);
                self.back = back;
                value?
            }
            Expr::Not(inner) => Value::Bool(!self.test(inner)?),
            Expr::IsNull(inner) => Value::Bool(self.eval(inner)? == Value::Null),
            Expr::And(parts) => {
                for part in parts {
                    if !self.test(part)? {
                        return Ok(Value::Bool(false));
                    }
                }
                Value::Bool(true)
            }
            Expr::Or(parts) => {
                for part in parts {
                    if self.test(part)? {
                        return Ok(Value::Bool(true));
                    }
                }
                Value::Bool(false)
            }
            Expr::Implies(left, right) => Value::Bool(!self.test(left)? || self.test(right)?),
            Expr::Cmp(op, left, right) => {
                let (left, right) = self.pair(left, right)?;
                Value::Bool(compare(*op, &left, &right))
            }
            Expr::Next(after) => match (self.eval(after)?, self.world.gap.get()) {
                (Value::Time(_), 0) => Value::Null,
                (Value::Time(after), units) => Value::Time(after + units * self.world.fine),
                _ => return self.missing(),
            },
            Expr::Plus(left, right) => match self.pair(left, right)? {
                (Value::Int(a), Value::Int(b)) => Value::Int(a + b),
                (Value::Time(a), Value::Span(b)) => Value::Time(a + b),
                (Value::Span(a), Value::Span(b)) => Value::Span(a + b),
                _ => return self.missing(),
            },
            Expr::Minus(left, right) => match self.pair(left, right)? {
                (Value::Int(a), Value::Int(b)) => Value::Int(a - b),
                (Value::Time(a), Value::Span(b)) => Value::Time(a - b),
                (Value::Time(a), Value::Time(b)) => Value::Span(a - b),
                (Value::Span(a), Value::Span(b)) => Value::Span(a - b),
                _ => return self.missing(),
            },
            Expr::Min(left, right) | Expr::Max(left, right) => {
                let (left, right) = self.pair(left, right)?;
                if left == Value::Null || right == Value::Null {
                    return self.missing();
                }
                if matches!(expr, Expr::Min(..)) { left.min(right) } else { left.max(right) }
            }
            Expr::In(item, set) => {
                let (item, set) = self.pair(item, set)?;
                match set {
                    Value::Set(set) => Value::Bool(set.contains(&item)),
                    Value::List(list) => Value::Bool(list.contains(&item)),
                    _ => return self.missing(),
                }
            }
            Expr::Size(inner) => match self.eval(inner)? {
                Value::Set(set) => Value::Int(set.len() as i64),
                Value::List(list) => Value::Int(list.len() as i64),
                _ => return self.missing(),
            },
            Expr::Field(local, field, _) => match &self.locals[local] {
                Value::List(line) => line[*field].clone(),
                other => panic!("{other:?} is no record of a list"),
            },
            Expr::Line(mark, n) => {
                let (mark, n) = self.pair(mark, n)?;
                if mark == Value::Null || n == Value::Null {
                    return self.missing();
                }
                Value::List(vec![mark, n])
            }
            Expr::SetOf(parts) => {
                let parts: Found<_> = parts.iter().map(|part| self.eval(part)).collect();
                Value::Set(parts?)
            }
            Expr::If(condition, then, otherwise) => {
                let branch = if self.test(condition)? { then } else { otherwise };
                self.eval(branch)?
            }
            Expr::Quant { all, local, over, filter, body } => {
                let mut result = *all;
                for element in self.domain(over)? {
                    self.locals.insert(*local, element);
                    if self.passes(filter.as_deref())? && self.test(body)? != *all {
                        result = !*all;
                        break;
                    }
                }
                Value::Bool(result)
            }
            Expr::Total { local, over, filter, value } => {
                let mut total = 0;
                for element in self.domain(over)? {
                    self.locals.insert(*local, element);
                    if !self.passes(filter.as_deref())? {
                        continue;
                    }
                    total += match value {
                        None => 1,
                        Some(value) => match self.eval(value)? {
                            Value::Int(value) => value,
                            _ => 0,
                        },
                    };
                }
                Value::Int(total)
            }
            Expr::Done(effect, record) => {
                let record = self.eval(record)?;
                Value::Int(match self.seen().world.get(&(*effect, record)) {
                    Some(Heard::Done(..)) => 1,
                    Some(Heard::Twice(..)) => 2,
                    _ => 0,
                })
            }
            Expr::Remembered(local, actor, field, of) => {
                let Value::Person(person) = self.locals[local] else { return self.missing() };
                let Some(of) = self.record(of)? else { return self.missing() };
                let slot = (person, *actor, *field, of);
                self.seen().memory.get(&slot).cloned().unwrap_or(Value::Null)
            }
            Expr::Arg(local, _, param) => match &self.locals[local] {
                Value::List(args) => args[*param].clone(),
                _ => return self.missing(),
            },
            Expr::View(subject, attr, wanted) => {
                let rows = self.seen().records.iter().filter(|held| held.0.subject == *subject);
                let counted = rows.filter(|held| held.1.attrs[*attr] == *wanted).count();
                Value::Int(counted as i64)
            }
        })
    }

    fn passes(&mut self, filter: Option<&Expr>) -> Found<bool> {
        filter.map_or(Ok(true), |filter| self.test(filter))
    }

    fn domain(&mut self, over: &Domain) -> Found<Vec<Value>> {
        let records = |subject: usize, scene: &Self| -> Vec<Rec> {
            scene.seen().records.keys().filter(|held| held.subject == subject).copied().collect()
        };
        Ok(match over {
            Domain::Subject(subject) => {
                records(*subject, self).into_iter().map(Value::Ref).collect()
            }
            Domain::Children(child, parent) => {
                let Some(parent) = self.record(parent)? else {
                    return self.missing().map(|_| Vec::new());
                };
                let all = records(*child, self).into_iter();
                all.filter(|held| held.parent == parent.own).map(Value::Ref).collect()
            }
            Domain::Elements(set) => match self.eval(set)? {
                Value::Set(set) => set.into_iter().collect(),
                Value::List(list) => list,
                _ => return self.missing().map(|_| Vec::new()),
            },
            Domain::People(actor) => {
                let may = |at: &usize| {
                    let own = self.world.people[*at];
                    own == *actor || self.world.meet.contains(&(own, *actor))
                };
                (0..self.world.people.len()).filter(may).map(Value::Person).collect()
            }
            Domain::Rows(Row::Message(op)) => {
                let own = self.seen().messages.iter().filter(|held| held.op == *op);
                own.map(|held| Value::List(held.args.clone())).collect()
            }
            Domain::Rows(Row::Entry(effect)) => {
                let own = self.seen().outbox.iter().filter(|held| held.0.0 == *effect);
                own.map(|held| Value::List(held.1.clone())).collect()
            }
        })
    }
}

pub fn compare(op: Cmp, left: &Value, right: &Value) -> bool {
    let both = *left != Value::Null && *right != Value::Null;
    match op {
        Cmp::Eq => left == right,
        Cmp::Ne => left != right,
        Cmp::Lt => both && left < right,
        Cmp::Le => both && left <= right,
        Cmp::Gt => both && left > right,
        Cmp::Ge => both && left >= right,
    }
}
