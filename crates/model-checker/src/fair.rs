//! Graphs of what may go on for ever: their strongly connected parts, and whether a history can stay in one
//! of them fairly.
//!
//! Where states are kept up to the exchange of interchangeable things, fairness is owed to each thing by
//! itself, not to whichever takes its place. A part whose transitions all lead to states as they stand is
//! the same in every exchange of them, so it is judged as it is. Of another one only what no exchange
//! touches is known: the clock and the network.

use rustc_hash::{FxHashMap, FxHashSet};

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
    pub(crate) same: Vec<u32>,
}

/// What each state of a graph takes besides its transitions, while its parts are looked for.
pub(crate) const STATE_BYTES: usize = 80;

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
    pub(crate) fn mixed(&self, parts: &Parts) -> Vec<bool> {
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
    pub(crate) fn is_unfair(&self, part: &[u32]) -> bool {
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
