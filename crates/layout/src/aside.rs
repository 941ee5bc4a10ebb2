//! An entry that was taken out of its queue, with everything that is needed to put it back.

use engine::Word;

use crate::bytes::{Reader, put_bytes, put_number, put_signed};
use crate::damaged::Wrong;
use crate::space::DesignNumber;

const FORM: u8 = 1;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetAside {
    /// when, in milliseconds
    pub at: Word,
    /// for a person to read
    pub reason: String,
    /// the number that the design had then: the keys below use its numbers of operations and subjects
    pub design: DesignNumber,
    /// the keys that were taken away, without the number of the design, and what stood under them; the
    /// first is the one that names the entry
    pub taken: Vec<(Vec<u8>, Vec<u8>)>,
}

impl SetAside {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![FORM];
        put_signed(&mut out, self.at);
        put_bytes(&mut out, self.reason.as_bytes());
        out.extend_from_slice(&self.design.prefix());
        put_number(&mut out, self.taken.len() as u64);
        for (key, value) in &self.taken {
            put_bytes(&mut out, key);
            put_bytes(&mut out, value);
        }
        out
    }

    pub fn take(bytes: &[u8]) -> Result<SetAside, Wrong> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != FORM {
            return Err(Wrong::UnknownForm);
        }
        let at = reader.signed()?;
        let reason = String::from_utf8(reader.bytes()?.to_vec()).map_err(|_| Wrong::NotUtf8)?;
        let design = DesignNumber(u16::from_be_bytes(reader.array()?));
        let mut taken = Vec::new();
        for _ in 0..reader.number()? {
            taken.push((reader.bytes()?.to_vec(), reader.bytes()?.to_vec()));
        }
        reader.end()?;
        if taken.is_empty() {
            return Err(Wrong::Missing);
        }
        Ok(SetAside { at, reason, design, taken })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_set_aside_comes_back() {
        let aside = SetAside {
            at: -3,
            reason: "it ends too early".into(),
            design: DesignNumber(7),
            taken: vec![(b"o\0\x01name".to_vec(), b"value".to_vec()), (b"p".to_vec(), Vec::new())],
        };
        let bytes = aside.to_bytes();
        assert_eq!(SetAside::take(&bytes), Ok(aside));
        for end in 0..bytes.len() {
            assert!(SetAside::take(&bytes[..end]).is_err(), "{end}");
        }
    }
}
