//! What an outbox entry is called, and how long it waits.

use design::model::OperationId;

use crate::core::Schema;

/// The key of an entry as the other side sees it: the same for every attempt, also after its effect was renamed.
pub fn key_text(schema: &Schema, operation: OperationId, name: &[u8]) -> String {
    let operation = &schema.called[operation.index()];
    let hash = blake3::hash(name);
    format!("{operation}-{}", &hash.to_hex()[..32])
}

/// Any number, the same for the same attempt.
pub fn jitter(name: &[u8], attempts: u32) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(name);
    hasher.update(&attempts.to_le_bytes());
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(bytes)
}
