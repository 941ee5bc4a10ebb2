//! Idempotency keys, and those whose first request is still under way.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashSet;

use crate::kinds;
use crate::problem::Problem;

pub const KEY_BYTES_MAX: usize = 255;

/// The key, if it is one.
pub fn checked(key: &str) -> Result<String, Problem> {
    let is_key = (1..=KEY_BYTES_MAX).contains(&key.len())
        && key.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    if is_key { Ok(key.to_string()) } else { Err(wrong()) }
}

/// What is said of a key that is none.
pub fn wrong() -> Problem {
    Problem::new(
        &kinds::KEY_MALFORMED,
        format!("it is one text of 1 to {KEY_BYTES_MAX} visible ASCII characters"),
    )
}

/// Keys whose first request is not answered yet.
#[derive(Default)]
pub struct UnderWay {
    keys: Mutex<FxHashSet<String>>,
}

impl UnderWay {
    /// Takes the key until what is given back is dropped. Scoped like the stored outcome: to design,
    /// actor, operation and principal.
    pub fn take(self: &Arc<Self>, scope: [&str; 5]) -> Result<Held, Problem> {
        let mut key = String::with_capacity(96);
        for part in scope {
            key.push_str(&part.len().to_string());
            key.push(':');
            key.push_str(part);
        }
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if !keys.insert(key.clone()) {
            return Err(Problem::new(
                &kinds::KEY_UNDER_WAY,
                "ask again with the same key in a moment; the answer will be that of the first",
            ));
        }
        Ok(Held { under_way: Arc::clone(self), key })
    }
}

/// A key whose request is being answered.
pub struct Held {
    under_way: Arc<UnderWay>,
    key: String,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut keys = self.under_way.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_once_until_it_is_given_back() {
        let under_way = Arc::new(UnderWay::default());
        let mine = ["tickets", "buyer", "hold", "ann", "k"];
        let held = under_way.take(mine).unwrap();
        assert!(under_way.take(mine).err().unwrap().is(&kinds::KEY_UNDER_WAY));
        assert!(under_way.take(["tickets", "buyer", "hold", "bob", "k"]).is_ok());
        drop(held);
        assert!(under_way.take(mine).is_ok());
    }

    #[test]
    fn a_key_has_its_length() {
        let long = "x".repeat(KEY_BYTES_MAX + 1);
        assert!(checked(&long).is_err() && checked(&long[1..]).is_ok());
    }
}
