//! What servers that share a store tell each other through it: which text of a design has the say, how long each of
//! them may be relied on, who has what in hand.

use crate::bytes::{Reader, put_number, put_signed};
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lease {
    /// milliseconds
    pub until: i64,
}

impl Lease {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![FORM];
        put_signed(&mut out, self.until);
        out
    }

    pub fn take(bytes: &[u8]) -> Result<Lease, Wrong> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != FORM {
            return Err(Wrong::UnknownForm);
        }
        Ok(Lease { until: reader.signed()? })
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
        let lease = Lease { until: -5 };
        assert_eq!(Lease::take(&lease.to_bytes()), Ok(lease));
        assert!(Lease::take(&[]).is_err());
        for claim in [None, Some(0), Some(u64::MAX)] {
            assert_eq!(take_claim(&put_claim(claim)), Ok(claim));
        }
        assert!(take_claim(&[1, 2]).is_err());
    }
}
