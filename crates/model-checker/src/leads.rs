//! `leads_to`: whatever begins to wait is served. Clients and faults go on; each fault strikes finitely
//! often.
//!
//! Each record is judged by itself. From every state where it begins to wait (`p` holds of it and `q` does
//! not), everything that can be reached while it waits is gone through, faults included. Of these states,
//! and the transitions between them that are no faults, each strongly connected part is looked at as for
//! `recovers`: a history can stay in it for ever, and fairly, if every action that is owed cannot happen in
//! some state of the part, or happens within it. Besides what is owed for `recovers`, these are the calls
//! that the goal names, each caller with the same arguments by itself. Other calls are owed to nobody: a
//! state where nothing owed can happen is a part by itself.

use design::model::{Domain, LeadsTo};
use engine::{Scratch, Side, Word};
use rustc_hash::FxHashMap;

use crate::fair::{Graph, NONE, STATE_BYTES, fair, parts};
use crate::machine::{Beyond, Machine, Move, NOW, Sink, Step, View};
use crate::recover::{Action, NoRoom, action, first};
use crate::search::Explored;

/// What was found about one goal.
pub(crate) enum Led {
    /// `but`: what the world had no room for while something waited; then it is not known.
    Holds {
        but: NoRoom,
    },
    Fails(Waits),
    Unknown(String),
}

/// Something that waits for ever.
pub(crate) struct Waits {
    /// the records and principals that it is about
    pub(crate) of: Vec<Word>,
    /// the states from the first one to where it stays
    pub(crate) way: Vec<u32>,
    /// after so many steps of the way it begins to wait
    pub(crate) began: usize,
    /// the states of a cycle; one alone, if nothing more that is owed can happen
    pub(crate) cycle: Vec<u32>,
    pub(crate) dead_end: bool,
}

/// `bytes_max`: how much the graph may take.
pub(crate) fn leads_to(machine: &Machine, explored: &Explored, goal: u32, bytes_max: usize) -> Led {
    let mut best: Option<Waits> = None;
    let mut but = None;
    for of in whose(machine, goal) {
        let region = match Region::of(machine, explored, goal, &of, bytes_max) {
            Ok(region) => region,
            Err(_) if best.is_some() => break,
            Err(why) => return Led::Unknown(why.into()),
        };
        but = but.or(region.beyond);
        region.best(explored, &of, &mut best);
    }
    match best {
        Some(found) => Led::Fails(found.since_it_began(machine, explored, goal)),
        None => Led::Holds { but },
    }
}

impl Waits {
    /// It may have begun to wait earlier on the way.
    fn since_it_began(mut self, machine: &Machine, explored: &Explored, goal: u32) -> Waits {
        let mut words = Vec::new();
        let mut scratch = Scratch::new();
        for at in (0..self.began).rev() {
            machine.plan.slots.unpack(explored.state(self.way[at]), &mut words);
            if is_served(machine, goal, &self.of, &View::new(machine, &words, NOW), &mut scratch) {
                break;
            }
            if begins(machine, goal, &self.of, &words, &mut scratch) {
                self.began = at;
            }
        }
        self
    }
}

/// Does anything ever begin to wait?
pub(crate) fn ever_waits(machine: &Machine, explored: &Explored, goal: u32) -> bool {
    let all = whose(machine, goal);
    let mut words = Vec::new();
    let mut scratch = Scratch::new();
    explored.ids().any(|id| {
        machine.plan.slots.unpack(explored.state(id), &mut words);
        all.iter().any(|of| begins(machine, goal, of, &words, &mut scratch))
    })
}

/// Every record or principal that the goal speaks of; of several `all`, every combination.
fn whose(machine: &Machine, goal: u32) -> Vec<Vec<Word>> {
    let mut all = vec![Vec::new()];
    for domain in domains(&machine.design.leads[goal as usize]) {
        let words = match domain {
            Domain::All(subject) => &machine.universe.keys[subject.index()].all,
            Domain::Principals(actor) => &machine.universe.acting[actor.index()],
            other => panic!("the compiler lets no `leads_to` range over {other:?}"),
        };
        let longer = |of: &Vec<Word>| {
            let of = of.clone();
            words.iter().map(move |word| of.iter().copied().chain([*word]).collect::<Vec<_>>())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

fn domains(held: &LeadsTo) -> Vec<&Domain> {
    let parts = held.parts().expect("it is judged only where it is a part of the slice");
    parts.ranges.iter().map(|range| range.domain).collect()
}

/// These records and principals, in words.
pub(crate) fn told(machine: &Machine, goal: u32, of: &[Word]) -> Vec<String> {
    let shown = |(domain, word): (&Domain, &Word)| match domain {
        Domain::All(subject) => machine.show_key(*subject, *word),
        _ => machine.show_principal(*word),
    };
    domains(&machine.design.leads[goal as usize]).into_iter().zip(of).map(shown).collect()
}

/// The same records and principals in another machine of the same design.
pub(crate) fn same(from: &Machine, to: &Machine, goal: u32, of: &[Word]) -> Option<Vec<Word>> {
    let wanted = told(from, goal, of);
    whose(to, goal).into_iter().find(|of| told(to, goal, of) == wanted)
}

/// Does it begin to wait here, or wait again?
pub(crate) fn begins(
    machine: &Machine,
    goal: u32,
    of: &[Word],
    words: &[Word],
    scratch: &mut Scratch,
) -> bool {
    let view = View::new(machine, words, NOW);
    let from = engine::leads_to(&machine.program, goal, Side::From, of, &view, scratch);
    from != Ok(false) && !is_served(machine, goal, of, &view, scratch)
}

pub(crate) fn is_served(
    machine: &Machine,
    goal: u32,
    of: &[Word],
    view: &View<'_>,
    scratch: &mut Scratch,
) -> bool {
    engine::leads_to(&machine.program, goal, Side::To, of, view, scratch) == Ok(true)
}

/// Where one record waits: everything that can be reached from where it begins to, while it does.
struct Region {
    /// without the transitions of faults
    graph: Graph,
    /// from which of its states each was reached first; none: it begins to wait here
    came: Vec<u32>,
    beyond: NoRoom,
}

const NO_ROOM: &str = "more memory than the budget allows, for the graph of what waits";

/// The place of a state in which it does not wait.
const SERVED: u32 = u32::MAX;

struct Ways<'a> {
    explored: &'a Explored,
    goal: u32,
    of: &'a [Word],
    actions: FxHashMap<Action, u32>,
    /// the first state
    initial: Vec<Word>,
    scratch: Scratch,
    /// (id of the state after, action; none: a fault)
    out: Vec<(u32, Option<u32>)>,
    enabled: Vec<u32>,
    /// a state that was not reached: the exploration was cut short
    missing: bool,
    beyond: NoRoom,
}

impl Ways<'_> {
    /// The number of what this transition is owed to; notes that it can happen here.
    fn possible(&mut self, machine: &Machine, step: &Step<'_>) -> u32 {
        let owed = match step.what {
            Move::Call { instance, .. } => {
                let operation = machine.instances[instance as usize].operation;
                let named = machine.design.leads[self.goal as usize].by.contains(&operation);
                named.then_some(Action::Named(instance))
            }
            _ => action(machine, &self.initial, step.what, step.before),
        };
        let Some(owed) = owed else { return NONE };
        let next = self.actions.len() as u32;
        let number = *self.actions.entry(owed).or_insert(next);
        self.enabled.push(number);
        number
    }
}

impl Sink for Ways<'_> {
    fn moved(&mut self, machine: &Machine, step: &Step<'_>) {
        let action = step.what.is_calm().then(|| self.possible(machine, step));
        match self.explored.find(step.packed) {
            Some(id) => self.out.push((id, action)),
            None => self.missing = true,
        }
    }

    /// It can happen, and where it leads is not known, unless it is served by it.
    fn beyond(&mut self, machine: &Machine, step: &Step<'_>, what: Beyond) {
        if step.what.is_calm() {
            self.possible(machine, step);
        }
        let view = View::new(machine, step.after, step.now).with(step.extras);
        if !is_served(machine, self.goal, self.of, &view, &mut self.scratch) {
            self.beyond = self.beyond.or(Some((step.what, what)));
        }
    }
}

impl Region {
    fn of(
        machine: &Machine,
        explored: &Explored,
        goal: u32,
        of: &[Word],
        bytes_max: usize,
    ) -> Result<Region, &'static str> {
        let mut worker = machine.worker();
        let mut ways = Ways {
            explored,
            goal,
            of,
            actions: FxHashMap::default(),
            initial: first(machine, &mut worker)?,
            scratch: Scratch::new(),
            out: Vec::new(),
            enabled: Vec::new(),
            missing: false,
            beyond: None,
        };
        let mut words = Vec::new();
        let mut scratch = Scratch::new();
        let mut graph = Graph::default();
        let mut index: FxHashMap<u32, u32> = FxHashMap::default();
        for id in explored.ids() {
            machine.plan.slots.unpack(explored.state(id), &mut words);
            if begins(machine, goal, of, &words, &mut scratch) {
                index.insert(id, graph.states.len() as u32);
                graph.states.push(id);
            }
        }
        let mut came = vec![NONE; graph.states.len()];
        let mut at = 0;
        while at < graph.states.len() {
            graph.first.push(graph.edges.len() as u32);
            graph.first_enabled.push(graph.enabled.len() as u32);
            ways.out.clear();
            ways.enabled.clear();
            machine.load(&mut worker, explored.state(graph.states[at]));
            machine.expand(&mut worker, &mut ways, false);
            if ways.missing {
                return Err("a state that was not explored");
            }
            for (id, action) in &ways.out {
                let to = *index.entry(*id).or_insert_with(|| {
                    machine.plan.slots.unpack(explored.state(*id), &mut words);
                    let view = View::new(machine, &words, NOW);
                    if is_served(machine, goal, of, &view, &mut scratch) {
                        return SERVED;
                    }
                    graph.states.push(*id);
                    came.push(at as u32);
                    graph.states.len() as u32 - 1
                });
                if let (true, Some(action)) = (to != SERVED, action) {
                    graph.edges.push((to, *action));
                }
            }
            ways.enabled.sort_unstable();
            ways.enabled.dedup();
            graph.enabled.extend_from_slice(&ways.enabled);
            // `index` also holds what is served.
            if graph.bytes() + STATE_BYTES * (index.len() - graph.states.len()) > bytes_max {
                return Err(NO_ROOM);
            }
            at += 1;
        }
        graph.first.push(graph.edges.len() as u32);
        graph.first_enabled.push(graph.enabled.len() as u32);
        Ok(Region { graph, came, beyond: ways.beyond })
    }

    /// The shortest history in which it waits for ever, if that is shorter than the best so far.
    fn best(&self, explored: &Explored, of: &[Word], best: &mut Option<Waits>) {
        for part in parts(&self.graph).iter() {
            let Some((mut cycle, dead_end)) = fair(&self.graph, part) else { continue };
            // It is entered where it is nearest.
            let far = |at: &u32| self.way(explored, *at).0.len();
            let far: Vec<usize> = cycle.iter().map(far).collect();
            let nearest = (0..cycle.len()).min_by_key(|at| far[*at]).unwrap_or(0);
            let length = (far[nearest], cycle.len());
            if best.as_ref().is_some_and(|held| (held.way.len(), held.cycle.len()) <= length) {
                continue;
            }
            cycle.rotate_left(nearest);
            let (way, began) = self.way(explored, cycle[0]);
            let cycle = cycle.iter().map(|at| self.graph.states[*at as usize]).collect();
            *best = Some(Waits { of: of.to_vec(), way, began, cycle, dead_end });
        }
    }

    /// The states from the first one to this, and after how many steps it begins to wait.
    fn way(&self, explored: &Explored, at: u32) -> (Vec<u32>, usize) {
        let mut back = Vec::new();
        let mut at = at as usize;
        while self.came[at] != NONE {
            back.push(self.graph.states[at]);
            at = self.came[at] as usize;
        }
        let mut way = explored.path(self.graph.states[at]);
        let began = way.len() - 1;
        back.reverse();
        way.append(&mut back);
        (way, began)
    }
}
