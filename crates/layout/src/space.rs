//! The parts that every key begins with: the number of a design, and the letter of a space.

/// The number of a design in a store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct DesignNumber(pub u16);

impl DesignNumber {
    /// Belongs to no design: under it stands which designs there are.
    pub const NOBODYS: DesignNumber = DesignNumber(u16::MAX);

    /// How all keys and feed entries of the design begin.
    pub fn prefix(self) -> [u8; 2] {
        self.0.to_be_bytes()
    }

    /// Of what begins like this.
    pub fn of_prefix(prefix: [u8; 2]) -> DesignNumber {
        DesignNumber(u16::from_be_bytes(prefix))
    }
}

/// The kinds of keys. The letter is the third byte of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Space {
    Record = b'r',
    LogEntry = b'l',
    Idempotency = b'i',
    /// outbox entries by effect and key
    Outbox = b'o',
    /// the same by the time of their next attempt
    OutboxDue = b'p',
    /// repairs by the time they are due
    RepairDue = b't',
    /// stored outcomes by the time they are forgotten
    IdempotencyDue = b'j',
    /// digests whose content is stored
    Blob = b'b',
    /// what each principal has acted as, of the actors that are apart from others
    Apart = b'a',
    /// how far each follower of the feed is
    Follower = b'f',
    /// what the runtime keeps of the design itself
    Meta = b'm',
    /// entries that were taken out of their queue because they could not be worked on
    Aside = b'x',
}

impl Space {
    pub const ALL: [Space; 12] = [
        Space::Record,
        Space::LogEntry,
        Space::Idempotency,
        Space::Outbox,
        Space::OutboxDue,
        Space::RepairDue,
        Space::IdempotencyDue,
        Space::Blob,
        Space::Apart,
        Space::Follower,
        Space::Meta,
        Space::Aside,
    ];

    pub fn letter(self) -> u8 {
        self as u8
    }

    /// What lies there, in the singular.
    pub fn name(self) -> &'static str {
        match self {
            Space::Record => "record",
            Space::LogEntry => "log entry",
            Space::Idempotency => "kept outcome",
            Space::Outbox => "outbox entry",
            Space::OutboxDue => "due outbox entry",
            Space::RepairDue => "due repair",
            Space::IdempotencyDue => "outcome to forget",
            Space::Blob => "content mark",
            Space::Apart => "actor mark",
            Space::Follower => "follower",
            Space::Meta => "design entry",
            Space::Aside => "entry set aside",
        }
    }

    /// How all keys of this space begin.
    pub fn prefix(self, design: DesignNumber) -> [u8; 3] {
        let [high, low] = design.prefix();
        [high, low, self.letter()]
    }

    /// The space that a key lies in; none: its letter is unknown, or it is too short.
    pub fn of(key: &[u8]) -> Option<Space> {
        let letter = *key.get(2)?;
        Space::ALL.into_iter().find(|space| space.letter() == letter)
    }
}
