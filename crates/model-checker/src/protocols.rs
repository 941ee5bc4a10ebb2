//! Protocol paths: is there one history with these steps, in this order?

use design::model::{ClauseRef, Design, OperationId, Path, PathStep};
use engine::Reason;
use rustc_hash::FxHashMap;

use crate::machine::{How, Machine, Move, Sink, Step};
use crate::search::Explored;
use crate::witness::{clause_name, clause_of};

/// A path from its beginning to an outcome. Any of the spellings will do: a branch may come after
/// the last step of what it branches from, or instead of it.
pub(crate) struct Route {
    pub(crate) name: String,
    spellings: Vec<Vec<PathStep>>,
}

impl Route {
    /// Every operation on it.
    pub(crate) fn operations(&self) -> Vec<OperationId> {
        self.spellings.iter().flatten().map(|step| step.operation).collect()
    }
}

pub(crate) fn routes(design: &Design) -> Vec<Route> {
    let mut routes = Vec::new();
    for protocol in &design.protocols {
        for path in &protocol.paths {
            add(design, &protocol.name, &[], path, &mut routes);
        }
    }
    routes
}

fn add(design: &Design, name: &str, before: &[PathStep], path: &Path, routes: &mut Vec<Route>) {
    let join =
        |head: &[PathStep]| head.iter().chain(&path.steps).cloned().collect::<Vec<PathStep>>();
    let mut spellings = vec![join(before)];
    if !before.is_empty() {
        spellings.push(join(&before[..before.len() - 1]));
    }
    let steps: Vec<String> = spellings[0].iter().map(|step| spell(design, step)).collect();
    let outcome = path.outcome.as_ref().map_or(String::new(), |outcome| format!(" => {outcome}"));
    routes.push(Route {
        name: format!("protocol {name}: {}{outcome}", steps.join(" -> ")),
        spellings: spellings.clone(),
    });
    for branch in &path.branches {
        add(design, name, &spellings[0], branch, routes);
    }
}

fn spell(design: &Design, step: &PathStep) -> String {
    let operation = &design.operations[step.operation.index()];
    match step.refused {
        Some(clause) => format!("{} refused {}", operation.name, clause_name(operation, clause)),
        None => operation.name.clone(),
    }
}

/// What happens in a state: operations that are done, and those that are refused.
struct Events<'a> {
    explored: &'a Explored,
    done: Vec<(Option<OperationId>, u32)>,
    refused: Vec<(OperationId, ClauseRef)>,
}

impl Sink for Events<'_> {
    const EVERY_REFUSAL: bool = true;

    fn moved(&mut self, machine: &Machine, step: &Step<'_>) {
        let operation = match step.what {
            Move::Call { instance, .. } | Move::Repair { instance, .. } => {
                Some(machine.instances[instance as usize].operation)
            }
            Move::Land { operation, refused: false, .. } => Some(operation),
            Move::Deliver { plan, how, .. } if !how.has(How::REFUSED.and(How::PASSED)) => {
                Some(machine.target(plan))
            }
            Move::Answer { effect, dropped: false, .. } => Some(effect),
            _ => None,
        };
        if let Some(id) = self.explored.find(step.packed) {
            self.done.push((operation, id));
        }
    }

    fn refused(&mut self, operation: OperationId, reason: Reason) {
        if let Some(clause) = clause_of(reason) {
            self.refused.push((operation, clause));
        }
    }
}

/// After how many transitions the route is first gone to its end.
pub(crate) fn shortest(machine: &Machine, explored: &Explored, route: &Route) -> Option<u32> {
    route.spellings.iter().filter_map(|steps| walk(machine, explored, steps)).min()
}

fn walk(machine: &Machine, explored: &Explored, steps: &[PathStep]) -> Option<u32> {
    // How far along the route the best history to each state has come: further is never worse.
    let mut progress: FxHashMap<u32, usize> = FxHashMap::default();
    let mut level: Vec<(u32, usize)> =
        explored.ids().filter(|id| explored.parent(*id).is_none()).map(|id| (id, 0)).collect();
    let mut worker = machine.worker();
    let mut events = Events { explored, done: Vec::new(), refused: Vec::new() };
    let mut depth = 0;
    if steps.is_empty() {
        return Some(0);
    }
    while !level.is_empty() {
        let mut next = Vec::new();
        let mut reach = |id: u32, at: usize, next: &mut Vec<(u32, usize)>| {
            let held = progress.get(&id).copied();
            if held.is_none_or(|held| held < at) {
                progress.insert(id, at);
                next.push((id, at));
            }
            at == steps.len()
        };
        for (id, at) in level {
            events.done.clear();
            events.refused.clear();
            machine.load(&mut worker, explored.state(id));
            machine.expand(&mut worker, &mut events, false);
            let wanted = &steps[at];
            if let Some(clause) = wanted.refused
                && events.refused.contains(&(wanted.operation, clause))
                && reach(id, at + 1, &mut next)
            {
                return Some(depth + 1);
            }
            for (operation, to) in &events.done {
                let on = wanted.refused.is_none() && *operation == Some(wanted.operation);
                if reach(*to, at + usize::from(on), &mut next) {
                    return Some(depth + 1);
                }
            }
        }
        level = next;
        depth += 1;
    }
    None
}
