//! A history that was found in a slice, gone in the whole design.
//!
//! A slice leaves out what its goal does not read, so its history says nothing of the rest: which value an
//! argument has that made no difference, how often the clock ticks for times that were left out, what must
//! have happened elsewhere. A small search in the whole design fills this in. What it finds is a history
//! of the whole design, and the goal breaks at its end; if it finds none, nothing was shown.

use std::collections::VecDeque;

use design::model::Goal;
use engine::{Scratch, Word};
use rustc_hash::FxHashSet;

use crate::arm::breaks;
use crate::leads;
use crate::machine::{Beyond, Machine, Move, NOW, Sink, Step, View};
use crate::script::{Scripted, Told, script};
use crate::slice::{LeftOut, Part};
use crate::trace_builder::{Replay, Wanted};
use crate::world::plan::SlotName;
use crate::{StepKind, Trace, TraceStep};

/// So many states of the whole design are looked at.
const STATES_MAX: usize = 20_000;

/// What a history must come to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End<'a> {
    /// this goal, an invariant, breaks
    Breaks(u32),
    /// every step is gone, ticks too, and this goal, a `recovers`, does not hold
    Stuck(u32),
    /// every step is gone, ticks too; after `began` of them these records and principals begin to wait for
    /// this goal, a `leads_to`, and wait from then on
    Waits { goal: u32, of: &'a [Word], began: usize },
}

impl End<'_> {
    /// Is this step of a slice's history to be gone in the whole design? How often the clock ticks before
    /// an invariant breaks hangs on what else is told apart.
    pub(crate) fn counts(self, step: &TraceStep) -> bool {
        !matches!(self, End::Breaks(_)) || step.kind != StepKind::Tick
    }

    /// May the history be in this state, with so many of its steps gone? `on`: the last of them just now.
    fn allows(self, machine: &Machine, words: &[Word], at: usize, on: bool) -> bool {
        let End::Waits { goal, of, began } = self else { return true };
        let mut scratch = Scratch::new();
        if on && at == began {
            return leads::begins(machine, goal, of, words, &mut scratch);
        }
        let view = View::new(machine, words, NOW);
        at < began || !leads::is_served(machine, goal, of, &view, &mut scratch)
    }
}

struct Node {
    words: Vec<Word>,
    packed: Vec<u64>,
    /// how many steps of the script are gone
    at: usize,
    /// from which node, and by what
    from: Option<(usize, Move)>,
}

/// The same history in the whole design, if there is one.
pub(crate) fn follow(
    machine: &Machine,
    slice: &Machine,
    trace: &Trace,
    end: End<'_>,
) -> Option<Trace> {
    let script = script(slice, trace, end);
    // First with the steps of the history alone, then with others between them.
    [false, true].into_iter().find_map(|others| {
        let path = search(machine, &slice.left, &script, end, others)?;
        retell(machine, trace, &path, end)
    })
}

/// A way through the whole design.
pub(crate) struct Path {
    /// what happens, and the packed state after it
    pub(crate) steps: Vec<(Move, Vec<u64>)>,
    /// one more, for which the world has no room
    pub(crate) beyond: Option<Move>,
}

/// A way through the whole design that has these steps. `others`: other steps may come between them, if they
/// change nothing that was explored.
pub(crate) fn search(
    machine: &Machine,
    left: &LeftOut,
    script: &[Scripted<'_>],
    end: End<'_>,
    others: bool,
) -> Option<Path> {
    let mut worker = machine.worker();
    let words = machine.initial();
    let packed = machine.pack(&mut worker, &words).ok()?;
    if let End::Breaks(goal) = end
        && script.is_empty()
        && breaks_at_first(machine, goal, &words)
    {
        return Some(Path { steps: Vec::new(), beyond: None });
    }
    if !end.allows(machine, &words, 0, true) {
        return None;
    }
    let explored = inside(machine, left);
    let mut known: FxHashSet<(Vec<u64>, usize)> = FxHashSet::default();
    let mut nodes = vec![Node { words, packed, at: 0, from: None }];
    let mut queue = VecDeque::from([0]);
    while let Some(number) = queue.pop_front() {
        let mut losing = None;
        while let Some(Scripted::Lost(kept)) = script.get(nodes[number].at) {
            losing = machine.first_but(kept, &nodes[number].words);
            if losing.is_some() {
                break;
            }
            nodes[number].at += 1;
        }
        let node = &nodes[number];
        let ends = match end {
            End::Breaks(_) => false,
            End::Stuck(goal) => fails(machine, Goal::Recovery(goal), &node.words),
            End::Waits { .. } => true,
        };
        if node.at == script.len() && ends {
            return Some(Path { steps: way(&nodes, number), beyond: None });
        }
        if machine.load_words(&mut worker, &node.words).is_err() {
            continue;
        }
        let mut guide = Guide {
            machine,
            explored: &explored,
            script: script.get(node.at),
            losing,
            end,
            others,
            scratch: Scratch::new(),
            next: Vec::new(),
            broken: None,
        };
        machine.expand(&mut worker, &mut guide, false);
        let (next, broken) = (guide.next, guide.broken);
        if let Some((what, last)) = broken {
            let mut steps = way(&nodes, number);
            let beyond = last.is_none().then_some(what);
            steps.extend(last.map(|packed| (what, packed)));
            return Some(Path { steps, beyond });
        }
        let at = nodes[number].at;
        for (what, words, packed, on) in next {
            let at = at + usize::from(on);
            if !end.allows(machine, &words, at, on) {
                continue;
            }
            if known.len() < STATES_MAX && known.insert((packed.clone(), at)) {
                nodes.push(Node { words, packed, at, from: Some((number, what)) });
                queue.push_back(nodes.len() - 1);
            }
        }
    }
    None
}

fn breaks_at_first(machine: &Machine, goal: u32, words: &[Word]) -> bool {
    let held = &machine.design.invariants[goal as usize];
    !held.uses_old && fails(machine, Goal::Invariant(goal), words)
}

fn fails(machine: &Machine, goal: Goal, words: &[Word]) -> bool {
    let view = View::new(machine, words, NOW);
    engine::holds(&machine.program, goal, &view, None, &mut Scratch::new()) != Ok(true)
}

/// What happens on the way to this node.
fn way(nodes: &[Node], last: usize) -> Vec<(Move, Vec<u64>)> {
    let mut steps = Vec::new();
    let mut at = last;
    while let Some((from, what)) = nodes[at].from {
        steps.push((what, nodes[at].packed.clone()));
        at = from;
    }
    steps.reverse();
    steps
}

/// For each slot of the whole design: is it explored in the slice?
fn inside(machine: &Machine, left: &LeftOut) -> Vec<bool> {
    let of_slot = |name: &SlotName| match name {
        SlotName::Present { subject, .. } => left.has(Part::Present(*subject)),
        SlotName::Attr { subject, attr, .. } | SlotName::CacheAttr { subject, attr, .. } => {
            left.has(Part::Attr(*subject, *attr))
        }
        SlotName::Log { subject, log, .. } => left.has(Part::Log(*subject, *log)),
        SlotName::Memory { actor, field, .. } => left.has(Part::Memory(*actor, *field)),
        SlotName::Entry { effect, .. } | SlotName::World { effect, .. } => {
            left.has(Part::Effect(*effect))
        }
        SlotName::Message { operation, .. } | SlotName::Sent { operation, .. } => {
            left.has(Part::Messages(*operation))
        }
        SlotName::CachePresent { subject, state, .. } => left.has(Part::Cache(*subject, *state)),
        _ => false,
    };
    machine.plan.names.iter().map(of_slot).collect()
}

/// Chooses among what can happen in a state.
struct Guide<'a> {
    machine: &'a Machine,
    explored: &'a [bool],
    script: Option<&'a Scripted<'a>>,
    /// the message that gets lost now
    losing: Option<String>,
    end: End<'a>,
    others: bool,
    scratch: Scratch,
    /// what happens, the state after it, and whether it was the step of the script
    next: Vec<(Move, Vec<Word>, Vec<u64>, bool)>,
    /// the goal breaks: by what, and where that leads, if there is room for it
    broken: Option<(Move, Option<Vec<u64>>)>,
}

impl Guide<'_> {
    /// Is this the step of the script? None: it may not happen here at all.
    fn wanted(&self, step: &Step<'_>) -> Option<bool> {
        match self.script {
            Some(Scripted::Step(told)) if self.is(told, step) => return Some(true),
            Some(Scripted::Lost(_)) => {
                let lost = self.machine.lost(step.what, step.before);
                return (lost.is_some() && lost == self.losing).then_some(false);
            }
            _ => {}
        }
        // The whole design may tell more times apart.
        if step.what == Move::Tick {
            return Some(false);
        }
        let changes = step.next_as_it_is().iter().zip(step.before).zip(self.explored);
        let elsewhere =
            || changes.into_iter().all(|((after, before), inside)| !inside || after == before);
        (self.others && elsewhere()).then_some(false)
    }

    fn is(&self, script: &Told<'_>, step: &Step<'_>) -> bool {
        let wanted = script.step;
        let told = self.machine.told(step.what, step.before);
        told.kind == wanted.kind
            && told.operation == wanted.operation
            && told.name == wanted.name
            && told.fault == script.fault
            && (!script.personal || told.principal == wanted.principal)
            && script.params.iter().all(|param| told.params.contains(param))
    }

    fn breaks(&mut self, step: &Step<'_>) -> bool {
        match self.end {
            End::Breaks(goal) => breaks(self.machine, goal, step, &mut self.scratch),
            End::Stuck(_) | End::Waits { .. } => false,
        }
    }
}

impl Sink for Guide<'_> {
    fn moved(&mut self, machine: &Machine, step: &Step<'_>) {
        if self.broken.is_some() {
            return;
        }
        let Some(on) = self.wanted(step) else { return };
        if self.breaks(step) {
            self.broken = Some((step.what, Some(step.packed.to_vec())));
            return;
        }
        self.next.push((step.what, step.next(machine), step.packed.to_vec(), on));
    }

    fn beyond(&mut self, _machine: &Machine, step: &Step<'_>, _what: Beyond) {
        if self.broken.is_none() && self.wanted(step).is_some() && self.breaks(step) {
            self.broken = Some((step.what, None));
        }
    }
}

/// Tells the way that was found.
fn retell(machine: &Machine, told: &Trace, path: &Path, end: End<'_>) -> Option<Trace> {
    let mut replay = Replay::new(machine);
    let initial = machine.lines(&machine.initial());
    let mut trace = Trace { initial, ending: told.ending.clone(), ..Trace::default() };
    let last = path.steps.len();
    for (at, (_, state)) in path.steps.iter().enumerate() {
        let goal = match end {
            End::Breaks(goal) if at + 1 == last && path.beyond.is_none() => Some(goal),
            _ => None,
        };
        trace.steps.push(replay.step(Wanted::To(state, goal), false)?);
    }
    if let (true, End::Breaks(goal)) = (path.beyond.is_some(), end) {
        trace.steps.push(replay.step(Wanted::Beyond(goal), false)?);
    }
    trace.cycle_start = told.cycle_start.map(|start| {
        let cycle = told.steps.len() - start;
        trace.steps.len().saturating_sub(cycle)
    });
    Some(trace)
}
