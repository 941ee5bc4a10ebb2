//! The keys of the service, as the runtime keeps secrets with them.

use std::fmt;
use std::sync::Arc;

use identity::{Identity, NoSecret};
use runtime::{SALT_BYTES, SecretTrouble, Secrets};

/// Keys of the directory of keys, or those that live as long as the process.
pub struct SecretKeys(pub Arc<Identity>);

impl fmt::Debug for SecretKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKeys")
    }
}

impl Secrets for SecretKeys {
    fn hash(&self, salt: [u8; SALT_BYTES], plain: &[u8]) -> Result<Vec<u8>, SecretTrouble> {
        self.0.hash_secret(salt, plain).map_err(unavailable)
    }

    fn matches(&self, stored: &[u8], plain: &[u8]) -> Result<bool, SecretTrouble> {
        self.0.is_secret(stored, plain).map_err(|trouble| match trouble {
            NoSecret::UnknownKey(id) => SecretTrouble::UnknownKey(id),
            NoSecret::Damaged => SecretTrouble::Damaged,
            NoSecret::Unavailable(error) => unavailable(error),
        })
    }

    fn fingerprints(&self, message: &[u8]) -> Result<Vec<[u8; 16]>, SecretTrouble> {
        self.0.secret_fingerprints(message).map_err(unavailable)
    }
}

fn unavailable(error: identity::Error) -> SecretTrouble {
    SecretTrouble::Unavailable(error.to_string())
}
