//! What servers that share a store tell each other through it: which text of a design has the say, how long each of
//! them may be relied on, who has what in hand.

use crate::bytes::{Reader, put_bytes, put_number, put_signed};
use crate::damaged::Wrong;

const FORM: u8 = 1;

/// Which text of a design has the say. Every commit of a server depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Epoch {
    /// one more with every text
    pub number: u64,
    /// a hash of the design
    pub design: [u8; 32],
    /// that of the text before
    pub before: Option<[u8; 32]>,
}

impl Epoch {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![FORM];
        put_number(&mut out, self.number);
        out.extend_from_slice(&self.design);
        if let Some(before) = &self.before {
            out.extend_from_slice(before);
        }
        out
    }

    pub fn take(bytes: &[u8]) -> Result<Epoch, Wrong> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != FORM {
            return Err(Wrong::UnknownForm);
        }
        let (number, design) = (reader.number()?, reader.array()?);
        let before = match reader.rest() {
            [] => None,
            rest => Some(rest.try_into().map_err(|_| Wrong::EndsEarly)?),
        };
        Ok(Epoch { number, design, before })
    }
}

/// Until when a server may be relied on. It puts this off as long as it lives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lease {
    /// milliseconds
    pub until: i64,
    /// who it is, for people: nothing is decided by it. None: a program wrote it that says nothing of itself
    pub card: Option<Card>,
}

/// What a server says of itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Card {
    /// the same for all designs of one process, chosen by chance
    pub process: u64,
    /// the name of the machine
    pub host: String,
    /// where it listens; empty: not yet
    pub address: String,
    /// of the program
    pub version: String,
    /// when it started, in milliseconds
    pub since: i64,
    /// when it wrote this, by the store's clock as far as it knows that
    pub seen: i64,
    /// how far its clock is ahead of the store's; behind, if this is below zero
    pub ahead_ms: i64,
    /// the text that it serves: which epoch, and a hash
    pub epoch: u64,
    pub design: [u8; 32],
    pub serves: Serves,
}

/// Whether a server takes calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Serves {
    Calls,
    /// its clock is too far from the store's
    WrongClock,
    /// another text has the say
    Replaced,
}

/// How a card begins; what another version writes in its place is passed over.
const CARD: u8 = 1;

impl Lease {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![FORM];
        put_signed(&mut out, self.until);
        if let Some(card) = &self.card {
            card.put(&mut out);
        }
        out
    }

    pub fn take(bytes: &[u8]) -> Result<Lease, Wrong> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != FORM {
            return Err(Wrong::UnknownForm);
        }
        let until = reader.signed()?;
        let card = if reader.is_empty() || reader.byte()? != CARD {
            None
        } else {
            // no work stands still for what people are told
            Card::take(&mut reader).ok()
        };
        Ok(Lease { until, card })
    }
}

impl Card {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(CARD);
        out.extend_from_slice(&self.process.to_be_bytes());
        for text in [&self.host, &self.address, &self.version] {
            put_bytes(out, text.as_bytes());
        }
        for number in [self.since, self.seen, self.ahead_ms] {
            put_signed(out, number);
        }
        put_number(out, self.epoch);
        out.extend_from_slice(&self.design);
        out.push(match self.serves {
            Serves::Calls => 0,
            Serves::WrongClock => 1,
            Serves::Replaced => 2,
        });
    }

    /// What follows it is of a later version.
    fn take(reader: &mut Reader<'_>) -> Result<Card, Wrong> {
        let text = |reader: &mut Reader<'_>| {
            String::from_utf8(reader.bytes()?.to_vec()).map_err(|_| Wrong::NotUtf8)
        };
        Ok(Card {
            process: u64::from_be_bytes(reader.array()?),
            host: text(reader)?,
            address: text(reader)?,
            version: text(reader)?,
            since: reader.signed()?,
            seen: reader.signed()?,
            ahead_ms: reader.signed()?,
            epoch: reader.number()?,
            design: reader.array()?,
            serves: match reader.byte()? {
                0 => Serves::Calls,
                1 => Serves::WrongClock,
                2 => Serves::Replaced,
                _ => return Err(Wrong::UnknownChoice),
            },
        })
    }
}

/// Who has an entry of the outbox in hand: beside its place in the index of due deliveries. None: nobody.
pub fn put_claim(server: Option<u64>) -> Vec<u8> {
    server.map(|server| server.to_be_bytes().to_vec()).unwrap_or_default()
}

pub fn take_claim(bytes: &[u8]) -> Result<Option<u64>, Wrong> {
    match bytes {
        [] => Ok(None),
        bytes => bytes
            .try_into()
            .map(|server| Some(u64::from_be_bytes(server)))
            .map_err(|_| Wrong::EndsEarly),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_taken() {
        for before in [None, Some([7; 32])] {
            let epoch = Epoch { number: 300, design: [9; 32], before };
            let bytes = epoch.to_bytes();
            assert_eq!(Epoch::take(&bytes), Ok(epoch));
            for end in 0..bytes.len() {
                // without the text before it is another epoch, and nothing in between is one
                assert_eq!(
                    Epoch::take(&bytes[..end]).is_ok(),
                    before.is_some() && end == bytes.len() - 32
                );
            }
        }
        assert!(Lease::take(&[]).is_err());
        for claim in [None, Some(0), Some(u64::MAX)] {
            assert_eq!(take_claim(&put_claim(claim)), Ok(claim));
        }
        assert!(take_claim(&[1, 2]).is_err());
    }

    fn card(serves: Serves) -> Card {
        Card {
            process: u64::MAX - 1,
            host: "web-1".into(),
            address: "http://10.0.0.7:7070".into(),
            version: "0.1.0".into(),
            since: 1_700_000_000_000,
            seen: 1_700_000_060_000,
            ahead_ms: -12,
            epoch: 3,
            design: [9; 32],
            serves,
        }
    }

    #[test]
    fn a_lease_is_read_with_and_without_a_card() {
        for serves in [Serves::Calls, Serves::WrongClock, Serves::Replaced] {
            let lease = Lease { until: -5, card: Some(card(serves)) };
            let bytes = lease.to_bytes();
            assert_eq!(Lease::take(&bytes), Ok(lease));
            // a later version may say more
            let more = [&bytes[..], &[1, 2, 3]].concat();
            assert_eq!(Lease::take(&more).map(|lease| lease.until), Ok(-5));
            for end in 0..bytes.len() {
                let short = Lease::take(&bytes[..end]);
                assert!(short.is_err() || short.is_ok_and(|lease| lease.card.is_none()));
            }
        }
        let plain = Lease { until: 300, card: None };
        assert_eq!(Lease::take(&plain.to_bytes()), Ok(plain.clone()));
        // what another version writes behind the time is passed over
        let other = [plain.to_bytes(), vec![200, 1, 2]].concat();
        assert_eq!(Lease::take(&other), Ok(plain));
    }
}
