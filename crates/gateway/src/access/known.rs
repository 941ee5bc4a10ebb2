//! What is set of callers before there are any.

use std::sync::Arc;

use identity::{Identity, Issuer};

/// How callers are known.
#[derive(Clone, Default)]
pub struct Access {
    /// none: keys that are forgotten when the server stops
    pub identity: Option<Arc<Identity>>,
    /// whose tokens are taken besides those that were made here; none: nobody's
    pub issuer: Option<Arc<Issuer>>,
    /// nobody is let in without a token
    pub tokens: bool,
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kept = self.identity.is_some();
        let shown = &mut f.debug_struct("Access");
        shown
            .field("kept", &kept)
            .field("issuer", &self.issuer)
            .field("tokens", &self.tokens)
            .finish()
    }
}
