//! What an actor remembers, as it travels: bound to everything it must not be used apart from.

/// What a memory token says. Keys and values are in the caller's canonical bytes, because
/// handles mean nothing on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claims<'a> {
    /// the design's name
    pub design: &'a str,
    /// the actor at the root of the chain
    pub actor: &'a str,
    pub principal: &'a str,
    /// the subject's name, empty for memory that belongs to the actor alone
    pub subject: &'a str,
    /// the canonical bytes of the record's key
    pub key: &'a [u8],
    /// the name of the memory field
    pub field: &'a str,
    pub value: &'a [u8],
}
