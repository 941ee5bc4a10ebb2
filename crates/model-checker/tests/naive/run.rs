//! One operation on one state: refused, or done.

use std::collections::BTreeMap;

use super::ast::*;
use super::eval::{Found, Missing, Scene};
use super::state::{Message, Record, State, Taken};
use super::world::World;

/// Who calls, and with what.
#[derive(Clone, Debug)]
pub struct Who<'c> {
    pub person: Option<usize>,
    pub args: &'c [Value],
    pub taken: &'c Taken,
    /// how far the clock of the machine that runs it is off
    pub clock: i64,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Refused {
    Exists,
    Fresh,
    Clause(usize),
    /// the clause could not be evaluated
    Missing(usize),
    Body,
}

/// What a step did. Memory and copies are apart: a fault may keep them from being changed.
#[derive(Clone, Debug)]
pub struct Done {
    pub state: State,
    pub remembered: BTreeMap<(usize, Rec), Value>,
    pub copied: BTreeMap<Rec, Value>,
    /// a stored time was moved on from beyond the horizon
    pub moved_on: bool,
    pub sends: bool,
}

struct Body<'s> {
    scene: Scene<'s>,
    remembered: BTreeMap<(usize, Rec), Value>,
    copied: BTreeMap<Rec, Value>,
    moved_on: bool,
    sends: bool,
    place: i64,
    touched: Vec<Rec>,
    before: &'s BTreeMap<Rec, Record>,
}

impl World<'_> {
    pub fn run(&self, state: &State, number: usize, who: &Who<'_>) -> Result<Done, Refused> {
        let op = &self.design.ops[number];
        let mut body = self.body(state, &op.params, who);
        body.scene.lenient_records = self.without == Some(Without::Exists(number));
        let named: Vec<(bool, Rec)> = op
            .params
            .iter()
            .zip(who.args)
            .filter_map(|(param, value)| match value {
                Value::Ref(record) => Some((param.new, *record)),
                _ => None,
            })
            .collect();
        for (new, record) in &named {
            let parent = self.parent(*record).filter(|_| *new);
            let there = if *new { true } else { state.records.contains_key(record) };
            let parent_there = parent.is_none_or(|parent| state.records.contains_key(&parent));
            if (!there || !parent_there) && !body.scene.lenient_records {
                return Err(Refused::Exists);
            }
        }
        for (new, record) in &named {
            let free = self.without == Some(Without::Fresh(number));
            if *new && state.records.contains_key(record) && !free {
                return Err(Refused::Fresh);
            }
        }
        for (at, (_, clause)) in op.guard.iter().enumerate() {
            if self.without == Some(Without::Clause(number, at)) {
                continue;
            }
            match body.scene.test(clause) {
                Ok(true) => {}
                Ok(false) => return Err(Refused::Clause(at)),
                Err(Missing) => return Err(Refused::Missing(at)),
            }
        }
        for (_, record) in named.iter().filter(|held| held.0) {
            body.scene.state.records.insert(*record, self.blank(record.subject));
            body.touched.push(*record);
        }
        body.all(&op.body).map_err(|Missing| Refused::Body)?;
        if body.leaves_something_outside() {
            return Err(Refused::Body);
        }
        Ok(body.done())
    }

    /// A handler of an effect; none: its guard does not hold, or it cannot go on.
    pub fn answer(
        &self,
        state: &State,
        effect: &Effect,
        handler: &[Stmt],
        who: &Who<'_>,
    ) -> Option<Done> {
        let mut body = self.body(state, &effect.params, who);
        // What it is about must still be there.
        let gone = |arg: &Value| match arg {
            Value::Ref(record) => !state.records.contains_key(record),
            _ => false,
        };
        if who.args.iter().any(gone) {
            return None;
        }
        for (_, clause) in &effect.guard {
            if !body.scene.test(clause).unwrap_or(false) {
                return None;
            }
        }
        body.all(handler).ok()?;
        (!body.leaves_something_outside()).then(|| body.done())
    }

    fn body<'s>(&'s self, state: &'s State, params: &[Param], who: &Who<'_>) -> Body<'s> {
        let copied = state.copies.iter().filter(|(slot, _)| Some(slot.0) == who.person);
        let copied: BTreeMap<Rec, Value> =
            copied.map(|(slot, value)| (slot.1, value.clone())).collect();
        let place = who.args.iter().find_map(|arg| match arg {
            Value::Ref(record) if self.design.subjects[record.subject].place => Some(record.own),
            _ => None,
        });
        let read = params.iter().zip(who.args).filter_map(|(_, value)| match value {
            Value::Ref(record) => state.written.get(record).copied(),
            _ => None,
        });
        Body {
            scene: Scene {
                world: self,
                state: state.clone(),
                old: None,
                back: false,
                now: read.fold(who.clock, i64::max),
                me: who.person,
                params: who.args.to_vec(),
                locals: BTreeMap::new(),
                memory: who.taken.clone(),
                goal: false,
                lenient_records: false,
                copied,
            },
            remembered: BTreeMap::new(),
            copied: BTreeMap::new(),
            moved_on: false,
            sends: false,
            place: place.unwrap_or(0),
            touched: Vec::new(),
            before: &state.records,
        }
    }
}

impl Body<'_> {
    /// Is there a number outside of its range, now that all is done?
    fn leaves_something_outside(&self) -> bool {
        let subjects = &self.scene.world.design.subjects;
        self.scene.state.records.iter().any(|(record, held)| {
            let attrs = subjects[record.subject].attrs.iter().zip(&held.attrs);
            attrs.into_iter().any(|(attr, value)| match (attr.range, value) {
                (Some((low, high)), Value::Int(number)) => !(low..=high).contains(number),
                _ => false,
            })
        })
    }

    fn done(mut self) -> Done {
        let world = self.scene.world;
        if world.has_time && world.design.has(Fault::ClockStep) {
            // What is written as it was is not written.
            let changed = |held: &&Rec| self.scene.state.records.get(held) != self.before.get(held);
            let touched: Vec<Rec> = self.touched.iter().filter(changed).copied().collect();
            for record in touched {
                self.scene.state.written.insert(record, self.scene.now);
            }
        }
        Done {
            state: self.scene.state,
            remembered: self.remembered,
            copied: self.copied,
            moved_on: self.moved_on,
            sends: self.sends,
        }
    }

    fn all(&mut self, body: &[Stmt]) -> Found<()> {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn touch(&mut self, record: Rec) -> Found<&mut Record> {
        let world = self.scene.world;
        if self.scene.lenient_records && !self.scene.state.records.contains_key(&record) {
            self.scene.state.records.insert(record, world.blank(record.subject));
        }
        self.touched.push(record);
        self.scene.state.records.get_mut(&record).ok_or(Missing)
    }

    fn values(&mut self, args: &[Expr]) -> Found<Vec<Value>> {
        args.iter().map(|arg| self.scene.eval(arg)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt) -> Found<()> {
        let world = self.scene.world;
        let design = world.design;
        match stmt {
            Stmt::Assign(record, subject, attr, change, value) => {
                let record = self.scene.record(record)?.ok_or(Missing)?;
                let value = self.scene.eval(value)?;
                let declared = &design.subjects[*subject].attrs[*attr];
                let beyond = world.beyond();
                let held = &mut self.touch(record)?.attrs[*attr];
                let before = held.clone();
                let after = changed(before.clone(), *change, value)?;
                if after == Value::Null && !declared.optional {
                    return Err(Missing);
                }
                match &after {
                    Value::Set(set) if set.len() > 2 => return Err(Missing),
                    Value::List(list) if list.len() > 2 => return Err(Missing),
                    _ => {}
                }
                *held = after;
                let moved = *change != Change::Set
                    || matches!(stmt, Stmt::Assign(_, _, _, _, Expr::Next(after)) if **after != Expr::Now);
                self.moved_on |= moved && matches!(before, Value::Time(at) if at <= beyond);
            }
            Stmt::Remember(field, param, value) => {
                let value = self.scene.eval(value)?;
                let Value::Ref(record) = self.scene.params[*param] else { return Err(Missing) };
                self.scene.memory.insert((*field, record), value.clone());
                self.remembered.insert((*field, record), value);
            }
            Stmt::Copy(param, value) => {
                let value = self.scene.eval(value)?;
                let Value::Ref(record) = self.scene.params[*param] else { return Err(Missing) };
                self.scene.copied.insert(record, value.clone());
                self.copied.insert(record, value);
            }
            Stmt::New(subject, parent, own) => {
                let parent = match parent {
                    None => -1,
                    Some(parent) => {
                        let parent = self.scene.record(parent)?.ok_or(Missing)?;
                        let there = self.scene.state.records.contains_key(&parent);
                        if !there && !self.scene.lenient_records {
                            return Err(Missing);
                        }
                        parent.own
                    }
                };
                let own = match self.scene.eval(own)? {
                    Value::Int(own) => own,
                    _ => return Err(Missing),
                };
                let record = Rec { subject: *subject, parent, own };
                if self.scene.state.records.contains_key(&record) {
                    return Err(Missing);
                }
                self.scene.state.records.insert(record, world.blank(*subject));
                self.touched.push(record);
            }
            Stmt::Delete(record) => {
                let record = self.scene.record(record)?.ok_or(Missing)?;
                let held = self.scene.state.records.remove(&record);
                if held.is_none() && !self.scene.lenient_records {
                    return Err(Missing);
                }
            }
            Stmt::Append(record, subject) => {
                let record = self.scene.record(record)?.ok_or(Missing)?;
                let retain = design.subjects[*subject].retain;
                let held = self.touch(record)?;
                held.end += 1;
                if let Some(kept) = retain {
                    held.start = held.start.max(held.end - kept);
                }
            }
            Stmt::Tell(op, args) => {
                let from = if design.events { 0 } else { self.place };
                let message = Message { from, op: *op, args: self.values(args)? };
                self.sends = true;
                let any_number = design.fault(Fault::DoubledMessage) == Some(None);
                let messages = &mut self.scene.state.messages;
                if design.events || !any_number || !messages.contains(&message) {
                    messages.push(message);
                }
            }
            Stmt::Ask(effect, args) => {
                let args = self.values(args)?;
                self.sends = true;
                let key = (*effect, args[0].clone());
                self.scene.state.outbox.entry(key).or_insert(args);
            }
            Stmt::If(condition, then, otherwise) => {
                let branch = if self.scene.test(condition)? { then } else { otherwise };
                self.all(branch)?;
            }
            Stmt::For(local, over, inner) => {
                let elements: Vec<Value> = match self.scene.eval(over)? {
                    Value::Set(set) => set.into_iter().collect(),
                    Value::List(list) => list,
                    _ => return Err(Missing),
                };
                for element in elements {
                    self.scene.locals.insert(*local, element);
                    self.all(inner)?;
                }
            }
        }
        Ok(())
    }
}

fn changed(held: Value, change: Change, value: Value) -> Found<Value> {
    Ok(match (change, held, value) {
        (Change::Set, _, value) => value,
        (Change::Add | Change::Take, Value::Set(_) | Value::List(_), Value::Null) => {
            return Err(Missing);
        }
        (Change::Add, Value::Set(mut set), value) => {
            set.insert(value);
            Value::Set(set)
        }
        (Change::Take, Value::Set(mut set), value) => {
            set.remove(&value);
            Value::Set(set)
        }
        (Change::Add, Value::List(mut list), value) => {
            list.push(value);
            Value::List(list)
        }
        (Change::Add, Value::Int(a), Value::Int(b)) => Value::Int(a + b),
        (Change::Take, Value::Int(a), Value::Int(b)) => Value::Int(a - b),
        (Change::Add, Value::Time(a), Value::Span(b)) => Value::Time(a + b),
        (Change::Take, Value::Time(a), Value::Span(b)) => Value::Time(a - b),
        (Change::Add, Value::Span(a), Value::Span(b)) => Value::Span(a + b),
        (Change::Take, Value::Span(a), Value::Span(b)) => Value::Span(a - b),
        _ => return Err(Missing),
    })
}
