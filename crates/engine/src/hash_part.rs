//! What a digest is made of.

/// How one value goes into a digest. A reference counts as the parts of its key.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum HashPart {
    Int,
    Bool,
    Decimal,
    Time,
    Duration,
    /// by the name of its constant: the order in which they are declared may change
    Enum(Vec<String>),
    Text,
    Bytes,
    Actor,
    PublicKey,
    /// the digest of a blob's content
    Blob,
    /// what `hash` gave
    Digest,
}
