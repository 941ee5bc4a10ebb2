//! One exploration: a machine, the goals it is held against, and what is to be seen.

use design::model::{Fault, Goal, OperationId};
use engine::{Reason, Scratch};

use crate::judged::{Judged, Of};
use crate::machine::{Again, Beyond, Machine, Move, NOW, Sink, Step, View, Worker};
use crate::search::{Explored, Out, Place, Space};
use crate::witness::Watch;

/// Which invariants are looked at, and when to stop.
pub(crate) struct Arm<'a> {
    pub(crate) machine: &'a Machine,
    /// numbers of invariants that are looked at in every state
    pub(crate) states: Vec<u32>,
    /// numbers of invariants that speak of transitions
    pub(crate) transitions: Vec<u32>,
    pub(crate) watch: Option<&'a Watch>,
    /// one of several independent worlds: something may happen in another one
    pub(crate) island: bool,
    /// stop as soon as something is violated
    pub(crate) one_is_enough: bool,
    /// after so many steps every client is silent, and no fault strikes
    pub(crate) silent_from: Option<u32>,
    /// What was reached with one more clause, and the units that the clause is of: only they can do more than
    /// they did then, and the goals hold in all of it.
    pub(crate) reached: Option<(&'a Explored, Vec<bool>)>,
}

/// A goal does not hold: in a state, or of the transition that leads from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Violation {
    pub(crate) goal: u32,
    pub(crate) depth: u32,
    turn: u64,
    pub(crate) state: u32,
    pub(crate) next: Next,
    /// the transition is one in another of several independent worlds
    pub(crate) elsewhere: bool,
}

/// Where it does not hold.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Next {
    /// in the state
    Here,
    /// of the transition from it to this one
    To(Vec<u64>),
    /// after, or of, a transition from it that the world has no room for
    Beyond,
}

impl Violation {
    fn order(&self) -> (u32, u64) {
        // A state is seen when it is expanded, a transition one level earlier.
        (self.depth + u32::from(self.next != Next::Here || self.elsewhere), self.turn)
    }
}

/// Does a transition break a goal, of transitions or of the state that follows?
pub(crate) fn breaks(machine: &Machine, goal: u32, step: &Step<'_>, scratch: &mut Scratch) -> bool {
    let new = View::new(machine, step.after, step.now).with(step.extras);
    let old = View::new(machine, step.before, NOW);
    let old = machine.design.invariants[goal as usize].uses_old.then_some(&old);
    let goal = Goal::Invariant(goal);
    match old {
        Some(old) => engine::holds(&machine.program, goal, &new, Some(old), scratch) != Ok(true),
        None => engine::holds(&machine.program, goal, &new, None, scratch) != Ok(true),
    }
}

/// What one thread found.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) violations: Vec<Violation>,
    /// for each thing to be witnessed, the least depth
    pub(crate) witnessed: Vec<u32>,
    /// what the world had no room for
    pub(crate) beyond: Vec<Beyond>,
    /// and what could not even be judged
    pub(crate) unjudged: Vec<Beyond>,
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

    /// What the world has no room for where this search goes on from, too.
    pub(crate) fn also_beyond(&mut self, other: &Findings) {
        let (beyond, unjudged) = (other.beyond.clone(), other.unjudged.clone());
        self.merge(Findings { beyond, unjudged, ..Findings::default() });
    }

    pub(crate) fn merge(&mut self, other: Findings) {
        for violation in other.violations {
            self.violated(violation);
        }
        for (number, depth) in other.witnessed.into_iter().enumerate() {
            self.witness(Some(number as u32), depth);
        }
        for (held, other) in
            [(&mut self.beyond, other.beyond), (&mut self.unjudged, other.unjudged)]
        {
            held.extend(other);
            held.sort_unstable();
            held.dedup();
        }
        self.unranked = self.unranked.or(other.unranked);
    }
}

pub(crate) struct ArmWorker {
    pub(crate) worker: Worker,
    scratch: Scratch,
    pub(crate) found: Findings,
    /// for each goal about transitions: does it hold of one that changes nothing it sees?
    still: Vec<Option<bool>>,
    judged: Judged,
}

struct Listener<'a, 'b> {
    arm: &'a Arm<'b>,
    place: Place,
    state: &'a [u64],
    found: &'a mut Findings,
    scratch: &'a mut Scratch,
    still: &'a mut [Option<bool>],
    judged: &'a mut Judged,
    out: &'a mut Out,
}

impl Listener<'_, '_> {
    fn witness(&mut self, machine: &Machine, what: Move) {
        if let Some(watch) = self.arm.watch {
            let depth = self.place.depth + 1;
            watch.moved(machine, what, &mut |number| self.found.witness(Some(number), depth));
        }
    }

    fn violated(&mut self, goal: u32, next: Next) {
        self.found.violated(Violation {
            goal,
            depth: self.place.depth,
            turn: self.place.turn,
            state: self.place.id,
            next,
            elsewhere: false,
        });
    }
}

impl Sink for Listener<'_, '_> {
    const RECALLS: bool = true;

    /// What happens in it and what is refused was told when it was worked out: not later than now.
    fn again(&mut self, step: &mut Again<'_>) {
        match step.moves() {
            true => self.out.push(step.packed()),
            false => self.out.transitions += 1,
        }
        let Arm { machine, transitions, .. } = self.arm;
        for (at, goal) in transitions.iter().enumerate() {
            let still = !step.seen().has(*goal);
            let of = if still { Of::Still } else { Of::Step(step.serial()) };
            let holds = match self.still[at] {
                Some(holds) if still => holds,
                _ => {
                    let scratch = &mut *self.scratch;
                    self.judged.holds(*goal, of, self.state, || {
                        step.between(&mut |before, after, now| {
                            let new = View::new(machine, after, now);
                            let old = View::new(machine, before, NOW);
                            let goal = Goal::Invariant(*goal);
                            let program = &machine.program;
                            engine::holds(program, goal, &new, Some(&old), scratch) == Ok(true)
                        })
                    })
                }
            };
            if still {
                self.still[at] = Some(holds);
            }
            if !holds {
                self.violated(*goal, Next::To(step.packed().to_vec()));
            }
        }
    }

    fn moved(&mut self, machine: &Machine, step: &Step<'_>) {
        match step.idle {
            // It is known already.
            true => self.out.transitions += 1,
            false => self.out.push(step.packed),
        }
        for (at, goal) in self.arm.transitions.iter().enumerate() {
            let still = !step.seen.has(*goal);
            let holds = match self.still[at] {
                Some(holds) if still => holds,
                _ => !breaks(machine, *goal, step, self.scratch),
            };
            if still {
                self.still[at] = Some(holds);
            }
            if !holds {
                self.violated(*goal, Next::To(step.packed.to_vec()));
            }
        }
        self.witness(machine, step.what);
    }

    fn refused(&mut self, operation: OperationId, reason: Reason) {
        if let Some(watch) = self.arm.watch {
            self.found.witness(watch.refused(operation, reason), self.place.depth + 1);
        }
    }

    /// There is no room for what follows, but what is true of it can be told.
    fn beyond(&mut self, machine: &Machine, step: &Step<'_>, what: Beyond) {
        if !self.found.beyond.contains(&what) {
            self.found.beyond.push(what);
        }
        let arm = self.arm;
        for goal in arm.transitions.iter().chain(&arm.states) {
            if breaks(machine, *goal, step, self.scratch) {
                self.violated(*goal, Next::Beyond);
            }
        }
        self.witness(machine, step.what);
    }

    fn unjudged(&mut self, what: Beyond) {
        if !self.found.unjudged.contains(&what) {
            self.found.unjudged.push(what);
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

impl Arm<'_> {
    fn judged(&self) -> Judged {
        let goals = self.states.iter().chain(&self.transitions);
        Judged::new(
            self.width(),
            goals.map(|goal| (*goal, self.machine.bits_seen(*goal))).collect(),
        )
    }

    /// Notes which of the goals do not hold in the loaded state.
    fn judge(&self, worker: &mut ArmWorker, state: &[u64], at: Place) {
        for goal in &self.states {
            if !self.holds(worker, state, *goal, Of::State) {
                worker.found.violated(Violation {
                    goal: *goal,
                    depth: at.depth,
                    turn: at.turn,
                    state: at.id,
                    next: Next::Here,
                    elsewhere: false,
                });
            }
        }
    }

    /// Does a goal hold in the loaded state; or, if it is one about transitions, of one that changes nothing?
    fn holds(&self, worker: &mut ArmWorker, state: &[u64], goal: u32, of: Of) -> bool {
        let ArmWorker { worker, scratch, judged, .. } = worker;
        judged.holds(goal, of, state, || {
            self.machine.unfold(worker);
            let view = View::new(self.machine, &worker.before, NOW);
            let old = (of == Of::Still).then_some(&view);
            let goal = Goal::Invariant(goal);
            engine::holds(&self.machine.program, goal, &view, old, scratch) == Ok(true)
        })
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
            judged: self.judged(),
        }
    }

    fn reached(&self) -> Option<&Explored> {
        self.reached.as_ref().map(|(reached, _)| *reached)
    }

    fn initial(&self, worker: &mut ArmWorker, out: &mut Vec<u64>) {
        let words = self.machine.initial();
        match self.machine.pack(&mut worker.worker, &words) {
            Ok(packed) => out.extend_from_slice(&packed),
            Err(beyond) => worker.found.beyond.push(beyond),
        }
    }

    fn expand(&self, worker: &mut ArmWorker, state: &[u64], at: Place, out: &mut Out) {
        let machine = self.machine;
        machine.load_folded(&mut worker.worker, state);
        let of = match &self.reached {
            Some((_, units)) if at.depth == 0 => Some(&units[..]),
            _ => None,
        };
        if of.is_some() {
            return self.expand_units(worker, (state, at), of, out);
        }
        self.judge(worker, state, at);
        for goal in if self.island { &self.transitions[..] } else { &[] } {
            if !self.holds(worker, state, *goal, Of::Still) {
                worker.found.violated(Violation {
                    goal: *goal,
                    depth: at.depth,
                    turn: at.turn,
                    state: at.id,
                    next: Next::Here,
                    elsewhere: true,
                });
            }
        }
        self.expand_units(worker, (state, at), None, out);
    }

    fn enough(&self, workers: &mut [ArmWorker], _depth: u32) -> bool {
        workers.iter().any(|worker| {
            worker.found.unranked.is_some()
                || (self.one_is_enough && !worker.found.violations.is_empty())
        })
    }
}

impl Arm<'_> {
    /// `only`: what these units bring.
    fn expand_units(
        &self,
        worker: &mut ArmWorker,
        (state, at): (&[u64], Place),
        only: Option<&[bool]>,
        out: &mut Out,
    ) {
        worker.still.fill(None);
        let mut listener = Listener {
            arm: self,
            place: at,
            state,
            found: &mut worker.found,
            scratch: &mut worker.scratch,
            still: &mut worker.still,
            judged: &mut worker.judged,
            out,
        };
        let silent = self.silent_from.is_some_and(|from| at.depth >= from);
        match only {
            Some(only) => self.machine.expand_only(&mut worker.worker, &mut listener, only),
            None => self.machine.expand(&mut worker.worker, &mut listener, silent),
        }
    }
}
