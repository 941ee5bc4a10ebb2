//! What can happen in a state: calls, landings, repairs, and the faults that meet them.

use super::ast::*;
use super::flow;
use super::run::{Done, Refused, Who};
use super::state::{Call, Message, State, Taken};
use super::world::{Callable, World};

/// What goes on when clients are silent. Fairness is owed to each by itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Action {
    Repair(usize, Rec),
    Attempt(usize, Value),
    Decide(usize, Value),
    Answer(usize, Value),
    Call(Call),
    Deliver(Message),
    Heal,
    Tick,
    /// a client's call; it goes on when clients do
    Client(Called),
}

/// One thing that can happen.
#[derive(Clone, Debug)]
pub struct Event {
    /// with times on the clock of the state before
    pub next: State,
    /// the clock of the state after
    pub now: i64,
    /// a time was moved on that is not told apart any more
    pub moved_on: bool,
    /// it also happens when clients are silent; is it owed?
    pub action: Option<(Action, bool)>,
    /// no fault strikes, and the world outside does not say `unknown`
    pub calm: bool,
    /// it is a call that a client makes
    pub call: Option<Called>,
}

/// Which call of a client: operation, caller, arguments.
pub type Called = (usize, Option<usize>, Vec<Value>);

impl Event {
    pub fn new(next: State) -> Event {
        Event { next, now: 0, moved_on: false, action: None, calm: true, call: None }
    }
}

/// Takes one off each budget; none: some fault cannot strike.
pub fn charged(world: &World<'_>, mut next: State, faults: &[Fault]) -> Option<State> {
    for fault in faults {
        if !world.design.has(*fault) {
            return None;
        }
        if let Some(left) = next.left.get_mut(fault) {
            *left = left.checked_sub(1)?;
        }
    }
    world.seen.borrow_mut().struck.extend(faults);
    Some(next)
}

/// How a call is answered and what is left of it.
#[derive(Clone, Copy, Default)]
struct Variant {
    unheard: bool,
    keeps_older: bool,
    again: bool,
    stale: bool,
}

impl World<'_> {
    /// The clocks that one machine may have, with the fault that it takes.
    pub fn clocks(&self) -> Vec<(i64, &'static [Fault])> {
        let mut clocks: Vec<(i64, &'static [Fault])> = vec![(0, &[])];
        // Where nothing reads a time it does not matter what a clock says.
        if self.has_time && self.design.has(Fault::ClockStep) {
            clocks.push((self.fine, &[Fault::ClockStep]));
            clocks.push((-self.fine, &[Fault::ClockStep]));
        }
        clocks
    }

    pub fn moves(&self, state: &State) -> Vec<Event> {
        let mut list = Vec::new();
        // Whenever it is asked, the next instant of a schedule may be any of these.
        for gap in if self.has_next { &[1, 2, 0][..] } else { &[1][..] } {
            self.gap.set(*gap);
            for call in &self.calls {
                self.call(state, call, &mut list);
            }
            self.landings(state, &mut list);
            self.repairs(state, &mut list);
            self.effects(state, &mut list);
            self.messages(state, &mut list);
        }
        self.losses(state, &mut list);
        if self.has_time {
            let mut tick = Event::new(state.clone());
            tick.now = 1;
            tick.action = Some((Action::Tick, true));
            list.push(tick);
        }
        list
    }

    pub fn note(&self, op: usize, outcome: &Result<Done, Refused>) {
        let mut seen = self.seen.borrow_mut();
        match outcome {
            Ok(_) => drop(seen.accepted.insert(op)),
            Err(refused) => drop(seen.refused.insert((op, refused.clone()))),
        }
    }

    /// The memory that a call would take along now, or with the older value.
    fn taken(&self, state: &State, call: &Callable, older: bool) -> Option<Taken> {
        let op = &self.design.ops[call.op];
        let Some(person) = call.person else { return (!older).then(Taken::new) };
        let mut taken = Taken::new();
        let mut found = false;
        for (field, param) in flow::takes(op) {
            let Value::Ref(record) = call.args[param] else { continue };
            let slot = (person, op.actor, field, record);
            let held = state.older.get(&slot).filter(|_| older);
            found |= held.is_some();
            if let Some(value) = held.or_else(|| state.memory.get(&slot)) {
                taken.insert((field, record), value.clone());
            }
        }
        (found || !older).then_some(taken)
    }

    fn call(&self, state: &State, call: &Callable, list: &mut Vec<Event>) {
        let op = &self.design.ops[call.op];
        let taken = self.taken(state, call, false).expect("there is always a memory of now");
        let flight = |taken: &Taken| Call {
            op: call.op,
            person: call.person,
            args: call.args.clone(),
            taken: taken.clone(),
        };
        let room = state.calls.len() < self.design.check.calls;
        let step = op.kind == Kind::Step;
        let keyed = op.keyed && self.without != Some(Without::Keyed(call.op));
        for (clock, clock_fault) in self.clocks() {
            if clock != 0 && !step {
                continue;
            }
            let who = Who { person: call.person, args: &call.args, taken: &taken, clock };
            let outcome = self.run(state, call.op, &who);
            if clock == 0 || charged(self, state.clone(), clock_fault).is_some() {
                self.note(call.op, &outcome);
            }
            let Ok(done) = outcome else { continue };
            let plain = Variant::default();
            let single = [
                (Fault::LostReply, Variant { unheard: true, ..plain }),
                (Fault::Pause, Variant { keeps_older: true, ..plain }),
                (Fault::Duplicate, Variant { again: true, ..plain }),
                (Fault::Stale, Variant { stale: true, ..plain }),
            ];
            let mut variants = vec![(Vec::new(), plain)];
            for (at, (fault, variant)) in single.into_iter().enumerate() {
                variants.push((vec![fault], variant));
                for (second, other) in single.into_iter().skip(at + 1) {
                    let both = Variant {
                        unheard: variant.unheard || other.unheard,
                        keeps_older: variant.keeps_older || other.keeps_older,
                        again: variant.again || other.again,
                        stale: variant.stale || other.stale,
                    };
                    // Where the reply is lost, nothing is overwritten.
                    if !(both.unheard && both.keeps_older) {
                        variants.push((vec![fault, second], both));
                    }
                }
            }
            for (faults, variant) in variants {
                if faults.len() + clock_fault.len() > 2
                    || variant.again && (!room || keyed || !step)
                    || variant.unheard
                        && (!step || done.remembered.is_empty() && done.copied.is_empty())
                    || variant.stale && done.copied.is_empty()
                {
                    continue;
                }
                let Some(next) = self.answered(call, &done, variant) else { continue };
                let all = [&faults[..], clock_fault].concat();
                let Some(mut next) = charged(self, next, &all) else { continue };
                if variant.again {
                    next.calls.push(flight(&taken));
                }
                let mut event = Event::new(next);
                event.moved_on = done.moved_on;
                event.calm = all.is_empty();
                event.call = Some((call.op, call.person, call.args.clone()));
                list.push(event);
            }
            // Without its outbox, a step may commit and what it sends is lost.
            if clock == 0 && self.without == Some(Without::Outbox(call.op)) && done.sends {
                let plain = Variant::default();
                let mut next = self.answered(call, &done, plain).expect("nothing is asked of it");
                next.outbox = state.outbox.clone();
                list.push(Event { calm: false, ..Event::new(next) });
            }
        }
        if step && room && self.design.has(Fault::Late) {
            let mut next = state.clone();
            next.calls.push(flight(&taken));
            if let Some(next) = charged(self, next, &[Fault::Late]) {
                list.push(Event { calm: false, ..Event::new(next) });
            }
        }
        if step && let Some(taken) = self.taken(state, call, true) {
            self.call_with_older(state, call, &taken, room && !keyed, list);
        }
    }

    /// Keeping the older value was the fault: using it takes nothing off the budget.
    fn call_with_older(
        &self,
        state: &State,
        call: &Callable,
        taken: &Taken,
        room: bool,
        list: &mut Vec<Event>,
    ) {
        let op = &self.design.ops[call.op];
        let person = call.person.expect("somebody remembers");
        for (clock, clock_fault) in self.clocks() {
            let who = Who { person: call.person, args: &call.args, taken, clock };
            let outcome = self.run(state, call.op, &who);
            if clock == 0 || charged(self, state.clone(), clock_fault).is_some() {
                self.note(call.op, &outcome);
            }
            let Ok(done) = outcome else { continue };
            for again in [false, true] {
                if again && (!room || clock != 0) {
                    continue;
                }
                let faults: &[Fault] = if again { &[Fault::Duplicate] } else { clock_fault };
                let mut next = done.state.clone();
                for (field, param) in flow::takes(op) {
                    if let Value::Ref(record) = call.args[param] {
                        next.older.remove(&(person, op.actor, field, record));
                    }
                }
                let Some(mut next) = charged(self, next, faults) else { continue };
                if again {
                    next.calls.push(Call {
                        op: call.op,
                        person: call.person,
                        args: call.args.clone(),
                        taken: taken.clone(),
                    });
                }
                let mut event = Event::new(next);
                event.moved_on = done.moved_on;
                event.calm = false;
                list.push(event);
            }
        }
    }

    /// The state after an accepted call; none: there is nothing that would be kept.
    fn answered(&self, call: &Callable, done: &Done, variant: Variant) -> Option<State> {
        let op = &self.design.ops[call.op];
        let mut next = done.state.clone();
        let Some(person) = call.person else { return (!variant.keeps_older).then_some(next) };
        let mut kept = false;
        if !variant.unheard {
            for ((field, record), value) in &done.remembered {
                let slot = (person, op.actor, *field, *record);
                let before = next.memory.insert(slot, value.clone());
                let before = before.filter(|before| *before != Value::Null && before != value);
                if let (true, Some(before)) = (variant.keeps_older, before) {
                    next.older.insert(slot, before);
                    kept = true;
                }
            }
        }
        if !variant.stale && !variant.unheard {
            for (record, value) in &done.copied {
                next.copies.insert((person, *record), value.clone());
            }
        }
        (kept || !variant.keeps_older).then_some(next)
    }

    fn landings(&self, state: &State, list: &mut Vec<Event>) {
        for at in 0..state.calls.len() {
            let call = &state.calls[at];
            let mut gone = state.clone();
            gone.calls.remove(at);
            let action = Some((Action::Call(call.clone()), true));
            for (clock, faults) in self.clocks() {
                let who = Who { person: call.person, args: &call.args, taken: &call.taken, clock };
                let outcome = self.run(&gone, call.op, &who);
                let Some(next) = charged(self, gone.clone(), faults) else { continue };
                self.note(call.op, &outcome);
                let mut event = Event::new(next);
                if let Ok(done) = outcome {
                    let left = std::mem::take(&mut event.next.left);
                    event.moved_on = done.moved_on;
                    event.next = State { left, ..done.state };
                }
                event.action = action.clone().filter(|_| clock == 0);
                event.calm = clock == 0;
                list.push(event);
            }
            let mut event = Event::new(gone);
            event.action = action;
            list.push(event);
        }
    }

    fn repairs(&self, state: &State, list: &mut Vec<Event>) {
        for (number, op) in self.design.ops.iter().enumerate() {
            if op.kind != Kind::Repair || self.without == Some(Without::Repair(number)) {
                continue;
            }
            let Ty::Ref(subject) = op.params[0].ty else { panic!("a repair is of a record") };
            for record in self.keys(subject) {
                for (clock, faults) in self.clocks() {
                    let args = [Value::Ref(record)];
                    let taken = Taken::new();
                    let who = Who { person: None, args: &args, taken: &taken, clock };
                    let Ok(done) = self.run(state, number, &who) else { continue };
                    let Some(next) = charged(self, done.state.clone(), faults) else { continue };
                    self.seen.borrow_mut().accepted.insert(number);
                    let mut event = Event::new(next);
                    event.moved_on = done.moved_on;
                    event.calm = clock == 0;
                    if clock == 0 {
                        let owed = !self.untouched(state, record);
                        event.action = Some((Action::Repair(number, record), owed));
                    }
                    list.push(event);
                }
            }
        }
    }

    /// Is the record there from the start, and as it was then?
    fn untouched(&self, state: &State, record: Rec) -> bool {
        let subject = &self.design.subjects[record.subject];
        let child = |held: &Rec| {
            self.design.subjects[held.subject].parent == Some(record.subject)
                && held.parent == record.own
        };
        let first = self.first();
        let counted = self.counts_children(record.subject);
        let children = |state: &State| -> Vec<_> {
            let all = state.records.iter().filter(|(held, _)| counted && child(held));
            all.map(|(held, record)| (*held, record.clone())).collect()
        };
        !subject.made
            && state.records.get(&record) == first.records.get(&record)
            && children(state) == children(&first)
    }

    /// Does a guard or a step look at the children of this subject's records?
    pub fn counts_children(&self, subject: usize) -> bool {
        let is = |expr: &Expr| match expr {
            Expr::Quant { over: Domain::Children(child, _), .. }
            | Expr::Total { over: Domain::Children(child, _), .. } => {
                self.design.subjects[*child].parent == Some(subject)
            }
            _ => false,
        };
        self.design.ops.iter().any(|op| {
            op.guard.iter().any(|(_, clause)| flow::anywhere(clause, &is))
                || flow::exprs(&op.body).into_iter().any(|expr| flow::anywhere(expr, &is))
        })
    }
}
