//! The transitions of the small world. Every guard and every effect is the engine's; here is
//! only who calls what when, what gets lost, and how a state is kept.

mod apply;
mod calls;
mod durations;
mod edges;
mod effects;
mod faults;
mod forgetting;
mod forms;
mod glance;
mod instances;
mod lengths;
mod memo;
mod messages;
mod moves;
mod network;
mod older;
mod outside;
mod packing;
mod permutation;
mod ranks;
mod rooms;
mod settings;
mod signature;
mod steps;
mod symmetry;
mod terms;
mod time;
mod together;
mod view;
mod visible;

use design::model::{Design, Fault, OperationId, OperationKind, Protection};
use engine::{Program, Scratch, Word};

pub(crate) use instances::{Instance, InstanceKind};
use lengths::Lengths;
pub(crate) use moves::{Beyond, How, Move};
use outside::{Extra, ExtraSend, OutsideKeys};
use ranks::Ranks;
pub(crate) use settings::is_implied;
use settings::settings;
pub(crate) use symmetry::Symmetry;
pub(crate) use terms::Terms;
use time::Times;
pub(crate) use view::{Extras, View};
use visible::{Goals, Visible};

use crate::clock::{Clock, Scaled};
use crate::slice::LeftOut;
use crate::world::network::carried;
use crate::world::plan::{Network, Plan, Settings, plan};
use crate::world::sorts::{NO_RANKS, SortDomain, Sorts, message_targets};
use crate::world::universe::{BASE, Universe};
use crate::{Options, WorldError};

/// A design's small world, ready to run: with or without some of its protections.
pub(crate) struct Machine {
    pub(crate) design: Design,
    /// how many of the invariants are the design's own; the others ask which children count
    pub(crate) goals: usize,
    pub(crate) program: Program,
    pub(crate) protections: Vec<Protection>,
    pub(crate) universe: Universe,
    pub(crate) settings: Settings,
    pub(crate) plan: Plan,
    pub(crate) instances: Vec<Instance>,
    /// the values of key parts that name a place
    pub(crate) places: Vec<Word>,
    pub(crate) ranks: Ranks,
    pub(crate) symmetry: Option<Symmetry>,
    pub(crate) symmetry_notes: Vec<String>,
    pub(crate) terms: Terms,
    pub(crate) clock: Clock,
    pub(crate) times: Times,
    /// keys that are not of the world
    pub(crate) outside: OutsideKeys,
    /// operations that work with lists which have less room here than the design gives them
    short_lists: Vec<OperationId>,
    /// the slots that hold digests with times in them
    aging: Vec<u32>,
    /// the slots with the start of logs that forget by age, where the design looks at it
    forgetful: Vec<u32>,
    /// for each place, what a crash takes away
    volatile: Vec<Vec<faults::Lost>>,
    /// for each principal, the slots of its memory
    memory_of: Vec<Vec<u32>>,
    /// for each operation: the principals that may make a difference
    callers: Vec<Vec<Word>>,
    /// what invariants see
    visible: Visible,
    /// of a slice: what is not explored
    pub(crate) left: LeftOut,
    /// sorts that are not kept by rank, because messages that are kept as a set carry them
    pub(crate) carried: Vec<usize>,
    /// how much later the next instant of a schedule may be; empty: none is asked for
    pub(crate) gaps: Vec<Word>,
    /// where messages are kept as a set: how each of them is delivered
    arriving: Vec<Vec<network::Delivery>>,
}

/// What one thread works with.
pub(crate) struct Worker {
    /// the state that is expanded
    pub(crate) before: Vec<Word>,
    pub(crate) packed: Vec<u64>,
    /// the same, with the changes of the transition at hand
    after: Vec<Word>,
    /// slots that were changed
    journal: Vec<u32>,
    next: Vec<u64>,
    spare: Vec<u64>,
    normal: Vec<Word>,
    memory: Vec<Word>,
    /// what was asked of the engine last
    operation: OperationId,
    /// what the transition at hand has no room for
    beyond: Option<Beyond>,
    extra: Vec<Extra>,
    /// what it sent for which there is no room
    extra_sends: Vec<ExtraSend>,
    pub(crate) scratch: Scratch,
    /// values, reused
    words: Vec<Word>,
    /// of permuted states, reused
    least: Vec<u64>,
    codes: Vec<u64>,
    signatures: Vec<u64>,
    forms: forms::Forms,
    /// what is kept by rank stands as its rank in `before`, not as it was counted
    ranked: bool,
    /// `packed` is the packed form of `before`
    packs: bool,
    /// what was packed last is kept in another form, with things exchanged
    exchanged: bool,
    memo: memo::Memo,
    /// which of the gaps is taken
    gap: usize,
    /// did the step that was asked for last take it?
    took_gap: bool,
    /// what the step that was asked for last does, if it was known; else that is in `scratch`
    done: Option<u32>,
    room: Room,
}

/// Lists that are needed for a moment, reused.
#[derive(Default)]
pub(crate) struct Room {
    slots: Vec<u32>,
    values: Vec<Word>,
}

/// One transition, as it is handed out.
pub(crate) struct Step<'a> {
    pub(crate) what: Move,
    pub(crate) before: &'a [Word],
    /// counters as computed, before they are ranked again
    pub(crate) after: &'a [Word],
    /// the clock afterwards, on the same scale
    pub(crate) now: Word,
    /// the state that follows, on its own clock, before times and counters are made dense
    next: &'a [Word],
    /// the invariants that see what it changes
    pub(crate) seen: Goals,
    /// does it change nothing at all?
    pub(crate) idle: bool,
    /// of the state that follows; empty if there is no room for it
    pub(crate) packed: &'a [u64],
    /// that is the state with interchangeable things exchanged, and not as it stands
    pub(crate) exchanged: bool,
    /// records that there is no room for
    pub(crate) extras: &'a Extras,
}

impl Step<'_> {
    /// The state that follows, its counters as they were computed.
    pub(crate) fn next(&self, machine: &Machine) -> Vec<Word> {
        let mut words = self.next.to_vec();
        machine.times.settle(machine, &mut words, &mut Vec::new(), &mut Room::default());
        words
    }

    /// The same, with times as they are, however long ago.
    pub(crate) fn next_as_it_is(&self) -> &[Word] {
        self.next
    }
}

/// Who listens to what follows a state.
pub(crate) trait Sink {
    /// Is it told of every step that is refused, or, of those that are refused again by a record that holds the
    /// same, of the first only?
    const EVERY_REFUSAL: bool = false;

    fn moved(&mut self, machine: &Machine, step: &Step<'_>);

    /// A step was refused; `reason` says by what.
    fn refused(&mut self, _operation: OperationId, _reason: engine::Reason) {}

    /// A history ends with this transition, because the small world has no room for what follows.
    fn beyond(&mut self, _machine: &Machine, _step: &Step<'_>, _what: Beyond) {}

    /// A history ends before a transition that could not be computed.
    fn unjudged(&mut self, _what: Beyond) {}

    /// A counter that is kept by rank was advanced while it was not the largest.
    fn unranked(&mut self, _sort: usize) {}

    /// A fault struck that leaves no mark on the state.
    fn struck(&mut self, _fault: Fault) {}
}

impl Machine {
    /// `barred`: sorts that cannot be kept by rank.
    pub(crate) fn new(
        scaled: &Scaled,
        protections: &[Protection],
        options: &Options,
        symmetric: bool,
        barred: &[usize],
        network: Network,
    ) -> Result<Machine, WorldError> {
        let goals = scaled.design.invariants.len();
        let (mut design, short_lists) = rooms::fit(&scaled.design);
        let counters = apply::counter_goals(&design);
        design.invariants.extend(counters);
        let design = &design;
        let program = Program::without(design, protections);
        // Of a slice, values are those of the whole design.
        let mut values = rooms::fit(scaled.whole()).0;
        values.world.keys.clone_from(&design.world.keys);
        let sorts_without = |barred: &[usize]| {
            let ranks = |sort: usize| options.normalise && !barred.contains(&sort);
            Sorts::of(&values, &program, &ranks)
        };
        let mut sorts = sorts_without(barred);
        let mut carried = if network.is_set() { carried(design, &sorts) } else { Vec::new() };
        carried.retain(|sort| matches!(sorts.list[*sort].domain, SortDomain::Ranked { .. }));
        let barred = [barred, &carried].concat();
        if !carried.is_empty() {
            sorts = sorts_without(&barred);
        }
        let targets = message_targets(design);
        for sort in &barred {
            if sorts.list[*sort].domain == SortDomain::Endless {
                sorts.list[*sort].domain = NO_RANKS;
            }
        }
        let clock = scaled.clock.clone();
        let lengths = Lengths::of(design, &sorts);
        let mut settings = settings(design, options, protections, (&clock, &lengths), network);
        if !network.is_set() {
            instances::fix_places(design, &mut sorts);
        }
        let universe = Universe::of(design, sorts)?;
        let places = instances::places(design, &universe);
        let (mut instances, callable) =
            instances::instances(design, &program, &universe, &targets, &scaled.left)?;
        let size = (callable, places.len());
        let mut made = plan(design, &program, &universe, &settings, &scaled.left, size)?;
        settings.behind = together::behind(design, &lengths, &clock, &made);
        if clock.regions || settings.behind > 0 {
            // As many places between two units as there are times.
            settings.fractions = made.times.len() as u64;
            made = plan(design, &program, &universe, &settings, &scaled.left, size)?;
            if made.times.len() >= crate::clock::REGION_UNIT as usize / 2 {
                return Err(WorldError::TooMany { what: "stored times".into() });
            }
        }
        let plan = made;
        let times = Times::of(design, &lengths, &clock, &settings, &plan);
        instances::locate(design, &universe, &plan, &places, &mut instances);
        let ranks = Ranks::of(design, &universe, &plan, &instances);
        let visible = Visible::of(design, &plan);
        let forgetful = forgetting::starts(design, &plan);
        let volatile = faults::volatile(design, &program, &universe, &plan, &scaled.left, &places);
        let memory_of = faults::memory_of(&universe, &plan);
        let callers =
            design.operations.iter().map(|held| instances::callers(design, &universe, held));
        let callers = callers.collect();
        let aging =
            if crate::clock::hashes_times(design) { plan.slots.digests() } else { Vec::new() };
        let mut machine = Machine {
            design: design.clone(),
            goals,
            program,
            protections: protections.to_vec(),
            universe,
            settings,
            plan,
            instances,
            places,
            ranks,
            symmetry: None,
            symmetry_notes: Vec::new(),
            terms: Terms::new(),
            clock,
            times,
            outside: OutsideKeys::default(),
            short_lists,
            aging,
            forgetful,
            volatile,
            memory_of,
            callers,
            visible,
            left: scaled.left.clone(),
            carried,
            gaps: crate::gaps::gaps(design, scaled.clock.per_unit),
            arriving: Vec::new(),
        };
        machine.arriving = machine.all_arriving();
        if symmetric && options.symmetry && !design.world.symmetry_off {
            let (symmetry, notes) = Symmetry::of(&machine);
            machine.symmetry = symmetry;
            machine.symmetry_notes = notes;
        }
        Ok(machine)
    }

    pub(crate) fn worker(&self) -> Worker {
        Worker {
            before: Vec::new(),
            packed: vec![0; self.plan.slots.width()],
            after: Vec::new(),
            journal: Vec::new(),
            next: vec![0; self.plan.slots.width()],
            spare: vec![0; self.plan.slots.width()],
            normal: Vec::new(),
            memory: Vec::new(),
            operation: OperationId(0),
            beyond: None,
            extra: Vec::new(),
            extra_sends: Vec::new(),
            scratch: Scratch::new(),
            words: Vec::new(),
            least: Vec::new(),
            codes: Vec::new(),
            signatures: Vec::new(),
            forms: forms::Forms::new(self.plan.slots.width()),
            ranked: false,
            packs: false,
            exchanged: false,
            memo: memo::Memo::of(self),
            gap: 0,
            took_gap: false,
            done: None,
            room: Room::default(),
        }
    }

    /// The first state: implicit records with their defaults, nobody remembers anything.
    pub(crate) fn initial(&self) -> Vec<Word> {
        let slots = &self.plan.slots;
        let mut words: Vec<Word> = (0..slots.list.len() as u32).map(|at| slots.blank(at)).collect();
        for (index, record) in self.plan.records.iter().enumerate() {
            let subject = design::model::SubjectId::of(index);
            if self.left.subject(subject) {
                continue;
            }
            for key in 0..self.universe.keys[index].len {
                if let Some(present) = record.present(key) {
                    words[present as usize] = 0;
                } else {
                    words[record.words(key)].copy_from_slice(self.program.defaults(subject));
                }
            }
        }
        self.start_counters(&mut words);
        if let Some(older) = self.plan.older {
            words.copy_within(..self.plan.truth as usize, older as usize);
        }
        for (fault, slot) in &self.plan.budgets {
            let budget = self.settings.faults.iter().find(|(held, _)| held == fault);
            words[*slot as usize] = budget.and_then(|(_, budget)| *budget).map_or(0, Word::from);
        }
        words
    }

    /// Hands every transition from the loaded state to `sink`. `recovery`: only those that happen
    /// with every client silent and no fault.
    pub(crate) fn expand<S: Sink>(&self, worker: &mut Worker, sink: &mut S, recovery: bool) {
        let earlier = !recovery;
        let Worker { memo, before, .. } = worker;
        memo.bar(self, before);
        let recovery = recovery || self.is_silent(&worker.before);
        if !recovery {
            self.steps(worker, sink);
            self.faults(worker, sink);
            self.silence(worker, sink);
        }
        self.repairs(worker, sink, recovery);
        self.forgettings(worker, sink);
        self.others(worker, sink, recovery, earlier);
        // What asks the engine once more, for each other instant that may come next.
        for gap in 1..self.gaps.len() {
            (worker.gap, worker.took_gap) = (gap, false);
            if !recovery {
                self.steps(worker, sink);
            }
            self.repairs(worker, sink, recovery);
            self.others(worker, sink, recovery, earlier);
        }
        (worker.gap, worker.took_gap) = (0, false);
        self.tick(worker, sink);
    }

    /// What the world outside, calls in flight and messages do.
    fn others<S: Sink>(&self, worker: &mut Worker, sink: &mut S, recovery: bool, earlier: bool) {
        self.outside(worker, sink, recovery);
        self.landings(worker, sink, recovery);
        match self.is_set() {
            true => self.arrivals(worker, sink, !earlier),
            false => self.deliveries(worker, sink, recovery),
        }
    }

    /// Hands out the transition that stands in `worker.after`, and takes it back.
    fn emit<S: Sink>(&self, worker: &mut Worker, sink: &mut S, what: Move, now: Word) {
        if worker.gap > 0 && !worker.took_gap {
            // It was handed out with the first gap, which makes no difference to it.
            return self.undo(worker);
        }
        self.hand_out(worker, sink, what, now);
        if self.keep_older(worker, what) {
            self.hand_out(worker, sink, what, now);
        }
        self.undo(worker);
    }

    fn hand_out<S: Sink>(&self, worker: &mut Worker, sink: &mut S, what: Move, now: Word) {
        let seen = match worker.extra.is_empty() {
            true => self.visible.seen(&worker.journal, now != NOW),
            false => Goals::ALL,
        };
        // The state that was loaded is as it is kept.
        let idle = worker.journal.is_empty() && worker.ranked && worker.beyond.is_none();
        let ranked = !self.ranks.is_empty();
        if ranked
            && let Some(sort) =
                self.ranks.broken(self, &worker.before, &worker.after, &worker.journal)
        {
            sink.unranked(sort);
        }
        let known = worker.journal.len();
        let beyond = match idle {
            true => None,
            false if !worker.packs => worker.beyond,
            false => worker.beyond.or_else(|| self.pack_next(worker).err()),
        };
        // After a tick nothing has changed but the clock.
        let after = if now == NOW { &worker.after } else { &worker.before };
        let extras = match beyond {
            Some(_) => Extras::of(self, &worker.extra, &worker.extra_sends),
            None => Extras::default(),
        };
        let step = Step {
            what,
            before: &worker.before,
            after,
            now,
            next: &worker.after,
            seen,
            idle,
            packed: match beyond {
                Some(_) => &[],
                None if !worker.packs => &[],
                None if idle => &worker.packed,
                None => &worker.next,
            },
            exchanged: beyond.is_none() && !idle && worker.exchanged,
            extras: &extras,
        };
        match beyond {
            Some(beyond) => sink.beyond(self, &step, beyond),
            None => sink.moved(self, &step),
        }
        worker.journal.truncate(known);
    }

    fn undo(&self, worker: &mut Worker) {
        for slot in worker.journal.drain(..) {
            worker.after[slot as usize] = worker.before[slot as usize];
        }
        worker.beyond = None;
        worker.extra.clear();
        worker.extra_sends.clear();
    }

    #[inline]
    fn set(&self, worker: &mut Worker, slot: u32, word: Word) {
        let held = &mut worker.after[slot as usize];
        if *held != word {
            *held = word;
            worker.journal.push(slot);
        }
    }

    /// May this fault strike (once more)?
    pub(crate) fn may(&self, worker: &Worker, fault: Fault) -> bool {
        self.settings.on(fault)
            && self
                .plan
                .budgets
                .iter()
                .all(|(held, slot)| *held != fault || worker.before[*slot as usize] > 0)
    }

    fn charge(&self, worker: &mut Worker, fault: Fault) {
        if let Some((_, slot)) = self.plan.budgets.iter().find(|(held, _)| *held == fault) {
            let left = worker.after[*slot as usize];
            self.set(worker, *slot, left - 1);
        }
    }

    pub(crate) fn has_time(&self) -> bool {
        !self.plan.times.is_empty()
    }
}

/// The operations of one kind, with their numbers.
pub(crate) fn effects_of(design: &Design) -> impl Iterator<Item = OperationId> + '_ {
    design
        .operations
        .iter()
        .enumerate()
        .filter(|(_, operation)| matches!(operation.kind, OperationKind::Effect(_)))
        .map(|(index, _)| OperationId::of(index))
}

/// What a `now` is in every state.
pub(crate) const NOW: Word = BASE;
