//! What is written down.

/// One kind of thing that is done with authority.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Act {
    ServerStarted,
    ServerStopped,
    KeyMade,
    KeyRotated,
    KeyRetired,
    SecretKeyMade,
    SecretKeyRotated,
    SecretKeyRetired,
    TokenIssued,
    TokenRevoked,
    /// nobody was let in: no token, or none that is good
    Unauthenticated,
    /// somebody was, and may not do this
    Forbidden,
    DeadLetterRetried,
    /// put back in the queue that it was taken out of
    EntryRetried,
    EntryDiscarded,
    DesignReplaced,
    StoreCopied,
    StoreRestored,
    /// an unfinished line was cut off
    Mended,
}

impl Act {
    /// Stable: part of the log.
    pub fn name(self) -> &'static str {
        match self {
            Act::ServerStarted => "server started",
            Act::ServerStopped => "server stopped",
            Act::KeyMade => "key made",
            Act::KeyRotated => "key rotated",
            Act::KeyRetired => "key retired",
            Act::SecretKeyMade => "key of secrets made",
            Act::SecretKeyRotated => "key of secrets rotated",
            Act::SecretKeyRetired => "key of secrets retired",
            Act::TokenIssued => "token issued",
            Act::TokenRevoked => "token revoked",
            Act::Unauthenticated => "unauthenticated",
            Act::Forbidden => "forbidden",
            Act::DeadLetterRetried => "dead letter retried",
            Act::EntryRetried => "entry set aside retried",
            Act::EntryDiscarded => "entry set aside discarded",
            Act::DesignReplaced => "design replaced",
            Act::StoreCopied => "store copied",
            Act::StoreRestored => "store restored",
            Act::Mended => "log mended",
        }
    }
}
