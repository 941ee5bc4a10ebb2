//! The append log of `append_log.design`, which was `I05` of the catalog, by hand: a consumer's progress, an outbox
//! towards a sink that decides each record once, and replies that get lost. A state is one wide word; an action is the
//! state that it leads to.

use stateright::{Model, Property};

#[derive(Clone, Copy)]
pub struct AppendLog {
    /// at most two of each; offsets of each partition
    pub partitions: usize,
    pub offsets: usize,
}

/// Packed: see [`World::pack`].
pub type State = u128;

/// A term or a generation that nobody remembers.
const NOTHING: u8 = 7;
/// An entity that has no partition yet.
const UNROUTED: u8 = 3;

/// Three numbers of which only the order matters: the newest, where it was used last, and what is remembered.
type Order = [u8; 3];

#[derive(Clone, Copy)]
struct Partition {
    /// its leader's term, the term of the end of the log, the term that the producer knows
    terms: Order,
    /// of the group, of the last commit, of the consumer
    generations: Order,
    /// how many records were appended: the high watermark is one less
    appended: u8,
    first_kept: u8,
    next_offset: u8,
}

mod durable {
    pub const ABSENT: u8 = 0;
    pub const NO: u8 = 1;
    pub const UNKNOWN: u8 = 2;
    pub const YES: u8 = 3;
}

mod sink {
    pub const UNSEEN: u8 = 0;
    pub const ASKED: u8 = 1;
    pub const REFUSED: u8 = 2;
    pub const DONE: u8 = 3;
}

#[derive(Clone, Copy)]
struct Record {
    durable: u8,
    fetched: bool,
    sequence: u8,
    /// is its entry of the outbox open?
    open: bool,
    sink: u8,
}

#[derive(Clone, Copy)]
struct World {
    partitions: [Partition; 2],
    /// of each partition
    records: [[Record; 2]; 2],
    routed: u8,
    appended: u8,
    applied: u8,
    /// a transition broke a goal
    broken: bool,
}

/// Only the order matters; 0 is always there.
fn dense(order: &mut Order) {
    let seen = order.iter().fold(1_u8, |seen, value| seen | 1 << value);
    for value in order.iter_mut().filter(|value| **value != NOTHING) {
        *value = (seen & ((1 << *value) - 1)).count_ones() as u8;
    }
}

/// Bits, from the lowest on.
struct Bits(u128);

impl Bits {
    fn put(&mut self, value: u8, bits: u32) {
        self.0 = self.0 << bits | u128::from(value);
    }

    fn take(&mut self, bits: u32) -> u8 {
        let value = (self.0 & ((1 << bits) - 1)) as u8;
        self.0 >>= bits;
        value
    }
}

impl World {
    fn first() -> World {
        let order = [0, 0, NOTHING];
        let partition = Partition {
            terms: order,
            generations: order,
            appended: 0,
            first_kept: 0,
            next_offset: 0,
        };
        let record = Record {
            durable: durable::ABSENT,
            fetched: false,
            sequence: 0,
            open: false,
            sink: sink::UNSEEN,
        };
        World {
            partitions: [partition; 2],
            records: [[record; 2]; 2],
            routed: UNROUTED,
            appended: 0,
            applied: 0,
            broken: false,
        }
    }

    fn pack(&self) -> State {
        let mut bits = Bits(0);
        for held in &self.partitions {
            held.terms.iter().chain(&held.generations).for_each(|value| bits.put(*value, 3));
            for value in [held.appended, held.first_kept, held.next_offset] {
                bits.put(value, 2);
            }
        }
        for record in self.records.as_flattened() {
            bits.put(record.durable, 2);
            bits.put(u8::from(record.fetched), 1);
            bits.put(record.sequence, 3);
            bits.put(u8::from(record.open), 1);
            bits.put(record.sink, 2);
        }
        bits.put(self.routed, 2);
        bits.put(self.appended, 3);
        bits.put(self.applied, 3);
        bits.put(u8::from(self.broken), 1);
        bits.0
    }

    fn unpack(state: State) -> World {
        let mut world = World::first();
        let mut bits = Bits(state);
        world.broken = bits.take(1) == 1;
        world.applied = bits.take(3);
        world.appended = bits.take(3);
        world.routed = bits.take(2);
        for record in world.records.as_flattened_mut().iter_mut().rev() {
            record.sink = bits.take(2);
            record.open = bits.take(1) == 1;
            record.sequence = bits.take(3);
            record.fetched = bits.take(1) == 1;
            record.durable = bits.take(2);
        }
        for held in world.partitions.iter_mut().rev() {
            held.next_offset = bits.take(2);
            held.first_kept = bits.take(2);
            held.appended = bits.take(2);
            held.generations.iter_mut().rev().for_each(|value| *value = bits.take(3));
            held.terms.iter_mut().rev().for_each(|value| *value = bits.take(3));
        }
        world
    }

    /// The sequence numbers of all records and of the entity are ordered together.
    fn dense_sequences(&mut self) {
        let World { records, appended, applied, .. } = self;
        let own = records.as_flattened_mut().iter_mut().map(|record| &mut record.sequence);
        let mut all: Vec<&mut u8> = own.chain([appended, applied]).collect();
        let seen = all.iter().fold(1_u8, |seen, value| seen | 1 << **value);
        for value in &mut all {
            **value = (seen & ((1 << **value) - 1)).count_ones() as u8;
        }
    }

    /// The goals about transitions: what is applied advances, and only the current generation commits.
    fn judged(mut self, before: &World) -> World {
        let fenced = |(held, before): (&Partition, &Partition)| {
            held.next_offset == before.next_offset || held.generations[1] == held.generations[0]
        };
        let all = self.partitions.iter().zip(&before.partitions).all(fenced);
        self.broken |= self.applied < before.applied || !all;
        self
    }
}

impl AppendLog {
    fn partition_steps(self, before: &World, at: usize, add: &mut impl FnMut(World)) {
        let held = before.partitions[at];
        let changed = |change: &dyn Fn(&mut Partition)| {
            let mut next = *before;
            change(&mut next.partitions[at]);
            next
        };
        // elect
        add(changed(&|held| {
            held.terms[0] += 1;
            held.terms[1] = held.terms[0];
            dense(&mut held.terms);
        }));
        // metadata
        if held.terms[2] != held.terms[0] {
            add(changed(&|held| {
                held.terms[2] = held.terms[0];
                dense(&mut held.terms);
            }));
        }
        // join, and join whose reply is lost
        for heard in [true, false] {
            add(changed(&|held| {
                held.generations[0] += 1;
                if heard {
                    held.generations[2] = held.generations[0];
                }
                dense(&mut held.generations);
            }));
        }
        // append
        if held.terms[2] == held.terms[0]
            && usize::from(held.appended) < self.offsets
            && (before.routed == UNROUTED || before.routed == at as u8)
        {
            let mut next = changed(&|held| {
                held.appended += 1;
                held.terms[1] = held.terms[2];
                dense(&mut held.terms);
            });
            next.routed = at as u8;
            next.appended += 1;
            let record = &mut next.records[at][usize::from(held.appended)];
            record.durable = durable::NO;
            record.sequence = next.appended;
            next.dense_sequences();
            add(next);
        }
        // retain
        if held.first_kept < held.appended && held.first_kept < held.next_offset {
            add(changed(&|held| held.first_kept += 1));
        }
    }

    fn record_steps(self, before: &World, at: usize, offset: usize, add: &mut impl FnMut(World)) {
        let (held, record) = (before.partitions[at], before.records[at][offset]);
        let next_offset = usize::from(held.next_offset);
        let fenced = held.generations[2] == held.generations[0];
        let changed = |change: &dyn Fn(&mut Record)| {
            let mut next = *before;
            change(&mut next.records[at][offset]);
            next
        };
        // fetch
        if fenced && offset == next_offset && held.next_offset < held.appended && !record.fetched {
            add(changed(&|record| record.fetched = true));
        }
        let unsure = record.durable == durable::UNKNOWN;
        let waiting = record.durable == durable::NO && record.fetched;
        // process
        if waiting && offset == next_offset {
            add(changed(&|record| {
                record.durable = durable::UNKNOWN;
                record.open = true;
            }));
        }
        // replay
        if waiting || unsure && !record.open {
            add(changed(&|record| {
                record.durable = durable::UNKNOWN;
                record.open = true;
            }));
        }
        // commit_progress
        if fenced && next_offset <= offset && record.durable == durable::YES {
            let mut next = *before;
            let held = &mut next.partitions[at];
            held.next_offset = offset as u8 + 1;
            held.generations[1] = held.generations[2];
            let mut next = next.judged(before);
            dense(&mut next.partitions[at].generations);
            add(next);
        }
        // the call reaches the sink, which decides, and its answer comes back
        if record.open && record.sink == sink::UNSEEN {
            add(changed(&|record| record.sink = sink::ASKED));
        }
        if record.sink == sink::ASKED {
            add(changed(&|record| record.sink = sink::DONE));
            add(changed(&|record| record.sink = sink::REFUSED));
        }
        if record.open && record.sink >= sink::REFUSED {
            let mut next = changed(&|record| {
                record.durable = durable::YES;
                record.open = false;
            });
            if record.sink == sink::DONE {
                next.applied = record.sequence;
                next = next.judged(before);
                next.dense_sequences();
            }
            add(next);
        }
        // nobody knows
        if record.open {
            add(changed(&|record| record.open = false));
        }
    }
}

impl Model for AppendLog {
    type State = State;
    /// the state that follows
    type Action = State;

    fn init_states(&self) -> Vec<State> {
        vec![World::first().pack()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<State>) {
        let before = World::unpack(*state);
        let mut add = |next: World| actions.push(next.pack());
        for at in 0..self.partitions {
            self.partition_steps(&before, at, &mut add);
            for offset in 0..self.offsets {
                if before.records[at][offset].durable != durable::ABSENT {
                    self.record_steps(&before, at, offset, &mut add);
                }
            }
        }
    }

    fn next_state(&self, _: &State, action: State) -> Option<State> {
        Some(action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("transitions", |_, state: &State| state & 1 == 0),
            Property::always("effect_before_offset", |_, state: &State| {
                let World { partitions, records, .. } = World::unpack(*state);
                partitions.iter().zip(&records).all(|(held, records)| {
                    let committed = records.iter().take(usize::from(held.next_offset));
                    committed.into_iter().all(|record| record.durable == durable::YES)
                })
            }),
            Property::always("led and kept until consumed", |_, state: &State| {
                let World { partitions, .. } = World::unpack(*state);
                partitions.iter().all(|held| {
                    held.terms[1] == held.terms[0] && held.first_kept <= held.next_offset
                })
            }),
        ]
    }
}
