//! Secrets of designs: hashed, recognised, and the life of the keys for that.

use std::path::PathBuf;

use serde_json::json;

use crate::audit::Act;
use crate::directory;
use crate::error::Error;
use crate::identity::{Identity, Known, Place, no_randomness};
use crate::key::KeyId;
use crate::ledger::Event;
use crate::secret_key::{self, SALT_BYTES, SecretKey};

/// Why a stored secret cannot be compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoSecret {
    /// it was stored under a key that is not here, or is retired
    UnknownKey(String),
    /// it is no hash of a secret
    Damaged,
    /// the keys cannot be read now
    Unavailable(Error),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SecretKeyInfo {
    pub id: String,
    pub made_at: i64,
    pub retired_at: Option<i64>,
    /// what is stored from now on is hashed with it
    pub current: bool,
}

impl Identity {
    /// What is stored of a secret. The first one makes the key.
    pub fn hash_secret(&self, salt: [u8; SALT_BYTES], plain: &[u8]) -> Result<Vec<u8>, Error> {
        let known = self.with_secret_key()?;
        let key = known.ledger.good_secret_keys().next().ok_or_else(no_secret_key)?;
        Ok(key.hash(salt, plain))
    }

    /// Is this what is stored of the secret?
    pub fn is_secret(&self, stored: &[u8], plain: &[u8]) -> Result<bool, NoSecret> {
        let id = secret_key::key_of(stored).ok_or(NoSecret::Damaged)?;
        let known = self.newest().map_err(NoSecret::Unavailable)?;
        let key = known.ledger.secret_key(id);
        let key = key.ok_or_else(|| NoSecret::UnknownKey(id.to_string()))?;
        Ok(secret_key::matches(key, stored, plain))
    }

    /// Of a message, under each key, the newest first.
    pub fn secret_fingerprints(&self, message: &[u8]) -> Result<Vec<[u8; 16]>, Error> {
        let known = self.with_secret_key()?;
        Ok(known.ledger.good_secret_keys().map(|key| key.fingerprint(message)).collect())
    }

    fn with_secret_key(&self) -> Result<std::sync::Arc<Known>, Error> {
        let known = self.newest()?;
        if known.ledger.good_secret_keys().next().is_some() {
            return Ok(known);
        }
        self.change(&mut |ledger| {
            if ledger.good_secret_keys().next().is_some() {
                return Ok((Vec::new(), None));
            }
            let id = self.write_secret_key()?;
            let of = json!({ "key": id.to_string() });
            Ok((vec![Event::SecretKey { id: id.to_string() }], Some((Act::SecretKeyMade, of))))
        })
    }

    fn write_secret_key(&self) -> Result<KeyId, Error> {
        let Some(place) = &self.place else {
            return Err(Error::Wrong("keys in memory are not rotated".into()));
        };
        let key = SecretKey::random().ok_or_else(no_randomness)?;
        directory::write_new(&place.secret_key_path(key.id), &key.to_text())?;
        Ok(key.id)
    }

    /// What is stored from now on is hashed with a new key; the old ones are good until they are retired.
    pub fn rotate_secrets(&self) -> Result<String, Error> {
        let mut made = None;
        self.change(&mut |_| {
            let id = self.write_secret_key()?.to_string();
            made = Some(id.clone());
            let of = json!({ "key": id });
            Ok((vec![Event::SecretKey { id }], Some((Act::SecretKeyRotated, of))))
        })?;
        made.ok_or_else(no_secret_key)
    }

    /// Secrets that are still stored under this key are no longer recognised, for good.
    pub fn retire_secrets(&self, id: &str) -> Result<(), Error> {
        let unknown = || Error::Wrong(format!("there is no key of secrets `{id}`"));
        let key = KeyId::parse(id).ok_or_else(unknown)?;
        self.change(&mut |ledger| {
            let known = ledger.secret_keys.iter().find(|known| known.id == key);
            if known.ok_or_else(unknown)?.retired_at.is_some() {
                return Err(Error::Wrong(format!("the key `{id}` was retired already")));
            }
            if ledger.good_secret_keys().next().is_some_and(|newest| newest.id == key) {
                let what = format!("`{id}` is the key that is used now; rotate first");
                return Err(Error::Wrong(what));
            }
            let of = json!({ "key": id });
            let retired = Event::SecretKeyRetired { id: id.to_string() };
            Ok((vec![retired], Some((Act::SecretKeyRetired, of))))
        })?;
        match &self.place {
            Some(place) => directory::remove(&place.secret_key_path(key)),
            None => Ok(()),
        }
    }

    /// From the oldest to the one in use.
    pub fn secret_keys(&self) -> Result<Vec<SecretKeyInfo>, Error> {
        let known = self.newest()?;
        let current = known.ledger.good_secret_keys().next().map(|key| key.id);
        let info = known.ledger.secret_keys.iter().map(|known| SecretKeyInfo {
            id: known.id.to_string(),
            made_at: known.made_at,
            retired_at: known.retired_at,
            current: current == Some(known.id),
        });
        Ok(info.collect())
    }
}

impl Place {
    fn secret_key_path(&self, id: KeyId) -> PathBuf {
        self.directory.join(format!("{id}.secrets"))
    }

    pub(crate) fn load_secret_key(&self, id: KeyId) -> Result<SecretKey, Error> {
        let path = self.secret_key_path(id);
        let text = std::fs::read_to_string(&path).map_err(|error| Error::io(&path, &error))?;
        directory::private(&path)?;
        let key = SecretKey::from_text(&text);
        key.filter(|key| key.id == id).ok_or(Error::Damaged { path, line: 1 })
    }
}

fn no_secret_key() -> Error {
    Error::Wrong("there is no key to keep secrets with".into())
}
