//! What is known of keys and tokens: lines that are only ever added.
//!
//! One file holds all of it, so that one look at that file tells a running server whether anything
//! changed.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Denied, Error};
use crate::key::{Key, KeyId};
use crate::roles::Roles;
use crate::secret_key::SecretKey;
use crate::token::Claims;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Line {
    /// seconds since 1970
    pub at: i64,
    #[serde(flatten)]
    pub event: Event,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// the name that tokens are issued for
    Service {
        name: String,
    },
    Key {
        id: String,
    },
    KeyRetired {
        id: String,
    },
    /// designs keep their secrets with it
    SecretKey {
        id: String,
    },
    SecretKeyRetired {
        id: String,
    },
    Issued {
        token: String,
        principal: String,
        roles: Roles,
        service: String,
        from: i64,
        expires: i64,
    },
    TokenRevoked {
        token: String,
    },
    /// everything that was issued up to this second
    PrincipalRevoked {
        principal: String,
        until: i64,
    },
}

/// A key of the ledger.
#[derive(Clone, Debug)]
pub struct KnownKey {
    pub made_at: i64,
    pub retired_at: Option<i64>,
    /// none: retired
    pub key: Option<Arc<Key>>,
}

/// A key of secrets.
#[derive(Clone, Debug)]
pub struct KnownSecretKey {
    pub id: KeyId,
    pub made_at: i64,
    pub retired_at: Option<i64>,
    /// none: retired
    pub key: Option<Arc<SecretKey>>,
}

/// A token that was issued here.
#[derive(Clone, Debug)]
pub struct Issue {
    pub from: i64,
    pub principal: String,
    pub roles: Roles,
    pub service: String,
    pub expires: i64,
}

/// What all lines together say.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub service: String,
    pub keys: HashMap<KeyId, KnownKey>,
    /// the one that signs and seals
    pub current: Option<KeyId>,
    /// from the oldest to the one that is used for what is stored from now on
    pub secret_keys: Vec<KnownSecretKey>,
    pub issued: BTreeMap<String, Issue>,
    revoked_tokens: HashMap<String, i64>,
    revoked_principals: HashMap<String, i64>,
}

impl Ledger {
    /// Takes the lines that were added. Gives how many there are altogether.
    pub fn take(&mut self, text: &str, path: &Path, before: usize) -> Result<usize, Error> {
        let mut count = before;
        for text in text.lines() {
            count += 1;
            let line = serde_json::from_str(text).ok();
            let added = line.and_then(|line| self.add(line));
            added.ok_or_else(|| Error::Damaged { path: path.to_path_buf(), line: count })?;
        }
        Ok(count)
    }

    /// None: the line cannot be true.
    pub fn add(&mut self, line: Line) -> Option<()> {
        match line.event {
            Event::Service { name } => self.service = name,
            Event::Key { id } => {
                let id = KeyId::parse(&id)?;
                let known = KnownKey { made_at: line.at, retired_at: None, key: None };
                self.keys.insert(id, known);
                self.current = Some(id);
            }
            Event::KeyRetired { id } => {
                let known = self.keys.get_mut(&KeyId::parse(&id)?)?;
                known.retired_at = Some(line.at);
                known.key = None;
            }
            Event::SecretKey { id } => {
                let id = KeyId::parse(&id)?;
                let known = KnownSecretKey { id, made_at: line.at, retired_at: None, key: None };
                self.secret_keys.push(known);
            }
            Event::SecretKeyRetired { id } => {
                let id = KeyId::parse(&id)?;
                let known = self.secret_keys.iter_mut().find(|known| known.id == id)?;
                known.retired_at = Some(line.at);
                known.key = None;
            }
            Event::Issued { token, principal, roles, service, from, expires } => {
                let issue = Issue { from, principal, roles, service, expires };
                self.issued.insert(token, issue);
            }
            Event::TokenRevoked { token } => {
                self.revoked_tokens.insert(token, line.at);
            }
            Event::PrincipalRevoked { principal, until } => {
                let known = self.revoked_principals.entry(principal).or_insert(until);
                *known = until.max(*known);
            }
        }
        Some(())
    }

    /// Finds the secrets of every key that is not retired.
    pub fn load_keys(
        &mut self,
        load: &mut dyn FnMut(KeyId) -> Result<Key, Error>,
    ) -> Result<(), Error> {
        for (id, known) in &mut self.keys {
            if known.retired_at.is_none() && known.key.is_none() {
                known.key = Some(Arc::new(load(*id)?));
            }
        }
        Ok(())
    }

    /// A key that is kept nowhere else.
    pub fn add_secret_key(&mut self, key: SecretKey, made_at: i64) {
        let (id, key) = (key.id, Some(Arc::new(key)));
        self.secret_keys.push(KnownSecretKey { id, made_at, retired_at: None, key });
    }

    /// The same for the keys of secrets.
    pub fn load_secret_keys(
        &mut self,
        load: &mut dyn FnMut(KeyId) -> Result<SecretKey, Error>,
    ) -> Result<(), Error> {
        for known in &mut self.secret_keys {
            if known.retired_at.is_none() && known.key.is_none() {
                known.key = Some(Arc::new(load(known.id)?));
            }
        }
        Ok(())
    }

    pub fn secret_key(&self, id: KeyId) -> Option<&SecretKey> {
        self.secret_keys.iter().find(|known| known.id == id)?.key.as_deref()
    }

    /// Those that are not retired, the newest first.
    pub fn good_secret_keys(&self) -> impl Iterator<Item = &SecretKey> {
        self.secret_keys.iter().rev().filter_map(|known| known.key.as_deref())
    }

    pub fn key(&self, id: KeyId) -> Option<&Key> {
        self.keys.get(&id)?.key.as_deref()
    }

    pub fn current(&self) -> Option<&Key> {
        self.key(self.current?)
    }

    pub fn revoked_until(&self, principal: &str) -> Option<i64> {
        self.revoked_principals.get(principal).copied()
    }

    pub fn is_revoked(&self, token: &str, principal: &str, issued_at: i64) -> bool {
        self.revoked_tokens.contains_key(token)
            || self.revoked_until(principal).is_some_and(|until| issued_at <= until)
    }

    /// Of a token whose signature is good: is it still to be honoured?
    pub fn honours(&self, claims: &Claims, key: KeyId) -> Result<(), Denied> {
        if self.key(key).is_none() {
            return Err(Denied::UnknownKey);
        }
        match self.is_revoked(&claims.jti, &claims.sub, claims.iat) {
            true => Err(Denied::Revoked),
            false => Ok(()),
        }
    }
}
