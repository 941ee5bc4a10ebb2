//! One exploration: a machine, the goals it is held against, and what is to be seen.

use design::model::{Fault, Goal, OperationId};
use engine::{Reason, Scratch};

use crate::machine::{Gather, Machine, NOW, Sink, Step, View, Worker};
use crate::search::{Place, Space};
use crate::witness::Watch;

/// Which invariants are looked at, and when to stop.
pub(crate) struct Arm<'a> {
    pub(crate) machine: &'a Machine,
    /// numbers of invariants
    pub(crate) states: Vec<u32>,
    /// numbers of invariants that speak of transitions
    pub(crate) transitions: Vec<u32>,
    pub(crate) watch: Option<&'a Watch>,
    /// one of several independent worlds: something may happen in another one
    pub(crate) island: bool,
    /// stop as soon as something is violated
    pub(crate) one_is_enough: bool,
    /// for each goal about states: the bits it looks at, if they are few
    pub(crate) looks: Vec<Option<Gather>>,
}

/// A goal does not hold: in a state, or of the transition that leads from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Violation {
    pub(crate) goal: u32,
    pub(crate) depth: u32,
    turn: u64,
    pub(crate) state: u32,
    pub(crate) next: Option<Vec<u64>>,
}

impl Violation {
    fn order(&self) -> (u32, u64) {
        // A state is seen when it is expanded, a transition one level earlier.
        (self.depth + u32::from(self.next.is_some()), self.turn)
    }
}

/// What one thread found.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) violations: Vec<Violation>,
    /// for each thing to be witnessed, the least depth
    pub(crate) witnessed: Vec<u32>,
    /// slots whose values went beyond their bound
    pub(crate) beyond: Vec<u32>,
    pub(crate) unranked: Option<usize>,
}

/// How many ways to break one goal are looked at, for the one with the fewest faults.
const KEPT_MAX: usize = 16;

pub(crate) const NEVER: u32 = u32::MAX;

impl Findings {
    /// Keeps the first few of the least depth, for each goal.
    fn violated(&mut self, violation: Violation) {
        let goal = violation.goal;
        let depth = violation.order().0;
        let own = |held: &Violation| held.goal == goal;
        if self.violations.iter().any(|held| own(held) && held.order().0 < depth) {
            return;
        }
        self.violations.retain(|held| !own(held) || held.order().0 == depth);
        if self.violations.contains(&violation) {
            return;
        }
        self.violations.push(violation);
        if self.violations.iter().filter(|held| own(held)).count() > KEPT_MAX {
            let last = (0..self.violations.len())
                .filter(|at| own(&self.violations[*at]))
                .max_by_key(|at| (self.violations[*at].order(), self.violations[*at].next.clone()));
            if let Some(last) = last {
                self.violations.remove(last);
            }
        }
    }

    fn witness(&mut self, number: Option<u32>, depth: u32) {
        if let Some(number) = number
            && let Some(held) = self.witnessed.get_mut(number as usize)
        {
            *held = (*held).min(depth);
        }
    }

    pub(crate) fn merge(&mut self, other: Findings) {
        for violation in other.violations {
            self.violated(violation);
        }
        for (number, depth) in other.witnessed.into_iter().enumerate() {
            self.witness(Some(number as u32), depth);
        }
        self.beyond.extend(other.beyond);
        self.beyond.sort_unstable();
        self.beyond.dedup();
        self.unranked = self.unranked.or(other.unranked);
    }
}

pub(crate) struct ArmWorker {
    pub(crate) worker: Worker,
    scratch: Scratch,
    pub(crate) found: Findings,
    /// for each goal about transitions: does it hold of one that changes nothing it sees?
    still: Vec<Option<bool>>,
    /// for each goal about states, for each value of what it looks at: 1 holds, 2 does not
    judged: Vec<Vec<u8>>,
}

struct Listener<'a, 'b> {
    arm: &'a Arm<'b>,
    place: Place,
    found: &'a mut Findings,
    scratch: &'a mut Scratch,
    still: &'a mut [Option<bool>],
    out: &'a mut Vec<u64>,
}

impl Sink for Listener<'_, '_> {
    fn moved(&mut self, machine: &Machine, step: &Step<'_>) {
        self.out.extend_from_slice(step.packed);
        for (at, goal) in self.arm.transitions.iter().enumerate() {
            let still = !step.seen && step.now == NOW;
            let holds = match self.still[at] {
                Some(holds) if still => holds,
                _ => {
                    let new = View { machine, words: step.after, now: step.now };
                    let old = View { machine, words: step.before, now: NOW };
                    let goal = Goal::Invariant(*goal);
                    engine::holds(&machine.program, goal, &new, Some(&old), self.scratch)
                        .unwrap_or(false)
                }
            };
            if still {
                self.still[at] = Some(holds);
            }
            if !holds {
                self.found.violated(Violation {
                    goal: *goal,
                    depth: self.place.depth,
                    turn: self.place.turn,
                    state: self.place.id,
                    next: Some(step.packed.to_vec()),
                });
            }
        }
        if let Some(watch) = self.arm.watch {
            self.found.witness(watch.moved(machine, step.what), self.place.depth + 1);
        }
    }

    fn refused(&mut self, operation: OperationId, reason: Reason) {
        if let Some(watch) = self.arm.watch {
            self.found.witness(watch.refused(operation, reason), self.place.depth + 1);
        }
    }

    fn beyond(&mut self, slot: u32) {
        if !self.found.beyond.contains(&slot) {
            self.found.beyond.push(slot);
        }
    }

    fn unranked(&mut self, sort: usize) {
        self.found.unranked = self.found.unranked.or(Some(sort));
    }

    fn struck(&mut self, fault: Fault) {
        if let Some(watch) = self.arm.watch {
            self.found.witness(watch.fault(fault), self.place.depth + 1);
        }
    }
}

impl Space for Arm<'_> {
    type Worker = ArmWorker;

    fn width(&self) -> usize {
        self.machine.plan.slots.width()
    }

    fn worker(&self) -> ArmWorker {
        let watched = self.watch.map_or(0, |watch| watch.list.len());
        ArmWorker {
            worker: self.machine.worker(),
            scratch: Scratch::new(),
            found: Findings { witnessed: vec![NEVER; watched], ..Findings::default() },
            still: vec![None; self.transitions.len()],
            judged: self
                .looks
                .iter()
                .map(|look| look.as_ref().map_or(Vec::new(), |look| vec![0; 1 << look.bits]))
                .collect(),
        }
    }

    fn initial(&self, worker: &mut ArmWorker, out: &mut Vec<u64>) {
        let words = self.machine.initial();
        match self.machine.pack(&mut worker.worker, &words) {
            Ok(packed) => out.extend_from_slice(&packed),
            Err(beyond) => worker.found.beyond.push(beyond.0),
        }
    }

    fn expand(&self, worker: &mut ArmWorker, state: &[u64], at: Place, out: &mut Vec<u64>) {
        let machine = self.machine;
        let packed = self.transitions.is_empty() && machine.memo.is_some();
        let mut loaded = false;
        for (number, goal) in self.states.iter().enumerate() {
            let look = self.looks[number].as_ref().map(|look| look.number(state));
            let judged = look.map_or(0, |look| worker.judged[number][look]);
            let holds = if judged == 0 {
                if !loaded {
                    machine.load(&mut worker.worker, state);
                    loaded = true;
                }
                let view = View { machine, words: &worker.worker.before, now: NOW };
                let goal = Goal::Invariant(*goal);
                engine::holds(&machine.program, goal, &view, None, &mut worker.scratch) == Ok(true)
            } else {
                judged == 1
            };
            if let Some(look) = look {
                worker.judged[number][look] = if holds { 1 } else { 2 };
            }
            if !holds {
                worker.found.violated(Violation {
                    goal: *goal,
                    depth: at.depth,
                    turn: at.turn,
                    state: at.id,
                    next: None,
                });
            }
        }
        if !packed && !loaded {
            machine.load(&mut worker.worker, state);
        }
        worker.still.fill(None);
        for goal in if self.island { &self.transitions[..] } else { &[] } {
            let view = View { machine, words: &worker.worker.before, now: NOW };
            let goal_id = Goal::Invariant(*goal);
            let holds =
                engine::holds(&machine.program, goal_id, &view, Some(&view), &mut worker.scratch);
            if holds != Ok(true) {
                worker.found.violated(Violation {
                    goal: *goal,
                    depth: at.depth,
                    turn: at.turn,
                    state: at.id,
                    next: None,
                });
            }
        }
        let mut listener = Listener {
            arm: self,
            place: at,
            found: &mut worker.found,
            scratch: &mut worker.scratch,
            still: &mut worker.still,
            out,
        };
        match &machine.memo {
            Some(memo) if packed => {
                machine.expand_packed(memo, &mut worker.worker, state, &mut listener);
            }
            _ => machine.expand(&mut worker.worker, &mut listener, false),
        }
    }

    fn enough(&self, workers: &mut [ArmWorker], _depth: u32) -> bool {
        workers.iter().any(|worker| {
            worker.found.unranked.is_some()
                || (self.one_is_enough && !worker.found.violations.is_empty())
        })
    }
}
