//! What is said of stored bytes that cannot be read.

use std::fmt;

use crate::space::Space;

/// What is wrong with some bytes. Small, because every reader of a byte may return it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wrong {
    EndsEarly,
    /// bytes are left over
    GoesOn,
    NumberTooLarge,
    /// a text in a key is not escaped and ended as texts in keys are
    TextInKey,
    NotUtf8,
    NotJson,
    /// written in a form that this program does not know
    UnknownForm,
    /// a byte that chooses between variants chooses none of them
    UnknownChoice,
    /// more elements than the type of the collection takes
    TooManyElements,
    /// the key has more parts than keys may have
    TooManyParts,
    /// the key is longer than what refers to it can say
    KeyTooLong,
    UnknownSpace,
    /// the key lies in another space than was expected
    OtherSpace,
    UnknownSubject,
    UnknownOperation,
    UnknownState,
    UnknownEvent,
    UnknownDesign,
    /// the operation is of another kind than its entry says
    OtherKind,
    /// no trace context
    Trace,
    /// another value refers to it, and it is not there
    Missing,
    /// it was written before what it follows
    TimeGoesBack,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wrong::EndsEarly => "it ends too early",
            Wrong::GoesOn => "bytes follow its end",
            Wrong::NumberTooLarge => "a number in it is too large",
            Wrong::TextInKey => "a text in it does not end as texts in keys do",
            Wrong::NotUtf8 => "a text in it is not UTF-8",
            Wrong::NotJson => "a part of it is not JSON",
            Wrong::UnknownForm => "it is written in a form that this program does not know",
            Wrong::UnknownChoice => "a byte in it chooses a variant that there is not",
            Wrong::TooManyElements => "a collection in it has more elements than its type takes",
            Wrong::TooManyParts => "its key has more parts than keys may have",
            Wrong::KeyTooLong => "its key is too long",
            Wrong::UnknownSpace => "its space is unknown",
            Wrong::OtherSpace => "it lies in another space",
            Wrong::UnknownSubject => "the design has no subject of its number",
            Wrong::UnknownOperation => "the design has no operation of its number",
            Wrong::UnknownState => "the design has no state of its number",
            Wrong::UnknownEvent => "the design has no event of its number",
            Wrong::UnknownDesign => "the store has no design of its number",
            Wrong::OtherKind => "its operation is of another kind",
            Wrong::Trace => "its trace context cannot be read",
            Wrong::Missing => "it is not there, and something refers to it",
            Wrong::TimeGoesBack => "time goes back",
        })
    }
}

/// Stored bytes that do not read as what they should be: which, and what is wrong with them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damaged {
    place: Place,
    pub wrong: Wrong,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Place {
    /// the key itself
    Key(Vec<u8>),
    /// the value under this key
    Value(Vec<u8>),
    /// how an entry of the feed begins
    Feed(Vec<u8>),
}

/// So much of a feed entry is shown: its design, form, operation, time and principal.
const FEED_BYTES: usize = 48;

impl Damaged {
    pub fn key(key: &[u8], wrong: Wrong) -> Damaged {
        Damaged { place: Place::Key(key.to_vec()), wrong }
    }

    pub fn value(key: &[u8], wrong: Wrong) -> Damaged {
        Damaged { place: Place::Value(key.to_vec()), wrong }
    }

    pub fn feed(entry: &[u8], wrong: Wrong) -> Damaged {
        Damaged { place: Place::Feed(entry[..entry.len().min(FEED_BYTES)].to_vec()), wrong }
    }

    /// The space of the key; none: this is an entry of the feed, or the key says no known space.
    pub fn space(&self) -> Option<Space> {
        match &self.place {
            Place::Key(key) | Place::Value(key) => Space::of(key),
            Place::Feed(_) => None,
        }
    }

    /// The key, or how the entry of the feed begins.
    pub fn bytes(&self) -> &[u8] {
        match &self.place {
            Place::Key(bytes) | Place::Value(bytes) | Place::Feed(bytes) => bytes,
        }
    }
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = self.space().map_or("unknown space", Space::name);
        let (bytes, wrong) = (self.bytes().escape_ascii(), self.wrong);
        match &self.place {
            Place::Key(_) => write!(f, "the {space} key `{bytes}` is damaged: {wrong}"),
            Place::Value(_) => write!(f, "the {space} under `{bytes}` is damaged: {wrong}"),
            Place::Feed(_) => write!(f, "the feed entry `{bytes}…` is damaged: {wrong}"),
        }
    }
}

impl std::error::Error for Damaged {}
