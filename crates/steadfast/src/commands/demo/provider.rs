//! A service outside that loses answers: of what it was asked, and of what it has done.
//!
//! Whether an answer is lost is decided by the seed, the name of what is asked for, and how often that was asked.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use runtime::{Delivered, Delivery, Outside};
use serde_json::{Value, json};

use super::plan::drawn;
use super::scenario::name_of;

/// So often: more often than a server asks before it takes the outcome as unknown.
const SILENT_TIMES: u64 = 10;

pub struct Provider {
    seed: u64,
    /// of a hundred answers so many are lost: half of them before anything was done, half of them after it
    lost: u64,
    /// of a hundred things that are asked for, so many are refused for good
    declined: u64,
    /// of a hundred things that are asked for, so many are not answered for a while, as if the network were cut
    silent: u64,
    /// the field of a body that names what is asked for
    names: &'static str,
    book: Mutex<Book>,
}

/// What it has written down, under the key of each call.
#[derive(Default)]
pub struct Book {
    pub lines: HashMap<String, Line>,
    pub asked: u64,
    pub lost: u64,
}

pub struct Line {
    pub effect: String,
    /// what was asked for
    pub name: String,
    pub asked: u64,
    pub done: bool,
    /// it was refused for good, and whoever asked has been told so
    pub refused: bool,
}

impl Provider {
    pub fn new(seed: u64, lost: u64, declined: u64, names: &'static str) -> Provider {
        Provider { seed, lost, declined, silent: 0, names, book: Mutex::default() }
    }

    #[must_use]
    pub fn silent(self, silent: u64) -> Provider {
        Provider { silent, ..self }
    }

    pub fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outside for Provider {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        let name = name_of(&delivery.body[self.names]);
        let of = number(&[&delivery.effect, &name]);
        let mut random = drawn(self.seed, of);
        let declines = random.percent(self.declined);
        let is_silent = random.percent(self.silent);
        let mut book = self.book();
        book.asked += 1;
        let line = book.lines.entry(delivery.key.clone()).or_insert_with(|| Line {
            effect: delivery.effect.clone(),
            name,
            asked: 0,
            done: false,
            refused: false,
        });
        line.asked += 1;
        let mut chance = drawn(self.seed ^ of, line.asked);
        let lost = chance.percent(self.lost) || is_silent && line.asked <= SILENT_TIMES;
        let before = lost && chance.percent(50);
        line.done |= !before && !declines;
        line.refused |= !lost && declines;
        if lost {
            book.lost += 1;
            let trouble = "the answer was lost".into();
            return Delivered::Unknown { trouble, retry_after_ms: None };
        }
        match declines {
            true => Delivered::Refused(json!({ "reason": "declined" })),
            false => Delivered::Ok(Value::Null),
        }
    }
}

fn number(parts: &[&str]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part.as_bytes());
        hasher.update(&[0]);
    }
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: &str) -> Delivery {
        Delivery {
            design: "Payments".into(),
            actor: "network".into(),
            effect: "authorize".into(),
            method: "POST".into(),
            url: String::new(),
            key: format!("key of {name}"),
            body: json!({ "charge": name }),
            attempt: 0,
            trace: None,
        }
    }

    #[test]
    fn a_third_of_the_answers_is_lost_and_the_seed_decides_which() {
        let told = |seed| -> Vec<bool> {
            let provider = Provider::new(seed, 33, 0, "charge");
            let ask =
                |at: u32| provider.deliver(&asked(&at.to_string())) == Delivered::Ok(Value::Null);
            (0..3_000).map(ask).collect()
        };
        assert_eq!(told(1), told(1));
        assert_ne!(told(1), told(2));
        let heard = told(1).iter().filter(|heard| **heard).count();
        assert!((1_900..2_100).contains(&heard), "{heard}");
    }

    #[test]
    fn half_of_what_is_lost_was_done_and_who_asks_again_is_answered_in_the_end() {
        let provider = Provider::new(1, 33, 0, "charge");
        for at in 0..3_000 {
            provider.deliver(&asked(&at.to_string()));
        }
        let done = provider.book().lines.values().filter(|line| line.done).count();
        assert!((2_400..2_600).contains(&done), "{done}");
        let answered =
            (0..100).any(|_| provider.deliver(&asked("7")) == Delivered::Ok(Value::Null));
        assert!(answered && provider.book().lines["key of 7"].done);
    }
}
