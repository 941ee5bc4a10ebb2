//! A second interpreter, as plain as can be: values in maps, whole states in a set, expressions
//! evaluated by walking the typed model. It shares no code with the engine.

#[path = "eval.rs"]
mod eval;
#[path = "family.rs"]
mod family;
#[path = "recover.rs"]
mod recover;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use design::model::{
    Const, Design, Invariant, Operation, OperationKind, Stmt, StmtKind, Target, Type, Values,
};

use eval::changed;

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Enum(u32),
    /// a key, by its number
    Ref(usize),
    Principal(usize),
    /// ticks from the clock of the state before the transition
    Time(i64),
    Duration(i64),
    Set(BTreeSet<Value>),
}

use Value::Null;

/// A step does not happen.
struct Refused;
type Result<T> = std::result::Result<T, Refused>;
/// the actor's field, the principal, the record
type Memory = BTreeMap<(u32, u32, usize, Option<usize>), Value>;

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct State {
    /// (subject, key) to attributes
    records: BTreeMap<(usize, usize), Vec<Value>>,
    memory: Memory,
}

/// What was found: the number of states, and for each violated invariant the shortest history.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub states: u64,
    pub violated: BTreeMap<String, usize>,
    /// some transition left the bounds
    pub cut: bool,
    /// the recoveries that some fair history avoids for ever
    pub avoided: BTreeSet<String>,
}

pub struct Naive<'d> {
    design: &'d Design,
    /// for each subject, the parts of each key
    keys: Vec<Vec<Vec<Value>>>,
    /// for each principal, the actor at its root
    principals: Vec<usize>,
    horizon: i64,
    has_time: bool,
}

/// One evaluation.
struct Scene<'s> {
    now: i64,
    state: Cow<'s, State>,
    old: Option<&'s State>,
    /// looking at the state before
    back: bool,
    me: Value,
    locals: HashMap<u32, Value>,
    memory: Vec<Value>,
    /// in goals: what is not there is null
    lenient: bool,
    made: Vec<(usize, usize)>,
    blank: Vec<(usize, usize)>,
}

impl<'d> Naive<'d> {
    pub fn new(design: &'d Design) -> Naive<'d> {
        let mut naive = Naive {
            design,
            keys: vec![Vec::new(); design.subjects.len()],
            principals: Vec::new(),
            horizon: i64::from(design.world.horizon.expect("generated designs say it")),
            has_time: design
                .subjects
                .iter()
                .flat_map(|subject| &subject.attributes)
                .any(|attribute| *attribute.ty.required() == Type::Time),
        };
        for (at, actor) in design.actors.iter().enumerate() {
            if actor.continues.is_none() {
                let count = design.world.actors[at].max(1);
                naive.principals.extend((0..count).map(|_| at));
            }
        }
        // A key that refers to a subject refers to one written before it.
        for (at, subject) in design.subjects.iter().enumerate() {
            let mut keys: Vec<Vec<Value>> = vec![Vec::new()];
            for (part, key) in subject.keys.iter().enumerate() {
                let values = naive.values(&design.world.keys[at][part], &key.ty);
                keys = keys
                    .iter()
                    .flat_map(|head| {
                        values
                            .iter()
                            .map(move |value| [&head[..], std::slice::from_ref(value)].concat())
                    })
                    .collect();
            }
            naive.keys[at] = keys;
        }
        naive
    }

    fn values(&self, values: &Values, ty: &Type) -> Vec<Value> {
        let whole = match ty.required() {
            Type::Enum(id) => self.design.enumerations[id.index()].constants.len() as u32,
            _ => 2,
        };
        let of = |index: u32| match ty.required() {
            Type::Enum(_) => Value::Enum(index),
            Type::Bool => Value::Bool(index == 1),
            Type::Duration => Value::Duration(i64::from(index)),
            Type::Time => Value::Time(i64::from(index)),
            _ => Value::Int(i64::from(index)),
        };
        match values {
            Values::Opaque(count) => (0..*count).map(of).collect(),
            Values::Range(low, high) => (*low..=*high).map(Value::Int).collect(),
            Values::Listed(list) => list.iter().map(|value| self.constant(value)).collect(),
            Values::Whole => (0..whole).map(of).collect(),
            Values::Refs(subject) => {
                (0..self.keys[subject.index()].len()).map(Value::Ref).collect()
            }
            Values::Principals => (0..self.principals.len()).map(Value::Principal).collect(),
            Values::Ticks(ticks) => vec![Value::Duration(i64::from(*ticks))],
            Values::OrNull(inner) => [self.values(inner, ty), vec![Null]].concat(),
            Values::SetOf(..) => panic!("no generated design has a set as a parameter"),
            Values::Irrelevant => vec![of(0)],
        }
    }

    fn constant(&self, value: &Const) -> Value {
        match value {
            Const::Null => Null,
            Const::Bool(value) => Value::Bool(*value),
            Const::Int(value) => Value::Int(*value),
            Const::Enum(_, index) => Value::Enum(*index),
            Const::Duration(ms) => {
                let ticks = self.design.world.durations.iter().find(|(held, _)| *held == ms.abs());
                Value::Duration(ticks.map_or(1, |(_, ticks)| i64::from(*ticks)) * ms.signum())
            }
            Const::Set(list) => Value::Set(list.iter().map(|value| self.constant(value)).collect()),
            other => panic!("no generated design has {other:?}"),
        }
    }

    fn defaults(&self, subject: usize) -> Vec<Value> {
        let attributes = &self.design.subjects[subject].attributes;
        attributes
            .iter()
            .map(|held| held.default.as_ref().map_or(Null, |value| self.constant(value)))
            .collect()
    }

    /// Every state, breadth first. None: more than `max`.
    pub fn explore(&self, max: usize) -> Option<Found> {
        let mut first = State::default();
        for (at, subject) in self.design.subjects.iter().enumerate() {
            if subject.implicit {
                let defaults = self.defaults(at);
                let all = (0..self.keys[at].len()).map(|key| ((at, key), defaults.clone()));
                first.records.extend(all);
            }
        }
        let mut found = Found::default();
        let mut seen: HashMap<State, usize> = HashMap::from([(first.clone(), 0)]);
        let mut queue = VecDeque::from([first]);
        while let Some(state) = queue.pop_front() {
            let depth = seen[&state];
            for goal in self.design.invariants.iter().filter(|goal| !goal.uses_old) {
                if !self.holds(goal, &state, None, 0) {
                    found.violated.entry(goal.name.clone()).or_insert(depth);
                }
            }
            for (next, now) in self.successors(&state) {
                let Some(settled) = self.settle(&next, now) else {
                    found.cut = true;
                    continue;
                };
                for goal in self.design.invariants.iter().filter(|goal| goal.uses_old) {
                    if !self.holds(goal, &next, Some(&state), now) {
                        let held = found.violated.entry(goal.name.clone()).or_insert(depth + 1);
                        *held = (*held).min(depth + 1);
                    }
                }
                if !seen.contains_key(&settled) {
                    if seen.len() >= max {
                        return None;
                    }
                    seen.insert(settled.clone(), depth + 1);
                    queue.push_back(settled);
                }
            }
        }
        found.states = seen.len() as u64;
        found.avoided = recover::avoided(self, seen.into_keys().collect());
        Some(found)
    }

    /// The state as it is kept: times from its own clock, the long ago all alike. None: a number
    /// is out of bounds.
    fn settle(&self, state: &State, now: i64) -> Option<State> {
        let mut state = state.clone();
        let bound = self.design.world.bounds.first();
        let values = state.records.values_mut().flatten().chain(state.memory.values_mut());
        for value in values {
            match value {
                Value::Time(at) => *at = (*at - now).max(-(self.horizon + 1)),
                Value::Int(number)
                    if bound.is_some_and(|held| *number < held.low || *number > held.high) =>
                {
                    return None;
                }
                _ => {}
            }
        }
        state.memory.retain(|_, value| *value != Null);
        Some(state)
    }

    /// Every state that follows, with times on the clock of this one, and the new clock on it.
    fn successors(&self, state: &State) -> Vec<(State, i64)> {
        let mut list = Vec::new();
        for operation in &self.design.operations {
            assert!(!matches!(operation.kind, OperationKind::Effect(_)));
            let root = self.root(operation.actor.index());
            let params = self.params(operation);
            for me in (0..self.principals.len()).filter(|at| self.principals[*at] == root) {
                for params in &params {
                    list.extend(self.step(state, operation, me, params).map(|next| (next, 0)));
                }
            }
        }
        if self.has_time {
            list.push((state.clone(), 1));
        }
        list
    }

    fn root(&self, actor: usize) -> usize {
        self.design.actors[actor].continues.map_or(actor, |above| self.root(above.index()))
    }

    fn params(&self, operation: &Operation) -> Vec<Vec<Value>> {
        let number = self.design.operations.iter().position(|held| std::ptr::eq(held, operation));
        let world = &self.design.world.params[number.expect("it is of this design")];
        let mut all: Vec<Vec<Value>> = vec![Vec::new()];
        for (param, values) in operation.params.iter().zip(world) {
            let values = self.values(values, &param.ty);
            all = all
                .iter()
                .flat_map(|head| {
                    values
                        .iter()
                        .map(move |value| [&head[..], std::slice::from_ref(value)].concat())
                })
                .collect();
        }
        all
    }

    /// One call. None: refused.
    fn step(
        &self,
        state: &State,
        operation: &Operation,
        me: usize,
        params: &[Value],
    ) -> Option<State> {
        let mut scene = Scene {
            now: 0,
            state: Cow::Borrowed(state),
            old: Some(state),
            back: false,
            me: Value::Principal(me),
            locals: HashMap::new(),
            memory: Vec::new(),
            lenient: false,
            made: Vec::new(),
            blank: Vec::new(),
        };
        for (param, value) in operation.params.iter().zip(params) {
            scene.locals.insert(param.local.0, value.clone());
        }
        let slots: Vec<(u32, u32, usize, Option<usize>)> = operation
            .memory
            .iter()
            .map(|usage| {
                let record = usage.of.and_then(|local| match scene.locals[&local.0] {
                    Value::Ref(key) => Some(key),
                    _ => None,
                });
                (usage.actor.0, usage.field.0, me, record)
            })
            .collect();
        scene.memory =
            slots.iter().map(|slot| state.memory.get(slot).cloned().unwrap_or(Null)).collect();
        self.attempt(operation, params, &mut scene).ok()?;
        for (slot, value) in slots.into_iter().zip(scene.memory) {
            scene.state.to_mut().memory.insert(slot, value);
        }
        Some(scene.state.into_owned())
    }

    fn attempt(
        &self,
        operation: &Operation,
        params: &[Value],
        scene: &mut Scene<'_>,
    ) -> Result<()> {
        let named: Vec<(bool, usize, usize)> = operation
            .params
            .iter()
            .zip(params)
            .filter_map(|(param, value)| match (param.ty.subject(), value) {
                (Some(subject), Value::Ref(key)) => Some((param.new, subject.index(), *key)),
                _ => None,
            })
            .collect();
        for (new, subject, key) in &named {
            let there = scene.state.records.contains_key(&(*subject, *key));
            if !new && !there {
                return Err(Refused);
            }
        }
        let made: Vec<(usize, usize)> =
            named.iter().filter(|(new, ..)| *new).map(|(_, s, k)| (*s, *k)).collect();
        for child in &made {
            self.has_parent(*child, scene, &made)?;
        }
        for (new, subject, key) in &named {
            if *new && scene.state.records.contains_key(&(*subject, *key)) {
                return Err(Refused);
            }
        }
        for clause in &operation.guard {
            if !self.test(&clause.body, scene)? {
                return Err(Refused);
            }
        }
        for (_, subject, key) in named.iter().filter(|(new, ..)| *new) {
            let record = (*subject, *key);
            scene.state.to_mut().records.insert(record, self.defaults(*subject));
            scene.made.push(record);
            scene.blank.push(record);
        }
        self.run(&operation.body, scene)?;
        self.whole(scene)
    }

    /// In the end: made records are complete, and counted parents and children fit together.
    fn whole(&self, scene: &mut Scene<'_>) -> Result<()> {
        for (subject, key) in &scene.made {
            let Some(record) = scene.state.records.get(&(*subject, *key)) else { continue };
            let attributes = &self.design.subjects[*subject].attributes;
            if attributes
                .iter()
                .zip(record)
                .any(|(held, value)| !held.ty.is_optional() && *value == Null)
            {
                return Err(Refused);
            }
        }
        for record in scene.made.clone() {
            if scene.state.records.contains_key(&record) {
                self.has_parent(record, scene, &[])?;
            }
        }
        for (at, parent) in self.design.subjects.iter().enumerate() {
            if parent.implicit {
                continue;
            }
            for number in 0..parent.counters.len() {
                for key in 0..self.keys[at].len() {
                    if scene.state.records.contains_key(&(at, key)) {
                        continue;
                    }
                    // No parent: nothing is counted there.
                    if self.counter(at, number, key, scene)? != 0 {
                        return Err(Refused);
                    }
                }
            }
        }
        Ok(())
    }

    fn run(&self, body: &[Stmt], scene: &mut Scene<'_>) -> Result<()> {
        body.iter().try_for_each(|stmt| self.stmt(stmt, scene))
    }

    fn stmt(&self, stmt: &Stmt, scene: &mut Scene<'_>) -> Result<()> {
        match &stmt.kind {
            StmtKind::Assign { target: Target::Memory(usage), op, value } => {
                let value = self.eval(value, scene)?;
                let held = scene.memory[usage.index()].clone();
                scene.memory[usage.index()] = changed(held, *op, value)?;
            }
            StmtKind::Assign { target: Target::Attr { base, attr }, op, value } => {
                let record = self.record(base, scene)?.ok_or(Refused)?;
                let value = self.eval(value, scene)?;
                let attribute = &self.design.subjects[record.0].attributes[attr.index()];
                let held = scene.state.to_mut().records.get_mut(&record).ok_or(Refused)?;
                let place = &mut held[attr.index()];
                *place = changed(place.clone(), *op, value)?;
                if *place == Null && !attribute.ty.is_optional() {
                    return Err(Refused);
                }
                if let (Value::Set(set), Type::Set { max, .. }) = (&*place, attribute.ty.required())
                    && set.len() > *max as usize
                {
                    return Err(Refused);
                }
                scene.blank.retain(|held| *held != record);
            }
            StmtKind::Let { local, value } => {
                let value = self.eval(value, scene)?;
                scene.locals.insert(local.0, value);
            }
            StmtKind::New { subject, keys, fields } => {
                let parts: Vec<Value> =
                    keys.iter().map(|key| self.eval(key, scene)).collect::<Result<_>>()?;
                let values: Vec<Value> = fields
                    .iter()
                    .map(|(_, value)| self.eval(value, scene))
                    .collect::<Result<_>>()?;
                let key = self.keys[subject.index()].iter().position(|held| *held == parts);
                let record = (subject.index(), key.ok_or(Refused)?);
                let there = scene.state.records.contains_key(&record);
                if there && !scene.blank.contains(&record) {
                    return Err(Refused);
                }
                self.has_parent(record, scene, &[])?;
                scene.state.to_mut().records.insert(record, self.defaults(record.0));
                scene.made.push(record);
                let held = scene.state.to_mut().records.get_mut(&record).ok_or(Refused)?;
                for ((attr, _), value) in fields.iter().zip(values) {
                    held[attr.index()] = value;
                }
                scene.blank.retain(|held| *held != record);
            }
            StmtKind::Delete { target } => {
                let record = self.record(target, scene)?.ok_or(Refused)?;
                scene.state.to_mut().records.remove(&record).ok_or(Refused)?;
            }
            StmtKind::Emit { .. } => {}
            StmtKind::If { condition, then, otherwise } => {
                let branch = if self.test(condition, scene)? { then } else { otherwise };
                self.run(branch, scene)?;
            }
            StmtKind::For { local, domain, body } => {
                let Value::Set(set) = self.eval(domain, scene)? else { return Err(Refused) };
                for element in set {
                    scene.locals.insert(local.0, element);
                    self.run(body, scene)?;
                }
            }
            other => panic!("no generated design has {other:?}"),
        }
        Ok(())
    }

    pub fn holds(&self, goal: &Invariant, state: &State, old: Option<&State>, now: i64) -> bool {
        let mut scene = Scene {
            now,
            state: Cow::Borrowed(state),
            old,
            back: false,
            me: Null,
            locals: HashMap::new(),
            memory: Vec::new(),
            lenient: true,
            made: Vec::new(),
            blank: Vec::new(),
        };
        self.test(&goal.body, &mut scene).unwrap_or(false)
    }
}
