//! The lease of the catalog (`I02`) by hand, with the faults of its `check`: crash, lost reply and
//! duplicate, one call in flight. A state is one word; an action is the state that it leads to, so that
//! nothing is computed twice.

use stateright::{Model, Property};

#[derive(Clone, Copy)]
pub struct Claim {
    /// at most two of each
    pub claimants: usize,
    pub writes: usize,
}

/// Packed: see [`World::pack`].
pub type State = u64;

/// Where the end of the lease lies, as far as it can be told apart.
mod expiry {
    pub const NONE: u8 = 0;
    pub const PAST: u8 = 1;
    // 2: now; 3: less than a unit from now; a tick leads from each of them to the one before
    /// now and the time to live, which is one unit
    pub const TTL: u8 = 4;
}

mod write {
    pub const ABSENT: u8 = 0;
    pub const SENT: u8 = 1;
    pub const APPLIED: u8 = 2;
    pub const REJECTED: u8 = 3;
}

/// An epoch that nobody remembers.
const NOTHING: u8 = 15;

/// Places among the epochs: all of them are ordered together.
const CURRENT: usize = 0;
const GRANTED: usize = 1;
const WRITTEN: usize = 2;
const PRESENTED: usize = 3;
const MEMORY: usize = 5;
const IN_CALL: usize = 7;

#[derive(Clone, Copy)]
enum Step {
    Claim,
    Renew,
    Release,
    Commit(usize),
}

#[derive(Clone, Copy)]
struct Call {
    step: Step,
    me: usize,
}

impl Call {
    fn number(self) -> u8 {
        let step = match self.step {
            Step::Claim => 0,
            Step::Renew => 1,
            Step::Release => 2,
            Step::Commit(write) => 3 + write as u8,
        };
        1 + step * 2 + self.me as u8
    }

    fn of(number: u8) -> Call {
        let step = match (number - 1) / 2 {
            0 => Step::Claim,
            1 => Step::Renew,
            2 => Step::Release,
            write => Step::Commit(usize::from(write) - 3),
        };
        Call { step, me: usize::from(number - 1) % 2 }
    }

    fn reads_memory(self) -> bool {
        !matches!(self.step, Step::Claim)
    }
}

#[derive(Clone, Copy)]
struct World {
    /// 0: nobody
    owner: u8,
    expiry: u8,
    under_way: u8,
    writes: [u8; 2],
    epochs: [u8; 8],
    /// the call in flight, 0: none
    call: u8,
    /// a transition broke a goal
    broken: bool,
}

impl World {
    fn first() -> World {
        let (mut epochs, writes) = ([0; 8], [write::ABSENT; 2]);
        epochs[MEMORY..].fill(NOTHING);
        World {
            owner: 0,
            expiry: expiry::NONE,
            under_way: 0,
            writes,
            epochs,
            call: 0,
            broken: false,
        }
    }

    fn pack(self) -> State {
        let epochs = self.epochs.iter().fold(0, |word, epoch| word << 4 | u64::from(*epoch));
        let rest = [
            (self.owner, 2),
            (self.expiry, 3),
            (self.under_way, 2),
            (self.writes[0], 2),
            (self.writes[1], 2),
            (self.call, 4),
            (u8::from(self.broken), 1),
        ];
        rest.iter().fold(epochs, |word, (value, bits)| word << bits | u64::from(*value))
    }

    fn unpack(state: State) -> World {
        let mut word = state;
        let mut take = |bits: u32| {
            let value = (word & ((1 << bits) - 1)) as u8;
            word >>= bits;
            value
        };
        let broken = take(1) == 1;
        let call = take(4);
        let second = take(2);
        let writes = [take(2), second];
        let (under_way, expiry, owner) = (take(2), take(3), take(2));
        let mut epochs = [0; 8];
        epochs.iter_mut().rev().for_each(|epoch| *epoch = take(4));
        World { owner, expiry, under_way, writes, epochs, call, broken }
    }

    /// Only the order of epochs matters; 0 is always there.
    fn dense(&mut self) {
        let mut seen = 1_u16;
        for epoch in self.epochs {
            seen |= 1 << epoch;
        }
        for epoch in &mut self.epochs {
            if *epoch != NOTHING {
                *epoch = (seen & ((1 << *epoch) - 1)).count_ones() as u8;
            }
        }
    }

    /// Runs a call with this memory; its answer is what its caller then remembers, if it learns anything.
    fn run(&mut self, call: Call, my_epoch: u8) -> Option<Option<u8>> {
        let current = self.epochs[CURRENT];
        if call.reads_memory() && my_epoch != current {
            return None;
        }
        match call.step {
            Step::Claim => {
                if self.owner != 0 && self.expiry != expiry::PAST {
                    return None;
                }
                self.owner = 1 + call.me as u8;
                self.expiry = expiry::TTL;
                self.epochs[CURRENT] = current + 1;
                self.epochs[GRANTED] = current + 1;
                return Some(Some(current + 1));
            }
            Step::Renew => {
                self.expiry = expiry::TTL;
                self.epochs[GRANTED] = my_epoch;
            }
            Step::Commit(write) => {
                if self.writes[write] != write::ABSENT {
                    return None;
                }
                self.writes[write] = write::SENT;
                self.epochs[PRESENTED + write] = my_epoch;
                self.under_way += 1;
            }
            Step::Release => {
                if self.under_way != 0 {
                    return None;
                }
                self.free();
                return Some(Some(NOTHING));
            }
        }
        Some(None)
    }

    fn free(&mut self) {
        self.owner = 0;
        self.expiry = expiry::NONE;
        self.epochs[CURRENT] += 1;
    }

    /// The goals about transitions: epochs advance, also those of what is written, and nobody steals a lease
    /// that lasts.
    fn judged(mut self, before: &World) -> World {
        let current = before.epochs[CURRENT];
        let stolen = before.owner != 0
            && self.owner != 0
            && self.owner != before.owner
            && before.expiry > expiry::PAST;
        let stale = self.epochs[WRITTEN] < before.epochs[WRITTEN];
        self.broken |= self.epochs[CURRENT] < current || stolen || stale;
        self
    }
}

impl Claim {
    fn calls(self) -> impl Iterator<Item = Call> {
        (0..self.claimants).flat_map(move |me| {
            let commits = (0..self.writes).map(Step::Commit);
            let steps = [Step::Claim, Step::Renew, Step::Release].into_iter().chain(commits);
            steps.map(move |step| Call { step, me })
        })
    }
}

impl Model for Claim {
    type State = State;
    /// the state that follows
    type Action = State;

    fn init_states(&self) -> Vec<State> {
        vec![World::first().pack()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<State>) {
        let before = World::unpack(*state);
        let mut add = |next: World| {
            let mut next = next.judged(&before);
            next.dense();
            actions.push(next.pack());
        };
        for call in self.calls() {
            let memory = MEMORY + call.me;
            let my_epoch = before.epochs[memory];
            let mut next = before;
            let Some(learned) = next.run(call, my_epoch) else { continue };
            let mut answered = next;
            answered.epochs[memory] = learned.unwrap_or(my_epoch);
            add(answered);
            if learned.is_some() {
                add(next);
            }
            if before.call == 0 {
                let taken = if call.reads_memory() { my_epoch } else { NOTHING };
                for mut twice in [Some(answered), learned.map(|_| next)].into_iter().flatten() {
                    twice.call = call.number();
                    twice.epochs[IN_CALL] = taken;
                    add(twice);
                }
            }
        }
        if before.call != 0 {
            let dropped = World { call: 0, ..before };
            let mut next = dropped;
            next.epochs[IN_CALL] = NOTHING;
            let gone = next;
            if next.run(Call::of(before.call), before.epochs[IN_CALL]).is_some() {
                add(next);
            }
            add(gone);
        }
        for me in 0..self.claimants {
            if before.epochs[MEMORY + me] != NOTHING {
                let mut next = before;
                next.epochs[MEMORY + me] = NOTHING;
                add(next);
            }
        }
        for at in 0..self.writes {
            if before.writes[at] != write::SENT {
                continue;
            }
            let mut next = before;
            next.under_way -= 1;
            let presented = before.epochs[PRESENTED + at];
            if presented == before.epochs[CURRENT] {
                next.writes[at] = write::APPLIED;
                next.epochs[WRITTEN] = presented;
            } else {
                next.writes[at] = write::REJECTED;
            }
            add(next);
        }
        if before.owner != 0 && before.expiry == expiry::PAST {
            let mut next = before;
            next.free();
            add(next);
        }
        if before.expiry > expiry::PAST {
            add(World { expiry: before.expiry - 1, ..before });
        }
    }

    fn next_state(&self, _: &State, action: State) -> Option<State> {
        Some(action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("transitions", |_, state: &State| state & 1 == 0),
            Property::always("lease_is_the_owners", |_, state: &State| {
                let world = World::unpack(*state);
                world.owner == 0 || world.epochs[GRANTED] == world.epochs[CURRENT]
            }),
        ]
    }
}
