//! Expressions, evaluated by walking them.

use design::model::{ArithmeticOp, AssignOp, CompareOp, Domain, Expr, ExprKind, SubjectId};

use super::Value::{self, Null};
use super::{Naive, Refused, Result, Scene, State};

impl Naive<'_> {
    /// Which record an expression refers to, whether it is there or not; none: to nothing.
    pub(super) fn record(
        &self,
        base: &Expr,
        scene: &mut Scene<'_>,
    ) -> Result<Option<(usize, usize)>> {
        let subject = base.ty.subject().expect("a reference has a subject").index();
        match self.eval(base, scene)? {
            Value::Ref(key) => Ok(Some((subject, key))),
            _ => Ok(None),
        }
    }

    pub(super) fn test(&self, expr: &Expr, scene: &mut Scene<'_>) -> Result<bool> {
        match self.eval(expr, scene)? {
            Value::Bool(value) => Ok(value),
            _ => scene.missing().map(|_| false),
        }
    }

    pub(super) fn eval(&self, expr: &Expr, scene: &mut Scene<'_>) -> Result<Value> {
        Ok(match &expr.kind {
            ExprKind::Literal(value) => self.constant(value),
            ExprKind::Local(local) => scene.locals.get(&local.0).cloned().unwrap_or(Null),
            ExprKind::Memory(usage) => scene.memory[usage.index()].clone(),
            ExprKind::Me => scene.me.clone(),
            ExprKind::Now => Value::Time(if scene.back { 0 } else { scene.now }),
            ExprKind::Attr { base, attr } => match self.record(base, scene)? {
                Some(record) => match scene.seen().records.get(&record) {
                    Some(held) => held[attr.index()].clone(),
                    None => scene.missing()?,
                },
                None => scene.missing()?,
            },
            ExprKind::KeyPart { base, part } => match self.record(base, scene)? {
                Some((subject, key)) => self.keys[subject][key][*part as usize].clone(),
                None => scene.missing()?,
            },
            ExprKind::Exists { base, .. } => {
                let record = self.record(base, scene)?;
                let there = |record| scene.seen().records.contains_key(&record);
                Value::Bool(record.is_some_and(there))
            }
            ExprKind::IsNull(inner) => Value::Bool(self.eval(inner, scene)? == Null),
            ExprKind::Not(inner) => Value::Bool(!self.test(inner, scene)?),
            ExprKind::Negate(inner) => match self.eval(inner, scene)? {
                Value::Int(value) => Value::Int(-value),
                Value::Duration(value) => Value::Duration(-value),
                _ => scene.missing()?,
            },
            ExprKind::And(parts) => {
                for part in parts {
                    if !self.test(part, scene)? {
                        return Ok(Value::Bool(false));
                    }
                }
                Value::Bool(true)
            }
            ExprKind::Or(parts) => {
                for part in parts {
                    if self.test(part, scene)? {
                        return Ok(Value::Bool(true));
                    }
                }
                Value::Bool(false)
            }
            ExprKind::Implies(left, right) => {
                Value::Bool(!self.test(left, scene)? || self.test(right, scene)?)
            }
            ExprKind::Compare { op, left, right } => {
                let (left, right) = (self.eval(left, scene)?, self.eval(right, scene)?);
                let both = left != Null && right != Null;
                Value::Bool(match op {
                    CompareOp::Equal => left == right,
                    CompareOp::NotEqual => left != right,
                    CompareOp::Less => both && left < right,
                    CompareOp::LessEqual => both && left <= right,
                    CompareOp::Greater => both && left > right,
                    CompareOp::GreaterEqual => both && left >= right,
                })
            }
            ExprKind::In { item, collection } => {
                let item = self.eval(item, scene)?;
                match self.eval(collection, scene)? {
                    Value::Set(set) => Value::Bool(item != Null && set.contains(&item)),
                    _ => scene.missing()?,
                }
            }
            ExprKind::Set(parts) => {
                Value::Set(parts.iter().map(|part| self.eval(part, scene)).collect::<Result<_>>()?)
            }
            ExprKind::Size(inner) => match self.eval(inner, scene)? {
                Value::Set(set) => Value::Int(set.len() as i64),
                _ => scene.missing()?,
            },
            ExprKind::Arithmetic { op, left, right } => {
                let (left, right) = (self.eval(left, scene)?, self.eval(right, scene)?);
                if left == Null || right == Null {
                    scene.missing()?
                } else {
                    compute(*op, left, right)?
                }
            }
            ExprKind::Min(parts) | ExprKind::Max(parts) => {
                let mut values = Vec::new();
                for part in parts {
                    match self.eval(part, scene)? {
                        Null => return scene.missing(),
                        value => values.push(value),
                    }
                }
                let least = matches!(expr.kind, ExprKind::Min(_));
                let best = if least { values.into_iter().min() } else { values.into_iter().max() };
                best.unwrap_or(Null)
            }
            ExprKind::If { condition, then, otherwise } => {
                let branch = if self.test(condition, scene)? { then } else { otherwise };
                self.eval(branch, scene)?
            }
            ExprKind::Let { local, value, body } => {
                let value = self.eval(value, scene)?;
                scene.locals.insert(local.0, value);
                self.eval(body, scene)?
            }
            ExprKind::Quantifier { all, local, domain, filter, body } => {
                let mut result = *all;
                for element in self.domain(domain, scene)? {
                    scene.locals.insert(local.0, element);
                    if self.passes(filter.as_deref(), scene)? && self.test(body, scene)? != *all {
                        result = !*all;
                        break;
                    }
                }
                Value::Bool(result)
            }
            ExprKind::Aggregate { local, domain, filter, value } => {
                let mut total = 0;
                for element in self.domain(domain, scene)? {
                    scene.locals.insert(local.0, element);
                    if !self.passes(filter.as_deref(), scene)? {
                        continue;
                    }
                    total += match value {
                        None => 1,
                        Some(value) => match self.eval(value, scene)? {
                            Value::Int(value) => value,
                            _ => {
                                scene.missing()?;
                                0
                            }
                        },
                    };
                }
                Value::Int(total)
            }
            ExprKind::Counter { base, counter } => match self.record(base, scene)? {
                Some((subject, key)) if scene.seen().records.contains_key(&(subject, key)) => {
                    Value::Int(self.counter(subject, counter.index(), key, scene)?)
                }
                _ => scene.missing()?,
            },
            ExprKind::Old(inner) => {
                let back = std::mem::replace(&mut scene.back, true);
                let value = self.eval(inner, scene);
                scene.back = back;
                value?
            }
            other => panic!("no generated design has {other:?}"),
        })
    }

    fn passes(&self, filter: Option<&Expr>, scene: &mut Scene<'_>) -> Result<bool> {
        filter.map_or(Ok(true), |filter| self.test(filter, scene))
    }

    fn domain(&self, domain: &Domain, scene: &mut Scene<'_>) -> Result<Vec<Value>> {
        let there = |subject: &SubjectId, scene: &Scene<'_>| -> Vec<usize> {
            let records = scene.seen().records.keys();
            records.filter(|record| record.0 == subject.index()).map(|record| record.1).collect()
        };
        Ok(match domain {
            Domain::All(subject) => there(subject, scene).into_iter().map(Value::Ref).collect(),
            Domain::Children { child, parent } => {
                let parent = self.eval(parent, scene)?;
                let mut keys = there(child, scene);
                keys.retain(|key| self.keys[child.index()][*key][0] == parent);
                keys.into_iter().map(Value::Ref).collect()
            }
            Domain::Elements(set) => match self.eval(set, scene)? {
                Value::Set(set) => set.into_iter().collect(),
                _ => {
                    scene.missing()?;
                    Vec::new()
                }
            },
            Domain::World(_) => panic!("no generated design has effects"),
        })
    }

    /// Counted anew each time.
    pub(super) fn counter(
        &self,
        subject: usize,
        number: usize,
        parent: usize,
        scene: &mut Scene<'_>,
    ) -> Result<i64> {
        let counter = &self.design.subjects[subject].counters[number];
        let child = counter.child.index();
        let lenient = std::mem::replace(&mut scene.lenient, true);
        let locals = std::mem::take(&mut scene.locals);
        let mut total = 0;
        for key in 0..self.keys[child].len() {
            let under = self.keys[child][key][0] == Value::Ref(parent);
            if !under || !scene.seen().records.contains_key(&(child, key)) {
                continue;
            }
            scene.locals.insert(0, Value::Ref(key));
            if self.passes(counter.filter.as_ref(), scene)? {
                total += match &counter.value {
                    None => 1,
                    Some(value) => match self.eval(value, scene)? {
                        Value::Int(value) => value,
                        _ => 0,
                    },
                };
            }
        }
        scene.lenient = lenient;
        scene.locals = locals;
        Ok(total)
    }
}

impl Scene<'_> {
    fn seen(&self) -> &State {
        match (self.back, self.old) {
            (true, Some(old)) => old,
            _ => &self.state,
        }
    }

    fn missing(&self) -> Result<Value> {
        if self.lenient { Ok(Null) } else { Err(Refused) }
    }
}

pub(super) fn changed(held: Value, op: AssignOp, value: Value) -> Result<Value> {
    match (op, held, value) {
        (AssignOp::Set, _, value) => Ok(value),
        (AssignOp::Add, Value::Set(mut set), value) => {
            set.insert(value);
            Ok(Value::Set(set))
        }
        (AssignOp::Subtract, Value::Set(mut set), value) => {
            set.remove(&value);
            Ok(Value::Set(set))
        }
        (_, Null, _) | (_, _, Null) => Err(Refused),
        (AssignOp::Add, held, value) => compute(ArithmeticOp::Add, held, value),
        (AssignOp::Subtract, held, value) => compute(ArithmeticOp::Subtract, held, value),
    }
}

fn compute(op: ArithmeticOp, left: Value, right: Value) -> Result<Value> {
    use ArithmeticOp::{Add, Divide, Multiply, Subtract};
    use Value::{Duration, Int, Time};
    Ok(match (op, left, right) {
        (Divide, _, Int(0) | Duration(0)) => return Err(Refused),
        (Add, Int(a), Int(b)) => Int(a + b),
        (Subtract, Int(a), Int(b)) => Int(a - b),
        (Multiply, Int(a), Int(b)) => Int(a * b),
        (Divide, Int(a), Int(b)) => Int(a / b),
        (Add, Time(a), Duration(b)) => Time(a + b),
        (Subtract, Time(a), Duration(b)) => Time(a - b),
        (Subtract, Time(a), Time(b)) => Duration(a - b),
        (Add, Duration(a), Duration(b)) => Duration(a + b),
        (Subtract, Duration(a), Duration(b)) => Duration(a - b),
        (Multiply, Duration(a), Int(b)) => Duration(a * b),
        (op, left, right) => panic!("no generated design has {left:?} {op:?} {right:?}"),
    })
}
