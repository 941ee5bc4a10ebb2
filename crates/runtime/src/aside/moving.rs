//! Takes an entry out of its queue, within the transaction that found that it cannot be worked on.

use engine::Word;
use layout::{AsideKey, DesignNumber, SetAside, Space};
use store::Transaction;

use super::attempt::Trouble;
use crate::calls::hash16;
use crate::core::Runtime;

/// A reason that is longer is cut: it is for a person to read, and the store has limits.
const REASON_LETTERS_MAX: usize = 1_000;

/// An entry that was moved, to be told once that is committed.
#[derive(Clone, PartialEq, Debug)]
pub struct Moved {
    space: Option<Space>,
    key: Vec<u8>,
    reason: String,
}

/// Moves what stands under these keys of one entry; keys with nothing under them are left out. The first
/// that is there names the entry. None: nothing is there any more.
pub fn move_aside(
    design: DesignNumber,
    keys: &[Vec<u8>],
    trouble: &Trouble,
    now: Word,
    transaction: &mut dyn Transaction,
) -> Option<Moved> {
    let reason: String = trouble.to_string().chars().take(REASON_LETTERS_MAX).collect();
    let prefix = design.prefix();
    let mut taken: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for key in keys {
        let rest = key.strip_prefix(&prefix).expect("an entry is moved within its design").to_vec();
        if let Some((_, value)) = transaction.get(key)
            && taken.iter().all(|(known, _)| *known != rest)
        {
            taken.push((rest, value.to_vec()));
        }
    }
    let (first, _) = taken.first()?;
    let moved = Moved {
        space: Space::of(&[&prefix, &first[..]].concat()),
        key: [&prefix, &first[..]].concat(),
        reason: reason.clone(),
    };
    let place = free_place(design, first, transaction);
    for (key, _) in &taken {
        transaction.delete(&[&prefix, &key[..]].concat());
    }
    transaction.put(&place, &SetAside { at: now, reason, design, taken }.to_bytes());
    Some(moved)
}

/// An entry of the same key may have been set aside before, and was sent again since: both are kept.
fn free_place(design: DesignNumber, first: &[u8], transaction: &dyn Transaction) -> Vec<u8> {
    let mut hash = blake3::hash(first);
    loop {
        let place = AsideKey { design, hash: hash16(&hash) }.to_bytes();
        if transaction.get(&place).is_none() {
            return place;
        }
        hash = blake3::hash(hash.as_bytes());
    }
}

impl Runtime {
    /// To be called when the move is committed.
    pub(crate) fn tell_moved(&self, moved: &Moved) {
        self.counters.moved_aside();
        tracing::error!(
            design = %self.schema.design.name,
            space = moved.space.map_or("unknown", Space::name),
            key = %moved.key.escape_ascii(),
            reason = %moved.reason,
            "an entry was set aside; everything else goes on",
        );
    }
}
