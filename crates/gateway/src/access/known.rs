//! What is set of callers before there are any.

use std::sync::Arc;

use identity::Identity;

/// How callers are known.
#[derive(Clone, Default)]
pub struct Access {
    /// none: keys that are forgotten when the server stops
    pub identity: Option<Arc<Identity>>,
    /// nobody is let in without a token
    pub tokens: bool,
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kept = self.identity.is_some();
        f.debug_struct("Access").field("kept", &kept).field("tokens", &self.tokens).finish()
    }
}
