//! Keys for secrets that live as long as a test.

use runtime::{SALT_BYTES, SecretTrouble, Secrets};

/// One key, the same for every test: nothing that is stored outlives it.
#[derive(Debug)]
pub struct TestSecrets;

const KEY: &[u8; 32] = b"the key of tests, which is known";

fn digest(salt: &[u8], plain: &[u8]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_keyed(KEY);
    hasher.update(salt);
    hasher.update(plain);
    hasher.finalize()
}

impl Secrets for TestSecrets {
    fn hash(&self, salt: [u8; SALT_BYTES], plain: &[u8]) -> Result<Vec<u8>, SecretTrouble> {
        let mut stored = salt.to_vec();
        stored.extend_from_slice(digest(&salt, plain).as_bytes());
        Ok(stored)
    }

    fn matches(&self, stored: &[u8], plain: &[u8]) -> Result<bool, SecretTrouble> {
        let (salt, hash) = stored.split_at_checked(SALT_BYTES).ok_or(SecretTrouble::Damaged)?;
        Ok(digest(salt, plain).as_bytes() == hash)
    }

    fn fingerprints(&self, message: &[u8]) -> Result<Vec<[u8; 16]>, SecretTrouble> {
        let mut print = [0; 16];
        print.copy_from_slice(&digest(b"", message).as_bytes()[..16]);
        Ok(vec![print])
    }
}
