//! `recovers`: with every client silent and no more faults, every fair history comes to a state
//! where the goal holds.
//!
//! Of the states where it does not hold, and the transitions of repairs, outbox, world, calls in
//! flight, messages and the clock between them, each strongly connected part is looked at. A
//! history can stay in it for ever, and fairly, if for every fair action there is a state in the
//! part where the action cannot happen, or a transition of the action within the part. A state
//! that nothing leaves is such a part by itself.

use design::model::{Goal, OperationId};
use engine::{Scratch, Word};
use rustc_hash::FxHashMap;

use crate::fair::{Graph, NONE, STATE_BYTES, fair, parts};
use crate::machine::{Beyond, How, Machine, Move, NOW, Sink, Step, View, Worker};
use crate::search::Explored;

/// What must happen eventually if it can happen all the time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Action {
    Repair(u32),
    Attempt(OperationId, u32),
    Decide(OperationId, u32),
    Answer(OperationId, u32),
    /// a call in flight lands or is dropped
    Call(Vec<Word>),
    Message(OperationId, Vec<Word>),
    Tick,
    Heal,
    /// of a `leads_to`: a call that it names
    Named(u32),
}

struct Edges<'a> {
    explored: &'a Explored,
    actions: &'a mut FxHashMap<Action, u32>,
    /// (id of the state after, action)
    out: Vec<(u32, u32)>,
    /// ids of states after, with things exchanged
    exchanged: Vec<u32>,
    enabled: Vec<u32>,
    /// the first state
    initial: Vec<Word>,
    /// a state that was not reached: the exploration was cut short
    missing: bool,
    /// what the world had no room for
    beyond: Option<(Move, Beyond)>,
}

impl Edges<'_> {
    fn number(&mut self, action: Action) -> u32 {
        let next = self.actions.len() as u32;
        *self.actions.entry(action).or_insert(next)
    }

    /// Notes that it can happen here; answers its number.
    fn possible(&mut self, machine: &Machine, step: &Step<'_>) -> u32 {
        let action = action(machine, &self.initial, step);
        let action = action.map_or(NONE, |action| self.number(action));
        if action != NONE {
            self.enabled.push(action);
        }
        action
    }
}

/// A repair is looked for among the records that something has changed: of those that are there
/// from the start and as they were then, there is no end. On such a one it may run, for it may
/// have come back to what it was, but nothing says that it does.
fn is_owed(machine: &Machine, initial: &[Word], instance: u32, words: &[Word]) -> bool {
    let repair = &machine.instances[instance as usize];
    let operation = &machine.design.operations[repair.operation.index()];
    let subject = operation.params.first().and_then(|param| param.ty.subject());
    let (Some(subject), Some(key)) = (subject, repair.params.first()) else { return true };
    let record = &machine.plan.records[subject.index()];
    let held = record.words(*key as usize);
    record.present(*key as usize).is_some() || words[held.clone()] != initial[held]
}

/// What a transition that no client makes is owed to, if it is.
///
/// `initial`: the first state.
pub(crate) fn action(machine: &Machine, initial: &[Word], step: &Step<'_>) -> Option<Action> {
    let words = step.before;
    match step.what {
        Move::Repair { instance, .. } => {
            is_owed(machine, initial, instance, words).then_some(Action::Repair(instance))
        }
        Move::Attempt { effect, key } | Move::Again { effect, key } => {
            Some(Action::Attempt(effect, key))
        }
        Move::Decide { effect, key, .. } => Some(Action::Decide(effect, key)),
        Move::Answer { effect, key, .. } => Some(Action::Answer(effect, key)),
        Move::Land { call, .. } | Move::Drop { call } => {
            let plan = &machine.plan.calls;
            let slot = (plan.first + plan.stride * call) as usize;
            Some(Action::Call(words[slot..slot + plan.stride as usize].to_vec()))
        }
        Move::Deliver { plan, at, how, .. } if machine.is_set() && !how.has(How::DOUBLED) => {
            let plan = &machine.plan.sent[plan as usize];
            Some(Action::Message(plan.operation, plan.rows[at as usize].clone()))
        }
        Move::Deliver { plan, at, how, .. } if !how.has(How::DOUBLED.and(How::AGAIN)) => {
            let plan = &machine.plan.messages[plan as usize];
            let slot = (plan.first + plan.stride * at) as usize;
            let block = words[slot..slot + plan.stride as usize].to_vec();
            Some(Action::Message(plan.operation, block))
        }
        Move::Tick => Some(Action::Tick),
        Move::Heal => Some(Action::Heal),
        _ => None,
    }
}

/// The first state, as it is packed and unpacked again.
pub(crate) fn first(machine: &Machine, worker: &mut Worker) -> Result<Vec<Word>, &'static str> {
    let packed = machine.pack(worker, &machine.initial());
    let packed = packed.map_err(|_| "a first state that is beyond the bounds")?;
    let mut words = Vec::new();
    machine.plan.slots.unpack(&packed, &mut words);
    Ok(words)
}

impl Sink for Edges<'_> {
    fn moved(&mut self, machine: &Machine, step: &Step<'_>) {
        let action = self.possible(machine, step);
        match self.explored.find(step.packed) {
            Some(id) => {
                self.out.push((id, action));
                if step.exchanged {
                    self.exchanged.push(id);
                }
            }
            None => self.missing = true,
        }
    }

    /// It can happen, and where it leads is not known.
    fn beyond(&mut self, machine: &Machine, step: &Step<'_>, what: Beyond) {
        self.possible(machine, step);
        self.beyond = self.beyond.or(Some((step.what, what)));
    }
}

/// What happened for which the world had no room, if anything.
pub(crate) type NoRoom = Option<(Move, Beyond)>;

/// What was found about one goal.
pub(crate) enum Recovery {
    /// Something that would have happened while it did not hold, and that the world had no room for: then
    /// it is not known.
    Holds {
        but: NoRoom,
    },
    /// the states of a cycle; one alone without a transition is a dead end
    Fails {
        cycle: Vec<u32>,
        dead_end: bool,
    },
    Unknown(String),
}

/// Does the goal come to hold for good? That is more than `recovers` asks, and what it takes for
/// the goals of several independent records to hold at once.
pub(crate) fn settles(machine: &Machine, explored: &Explored, goal: u32, bytes_max: usize) -> bool {
    if !fits(explored.len(), bytes_max) {
        return false;
    }
    let Some(failing) = failing(machine, explored, goal, bytes_max) else { return false };
    let failing: FxHashMap<u32, ()> = failing.into_iter().map(|id| (id, ())).collect();
    let Ok((graph, None)) = graph(machine, explored, asked(machine, explored), bytes_max) else {
        return false;
    };
    let parts = parts(&graph);
    let mixed = graph.mixed(&parts);
    parts.iter().zip(mixed).all(|(part, mixed)| {
        !part.iter().any(|at| failing.contains_key(&graph.states[*at as usize]))
            || graph.is_unfair(part)
            || !mixed && fair(&graph, part).is_none()
    })
}

/// `bytes_max`: how much the graph may take.
pub(crate) fn recover(
    machine: &Machine,
    explored: &Explored,
    goal: u32,
    bytes_max: usize,
) -> Recovery {
    let Some(states) = failing(machine, explored, goal, bytes_max) else {
        return Recovery::Unknown(NO_ROOM.into());
    };
    let (graph, beyond) = match graph(machine, explored, states, bytes_max) {
        Ok(made) => made,
        Err(why) => return Recovery::Unknown(why.into()),
    };
    let mut best: Option<(usize, Vec<u32>, bool)> = None;
    let parts = parts(&graph);
    for (part, mixed) in parts.iter().zip(graph.mixed(&parts)) {
        if mixed && !graph.is_unfair(part) {
            return Recovery::Unknown(MIXED.into());
        }
        if let Some((mut cycle, dead_end)) = fair(&graph, part) {
            // It is entered where it is nearest.
            let depths: Vec<usize> =
                cycle.iter().map(|at| explored.path(graph.states[*at as usize]).len()).collect();
            let nearest = (0..cycle.len()).min_by_key(|at| depths[*at]).unwrap_or(0);
            cycle.rotate_left(nearest);
            let depth = depths[nearest];
            if best.as_ref().is_none_or(|(held, cycle_held, _)| {
                (depth, cycle.len()) < (*held, cycle_held.len())
            }) {
                best = Some((depth, cycle, dead_end));
            }
        }
    }
    match best {
        None => Recovery::Holds { but: beyond },
        Some((_, cycle, dead_end)) => Recovery::Fails {
            cycle: cycle.iter().map(|at| graph.states[*at as usize]).collect(),
            dead_end,
        },
    }
}

/// The states in which it may be asked.
fn asked(machine: &Machine, explored: &Explored) -> Vec<u32> {
    let mut words = Vec::new();
    let is_asked = |id: &u32| {
        machine.plan.slots.unpack(explored.state(*id), &mut words);
        machine.is_asked(&words)
    };
    explored.ids().filter(is_asked).collect()
}

/// Is there a reachable state where the goal does not hold?
pub(crate) fn ever_fails(machine: &Machine, explored: &Explored, goal: u32) -> bool {
    failures(machine, explored, goal).next().is_some()
}

/// The states where the goal does not hold; none: their graph would take too much memory.
fn failing(
    machine: &Machine,
    explored: &Explored,
    goal: u32,
    bytes_max: usize,
) -> Option<Vec<u32>> {
    let mut states = Vec::new();
    for id in failures(machine, explored, goal) {
        states.push(id);
        if !fits(states.len(), bytes_max) {
            return None;
        }
    }
    Some(states)
}

fn failures<'a>(
    machine: &'a Machine,
    explored: &'a Explored,
    goal: u32,
) -> impl Iterator<Item = u32> + 'a {
    let mut words = Vec::new();
    let mut scratch = Scratch::new();
    explored.ids().filter(move |id| {
        machine.plan.slots.unpack(explored.state(*id), &mut words);
        let view = View::new(machine, &words, NOW);
        let goal = Goal::Recovery(goal);
        machine.is_asked(&words)
            && engine::holds(&machine.program, goal, &view, None, &mut scratch) != Ok(true)
    })
}

const MIXED: &str = "interchangeable things that take each other's place for ever";

const NO_ROOM: &str = "more memory than the budget allows, for the graph of recovery";

fn fits(states: usize, bytes_max: usize) -> bool {
    states.saturating_mul(STATE_BYTES) <= bytes_max
}

/// The transitions of recovery between these states.
fn graph(
    machine: &Machine,
    explored: &Explored,
    states: Vec<u32>,
    bytes_max: usize,
) -> Result<(Graph, NoRoom), &'static str> {
    let index: FxHashMap<u32, u32> =
        states.iter().enumerate().map(|(at, id)| (*id, at as u32)).collect();
    let mut graph = Graph { states, ..Graph::default() };
    let mut actions = FxHashMap::default();
    let mut worker = machine.worker();
    let initial = first(machine, &mut worker)?;
    let mut edges = Edges {
        explored,
        initial,
        actions: &mut actions,
        out: Vec::new(),
        exchanged: Vec::new(),
        enabled: Vec::new(),
        missing: false,
        beyond: None,
    };
    for (from, id) in graph.states.iter().enumerate() {
        graph.first.push(graph.edges.len() as u32);
        graph.first_enabled.push(graph.enabled.len() as u32);
        edges.out.clear();
        edges.exchanged.clear();
        edges.enabled.clear();
        machine.load(&mut worker, explored.state(*id));
        machine.expand(&mut worker, &mut edges, true);
        if edges.missing {
            return Err("a state that was not explored");
        }
        for (to, action) in &edges.out {
            if let Some(to) = index.get(to) {
                graph.edges.push((*to, *action));
            }
        }
        let exchanged = edges.exchanged.iter().filter_map(|to| index.get(to));
        graph.exchanged.extend(exchanged.map(|to| (from as u32, *to)));
        edges.enabled.sort_unstable();
        edges.enabled.dedup();
        graph.enabled.extend_from_slice(&edges.enabled);
        if graph.bytes() > bytes_max {
            return Err(NO_ROOM);
        }
    }
    graph.first.push(graph.edges.len() as u32);
    graph.first_enabled.push(graph.enabled.len() as u32);
    let beyond = edges.beyond;
    let same = [Action::Tick, Action::Heal];
    graph.same = same.iter().filter_map(|action| actions.get(action).copied()).collect();
    Ok((graph, beyond))
}
