//! `recovers`: with every client silent and no more faults, every fair history comes to a state
//! where the goal holds.
//!
//! Of the states where it does not hold, and the transitions of repairs, outbox, world, calls in
//! flight, messages and the clock between them, each strongly connected part is looked at. A
//! history can stay in it for ever, and fairly, if for every fair action there is a state in the
//! part where the action cannot happen, or a transition of the action within the part. A state
//! that nothing leaves is such a part by itself.
//!
//! Where states are kept up to the exchange of interchangeable things, fairness is owed to each thing by
//! itself, not to whichever takes its place. A part whose transitions all lead to states as they stand is
//! the same in every exchange of them, so it is judged as it is. Of another one only what no exchange
//! touches is known: the clock and the network.

use design::model::{Goal, OperationId};
use engine::{Scratch, Word};
use rustc_hash::{FxHashMap, FxHashSet};

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

/// The action of a transition that is owed to nobody.
pub(crate) const NONE: u32 = u32::MAX;

/// The part of the graph where the goal does not hold.
#[derive(Default)]
pub(crate) struct Graph {
    /// ids of its states
    pub(crate) states: Vec<u32>,
    /// where the edges of each state begin
    pub(crate) first: Vec<u32>,
    /// (to, action)
    pub(crate) edges: Vec<(u32, u32)>,
    /// (from, to): those in which interchangeable things are exchanged
    pub(crate) exchanged: Vec<(u32, u32)>,
    /// where the enabled actions of each state begin
    pub(crate) first_enabled: Vec<u32>,
    /// sorted for each state
    pub(crate) enabled: Vec<u32>,
    /// actions that are the same, whatever is exchanged
    same: Vec<u32>,
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
        Move::Deliver { plan, at, how, .. } if !how.has(How::DOUBLED) => {
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

/// What each state of a graph takes besides its transitions, while its parts are looked for.
pub(crate) const STATE_BYTES: usize = 80;

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

impl Graph {
    /// With what finding its parts takes besides; vectors may have twice what they hold.
    pub(crate) fn bytes(&self) -> usize {
        let edges = self.edges.len() + self.exchanged.len();
        2 * (8 * edges + 4 * self.enabled.len()) + STATE_BYTES * self.states.len()
    }

    fn edges(&self, at: u32) -> &[(u32, u32)] {
        &self.edges[self.first[at as usize] as usize..self.first[at as usize + 1] as usize]
    }

    fn enabled(&self, at: u32) -> &[u32] {
        let from = self.first_enabled[at as usize] as usize;
        &self.enabled[from..self.first_enabled[at as usize + 1] as usize]
    }

    fn can(&self, at: u32, action: u32) -> bool {
        self.enabled(at).binary_search(&action).is_ok()
    }

    /// For each part: does a transition within it exchange things?
    fn mixed(&self, parts: &Parts) -> Vec<bool> {
        let mut mixed = vec![false; parts.ends.len()];
        if self.exchanged.is_empty() {
            return mixed;
        }
        let mut part_of = vec![0_u32; self.states.len()];
        for (number, part) in parts.iter().enumerate() {
            part.iter().for_each(|at| part_of[*at as usize] = number as u32);
        }
        for (from, to) in &self.exchanged {
            let (from, to) = (part_of[*from as usize], part_of[*to as usize]);
            mixed[from as usize] |= from == to;
        }
        mixed
    }

    /// Whatever is exchanged in this part, is something owed in every state of it that never happens within?
    fn is_unfair(&self, part: &[u32]) -> bool {
        let inside: FxHashSet<u32> = part.iter().copied().collect();
        let happens = |action: u32| {
            let mut edges = part.iter().flat_map(|at| self.edges(*at));
            edges.any(|(to, held)| *held == action && inside.contains(to))
        };
        let owed = |action: u32| part.iter().all(|at| self.can(*at, action));
        self.same.iter().any(|action| owed(*action) && !happens(*action))
    }
}

/// Parts of a graph, one after the other: there may be as many as there are states.
#[derive(Default)]
pub(crate) struct Parts {
    states: Vec<u32>,
    ends: Vec<u32>,
}

impl Parts {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.states[start as usize..*end as usize])
    }
}

/// Strongly connected parts, by Tarjan's algorithm without recursion.
pub(crate) fn parts(graph: &Graph) -> Parts {
    let len = graph.states.len();
    let (mut order, mut low) = (vec![NONE; len], vec![0_u32; len]);
    let mut on_stack = vec![false; len];
    let mut stack: Vec<u32> = Vec::new();
    let mut work: Vec<(u32, u32)> = Vec::new();
    let mut count = 0;
    let mut parts = Parts::default();
    for root in 0..len as u32 {
        if order[root as usize] != NONE {
            continue;
        }
        work.push((root, 0));
        while let Some((at, edge)) = work.pop() {
            let here = at as usize;
            if edge == 0 {
                order[here] = count;
                low[here] = count;
                count += 1;
                stack.push(at);
                on_stack[here] = true;
            }
            let mut descended = false;
            for (number, (to, _)) in graph.edges(at).iter().enumerate().skip(edge as usize) {
                let there = *to as usize;
                if order[there] == NONE {
                    work.push((at, number as u32 + 1));
                    work.push((*to, 0));
                    descended = true;
                    break;
                }
                if on_stack[there] {
                    low[here] = low[here].min(order[there]);
                }
            }
            if descended {
                continue;
            }
            if low[here] == order[here] {
                let from = stack.iter().rposition(|held| *held == at).unwrap_or(0);
                for held in stack.drain(from..) {
                    on_stack[held as usize] = false;
                    parts.states.push(held);
                }
                parts.ends.push(parts.states.len() as u32);
            }
            if let Some((above, _)) = work.last() {
                low[*above as usize] = low[*above as usize].min(low[here]);
            }
        }
    }
    parts
}

/// A fair cycle in this part, if there is one; or its only state, if nothing can happen there.
pub(crate) fn fair(graph: &Graph, part: &[u32]) -> Option<(Vec<u32>, bool)> {
    let inside: FxHashMap<u32, ()> = part.iter().map(|at| (*at, ())).collect();
    let within = |at: u32| {
        let inside = &inside;
        graph.edges(at).iter().filter(move |(to, _)| inside.contains_key(to))
    };
    let mut always: Vec<u32> = graph.enabled(part[0]).to_vec();
    for at in part {
        always.retain(|action| graph.can(*at, *action));
    }
    let mut cycles = false;
    for at in part {
        for (_, action) in within(*at) {
            cycles = true;
            always.retain(|held| held != action);
        }
    }
    if !always.is_empty() {
        return None;
    }
    if !cycles {
        return Some((vec![part[0]], true));
    }
    Some((round(graph, part, &inside), false))
}

/// A closed walk in the part that is fair to every action.
fn round(graph: &Graph, part: &[u32], inside: &FxHashMap<u32, ()>) -> Vec<u32> {
    let start = part.iter().copied().min().unwrap_or(part[0]);
    let mut walk = vec![start];
    let mut owed: Vec<u32> =
        part.iter().flat_map(|at| graph.enabled(*at).iter().copied()).collect();
    owed.sort_unstable();
    owed.dedup();
    owed.retain(|action| graph.can(start, *action));
    while let Some(action) = owed.first().copied() {
        let at = walk[walk.len() - 1];
        let Some(way) = way(graph, inside, at, &|from, edge| {
            edge.is_some_and(|(_, held)| held == action)
                || edge.is_none() && !graph.can(from, action)
        }) else {
            break;
        };
        for (from, edge) in way {
            walk.push(edge.0);
            owed.retain(|held| {
                *held != edge.1 && graph.can(edge.0, *held) && graph.can(from, *held)
            });
        }
        owed.retain(|held| *held != action);
    }
    let at = walk[walk.len() - 1];
    if at != start || walk.len() == 1 {
        let back = way(graph, inside, at, &|_, edge| edge.is_some_and(|(to, _)| to == start));
        walk.extend(back.into_iter().flatten().map(|(_, edge)| edge.0));
    }
    // It comes back to where it began: that is not said twice.
    walk.pop();
    if walk.is_empty() {
        walk.push(start);
    }
    walk
}

type Edge = (u32, u32);

/// The shortest walk, of at least one edge, to a state or over an edge that will do.
fn way(
    graph: &Graph,
    inside: &FxHashMap<u32, ()>,
    from: u32,
    will_do: &dyn Fn(u32, Option<Edge>) -> bool,
) -> Option<Vec<(u32, Edge)>> {
    let mut came: FxHashMap<u32, (u32, Edge)> = FxHashMap::default();
    let mut queue = std::collections::VecDeque::from([from]);
    let back = |came: &FxHashMap<u32, (u32, Edge)>, last: (u32, Edge)| {
        let mut way = vec![last];
        let mut at = last.0;
        while at != from {
            let step = came[&at];
            way.push(step);
            at = step.0;
        }
        way.reverse();
        way
    };
    while let Some(at) = queue.pop_front() {
        for edge in graph.edges(at) {
            if !inside.contains_key(&edge.0) {
                continue;
            }
            if will_do(at, Some(*edge)) || will_do(edge.0, None) {
                return Some(back(&came, (at, *edge)));
            }
            if edge.0 != from && !came.contains_key(&edge.0) {
                came.insert(edge.0, (at, *edge));
                queue.push_back(edge.0);
            }
        }
    }
    None
}
