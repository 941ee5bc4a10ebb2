//! The replicated key of the catalog (`I16`) by hand: two replicas, a control plane that changes who leads, and
//! messages that are lost, doubled, overtaken and held up by a partition. A state is one wide word; an action
//! is the state that it leads to.

use stateright::{Model, Property};

#[derive(Clone, Copy)]
pub struct Replicated {
    pub messages: usize,
    /// of the control plane; one more is beyond this world
    pub term_max: u8,
}

/// Packed: see [`World::pack`].
pub type State = u128;

/// A reader that has seen nothing yet; nobody; no end.
const NOTHING: u8 = 3;

mod expiry {
    pub const NONE: u8 = 0;
    pub const PAST: u8 = 1;
    /// the time to live is 0
    pub const NOW: u8 = 2;
}

/// What a replica holds, and what is shipped of it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Copied {
    version: u8,
    live: bool,
    /// which replica led; `NOTHING`: never written
    written_at: u8,
    expires: u8,
    evicted: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Replica {
    held: Copied,
    term: u8,
    settled: u8,
    diverged: bool,
    leads: bool,
    /// does it know its partner?
    paired: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Message {
    Lead { replica: usize, term: u8 },
    Leading { from: usize, term: u8, paired: bool },
    Replicate { from: usize, term: u8, held: Copied },
    Settle { from: usize, term: u8, version: u8 },
}

#[derive(Clone, Copy)]
struct World {
    /// of the group: `NOTHING` before it is formed
    leader: u8,
    term: u8,
    heard: bool,
    paired: bool,
    replicas: [Replica; 2],
    /// the version that the reader has seen
    required: u8,
    partitioned: bool,
    /// packed, in order; 0: none
    messages: [u32; 2],
}

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

    fn put_copied(&mut self, held: &Copied) {
        self.put(held.version, 2);
        self.put(u8::from(held.live), 1);
        self.put(held.written_at, 2);
        self.put(held.expires, 2);
        self.put(u8::from(held.evicted), 1);
    }

    fn take_copied(&mut self) -> Copied {
        let (evicted, expires, written_at) = (self.take(1) == 1, self.take(2), self.take(2));
        let live = self.take(1) == 1;
        Copied { version: self.take(2), live, written_at, expires, evicted }
    }
}

impl Message {
    fn pack(self) -> u32 {
        let mut bits = Bits(0);
        let (kind, of, term) = match self {
            Message::Lead { replica, term } => (1, replica, term),
            Message::Leading { from, term, paired } => {
                bits.put(u8::from(paired), 1);
                (2, from, term)
            }
            Message::Replicate { from, term, held } => {
                bits.put_copied(&held);
                (3, from, term)
            }
            Message::Settle { from, term, version } => {
                bits.put(version, 2);
                (4, from, term)
            }
        };
        bits.put(of as u8, 1);
        bits.put(term, 2);
        bits.put(kind, 3);
        bits.0 as u32
    }

    fn unpack(word: u32) -> Message {
        let mut bits = Bits(u128::from(word));
        let (kind, term) = (bits.take(3), bits.take(2));
        let from = usize::from(bits.take(1));
        match kind {
            1 => Message::Lead { replica: from, term },
            2 => Message::Leading { from, term, paired: bits.take(1) == 1 },
            3 => Message::Replicate { from, term, held: bits.take_copied() },
            _ => Message::Settle { from, term, version: bits.take(2) },
        }
    }

    /// Does it go from one replica to the other?
    fn crosses(self) -> bool {
        matches!(self, Message::Replicate { .. } | Message::Settle { .. })
    }
}

impl World {
    fn first() -> World {
        let held = Copied {
            version: 0,
            live: false,
            written_at: NOTHING,
            expires: expiry::NONE,
            evicted: false,
        };
        let replica =
            Replica { held, term: 0, settled: 0, diverged: false, leads: false, paired: false };
        World {
            leader: NOTHING,
            term: 1,
            heard: false,
            paired: false,
            replicas: [replica; 2],
            required: NOTHING,
            partitioned: false,
            messages: [0; 2],
        }
    }

    fn pack(&self) -> State {
        let mut bits = Bits(u128::from(self.messages[0]) << 32 | u128::from(self.messages[1]));
        bits.put(self.leader, 2);
        bits.put(self.term, 2);
        for replica in &self.replicas {
            bits.put_copied(&replica.held);
            bits.put(replica.term, 2);
            bits.put(replica.settled, 2);
            for flag in [replica.diverged, replica.leads, replica.paired] {
                bits.put(u8::from(flag), 1);
            }
        }
        bits.put(self.required, 2);
        for flag in [self.heard, self.paired, self.partitioned] {
            bits.put(u8::from(flag), 1);
        }
        bits.0
    }

    fn unpack(state: State) -> World {
        let mut world = World::first();
        let mut bits = Bits(state);
        for flag in [&mut world.partitioned, &mut world.paired, &mut world.heard] {
            *flag = bits.take(1) == 1;
        }
        world.required = bits.take(2);
        for replica in world.replicas.iter_mut().rev() {
            for flag in [&mut replica.paired, &mut replica.leads, &mut replica.diverged] {
                *flag = bits.take(1) == 1;
            }
            replica.settled = bits.take(2);
            replica.term = bits.take(2);
            replica.held = bits.take_copied();
        }
        world.term = bits.take(2);
        world.leader = bits.take(2);
        world.messages = [(bits.0 >> 32) as u32, bits.0 as u32];
        world
    }

    /// Puts a message on its way; one that is there already adds nothing. None: there is no room.
    fn post(mut self, message: Message, room: usize) -> Option<World> {
        let word = message.pack();
        if self.messages.contains(&word) {
            return Some(self);
        }
        let free = self.messages[..room].iter_mut().find(|held| **held == 0)?;
        *free = word;
        self.messages.sort_unstable_by(|a, b| b.cmp(a));
        Some(self)
    }

    fn without(mut self, word: u32) -> World {
        let gone = self.messages.iter_mut().find(|held| **held == word);
        *gone.expect("it is on its way") = 0;
        self.messages.sort_unstable_by(|a, b| b.cmp(a));
        self
    }

    /// What a message does. Outside: it is refused; inside: there is no room for what it sends.
    fn deliver(mut self, message: Message, room: usize) -> Option<Option<World>> {
        let sent = match message {
            Message::Lead { replica, term } => {
                let own = &mut self.replicas[replica];
                if term < own.term {
                    return None;
                }
                if term > own.term {
                    (own.term, own.settled, own.diverged) = (term, own.held.version, true);
                    (own.leads, own.paired) = (true, true);
                }
                Message::Leading { from: replica, term, paired: !own.diverged }
            }
            Message::Leading { term, paired, .. } => {
                if self.term != term {
                    return None;
                }
                self.heard = true;
                self.paired |= paired;
                return Some(Some(self));
            }
            Message::Replicate { from, term, held } => {
                let own = &mut self.replicas[1 - from];
                if own.term > term || own.term == term && held.version < own.held.version {
                    return None;
                }
                let (settled, version) = (held.version, held.version);
                let (diverged, leads, paired) = (false, false, true);
                *own = Replica { held, term, settled, diverged, leads, paired };
                Message::Settle { from: 1 - from, term, version }
            }
            Message::Settle { from, term, version } => {
                let own = &mut self.replicas[1 - from];
                if own.term != term || own.held.version != version {
                    return None;
                }
                (own.settled, own.diverged) = (version, false);
                Message::Leading { from: 1 - from, term, paired: true }
            }
        };
        Some(self.post(sent, room))
    }
}

impl Replica {
    fn is_settled(&self) -> bool {
        self.held.version == self.settled
    }

    /// It writes the next version. A leader that goes on by itself settles it at once.
    fn write(&mut self, own: usize, live: bool, expires: u8, evicted: bool) {
        let (version, written_at) = (self.held.version + 1, own as u8);
        self.held = Copied { version, live, written_at, expires, evicted };
        if self.diverged {
            self.settled = version;
        }
    }
}

impl Replicated {
    fn control(self, before: &World, add: &mut impl FnMut(World)) {
        if before.leader == NOTHING {
            for leader in 0..2 {
                add(World { leader, term: 1, heard: false, paired: false, ..*before });
            }
        }
        if before.paired && before.term < self.term_max {
            let next = World { term: before.term + 1, heard: false, paired: false, ..*before };
            add(World { leader: 1 - before.leader, ..next });
            add(next);
        }
        if before.leader != NOTHING && !before.heard {
            let message = Message::Lead { replica: before.leader.into(), term: before.term };
            before.post(message, self.messages).into_iter().for_each(add);
        }
    }

    fn replica(self, before: &World, at: usize, add: &mut impl FnMut(World)) {
        let own = before.replicas[at];
        let held = own.held;
        let (settled, ended) = (own.is_settled(), held.expires == expiry::PAST);
        let mut wrote = |live, expires, evicted| {
            let mut next = *before;
            next.replicas[at].write(at, live, expires, evicted);
            add(next);
        };
        if own.leads && settled {
            if held.version == 0 {
                wrote(true, expiry::NOW, false);
            }
            if held.live && ended {
                wrote(false, expiry::NONE, held.evicted);
            }
            if held.live && held.expires != expiry::NONE {
                wrote(false, expiry::NONE, true);
            }
        }
        if own.leads && !settled || own.diverged {
            let message = Message::Replicate { from: at, term: own.term, held };
            before.post(message, self.messages).into_iter().for_each(&mut *add);
        }
        let caught_up = before.required == NOTHING || own.settled >= before.required;
        if own.settled > 0 && caught_up && settled && !(held.live && ended) {
            add(World { required: own.settled, ..*before });
        }
    }

    fn message(self, before: &World, word: u32, add: &mut impl FnMut(World)) {
        let gone = before.without(word);
        add(gone);
        let message = Message::unpack(word);
        if before.partitioned && message.crosses() {
            return;
        }
        if let Some(delivered) = gone.deliver(message, self.messages) {
            delivered.into_iter().for_each(&mut *add);
            let doubled = before.deliver(message, self.messages).flatten();
            doubled.into_iter().for_each(add);
        }
    }

    /// What lasted until now has run out: in the copies, and in what is on its way.
    fn tick(before: &World) -> World {
        let mut next = *before;
        let age = |held: &mut Copied| held.expires = held.expires.min(expiry::PAST);
        next.replicas.iter_mut().for_each(|replica| age(&mut replica.held));
        for word in next.messages.iter_mut().filter(|word| **word != 0) {
            if let Message::Replicate { from, term, mut held } = Message::unpack(*word) {
                age(&mut held);
                *word = Message::Replicate { from, term, held }.pack();
            }
        }
        next.messages.sort_unstable_by(|a, b| b.cmp(a));
        next
    }
}

impl Model for Replicated {
    type State = State;
    /// the state that follows
    type Action = State;

    fn init_states(&self) -> Vec<State> {
        vec![World::first().pack()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<State>) {
        let before = World::unpack(*state);
        let mut add = |next: World| {
            let next = next.pack();
            // What changes nothing is not worth looking up.
            if next != *state {
                actions.push(next);
            }
        };
        self.control(&before, &mut add);
        for at in 0..2 {
            self.replica(&before, at, &mut add);
        }
        for word in before.messages.into_iter().filter(|word| *word != 0) {
            self.message(&before, word, &mut add);
        }
        add(World { partitioned: !before.partitioned, ..before });
        add(Replicated::tick(&before));
    }

    fn next_state(&self, _: &State, action: State) -> Option<State> {
        Some(action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("one_history", |_, state: &State| {
                let [a, b] = World::unpack(*state).replicas;
                !a.is_settled()
                    || !b.is_settled()
                    || a.held.version != b.held.version
                    || a.held.written_at == b.held.written_at
            }),
            Property::always("nothing_lost", |_, state: &State| {
                let world = World::unpack(*state);
                let leader = world.replicas.get(usize::from(world.leader));
                leader.is_none_or(|leader| {
                    world.replicas.iter().all(|replica| replica.settled <= leader.held.version)
                })
            }),
        ]
    }
}
