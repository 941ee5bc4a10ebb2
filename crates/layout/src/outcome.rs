//! The outcome of a call that is kept for its idempotency key: what a second call must agree with,
//! and what it is answered, as texts of JSON.

use engine::Word;

use crate::bytes::{Reader, put_bytes, put_signed};
use crate::damaged::Wrong;

const FORM: u8 = 1;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeptOutcome<'a> {
    /// a hash of the arguments
    pub payload: u128,
    /// the `now` of the step
    pub at: Word,
    pub memory: &'a [u8],
    pub truth: &'a [u8],
    pub result: &'a [u8],
}

impl<'a> KeptOutcome<'a> {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![FORM];
        out.extend_from_slice(&self.payload.to_le_bytes());
        put_signed(&mut out, self.at);
        put_bytes(&mut out, self.memory);
        put_bytes(&mut out, self.truth);
        put_bytes(&mut out, self.result);
        out
    }

    pub fn take(bytes: &'a [u8]) -> Result<KeptOutcome<'a>, Wrong> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != FORM {
            return Err(Wrong::UnknownForm);
        }
        let payload = u128::from_le_bytes(reader.array()?);
        let at = reader.signed()?;
        let (memory, truth) = (reader.bytes()?, reader.bytes()?);
        Ok(KeptOutcome { payload, at, memory, truth, result: reader.bytes()? })
    }
}
