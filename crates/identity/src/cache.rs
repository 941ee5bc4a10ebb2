//! Tokens whose signature was found good. A flood of other tokens cannot fill it: only what was
//! signed here gets in.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::key::KeyId;
use crate::token::Claims;

/// Of each of the two generations.
const ENTRIES_MAX: usize = 8_192;

/// What a token says, and the key that signed it.
#[derive(Debug, PartialEq, Eq)]
pub struct Signed {
    pub claims: Claims,
    pub key: KeyId,
}

/// Two generations: when the young one is full it becomes the old one, and the old one is gone.
#[derive(Default)]
pub struct Cache {
    generations: RwLock<Generations>,
}

#[derive(Default)]
struct Generations {
    young: HashMap<Box<str>, Arc<Signed>>,
    old: HashMap<Box<str>, Arc<Signed>>,
}

impl Cache {
    pub fn get(&self, token: &str) -> Option<Arc<Signed>> {
        let found = {
            let both = self.generations.read().unwrap_or_else(PoisonError::into_inner);
            match both.young.get(token) {
                Some(found) => return Some(Arc::clone(found)),
                None => both.old.get(token).map(Arc::clone),
            }
        }?;
        self.put(token, Arc::clone(&found));
        Some(found)
    }

    pub fn put(&self, token: &str, signed: Arc<Signed>) {
        let mut both = self.generations.write().unwrap_or_else(PoisonError::into_inner);
        if both.young.len() >= ENTRIES_MAX {
            both.old = std::mem::take(&mut both.young);
        }
        both.young.insert(token.into(), signed);
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        let both = self.generations.read().unwrap_or_else(PoisonError::into_inner);
        both.young.len() + both.old.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::Roles;

    #[test]
    fn it_is_bounded_and_keeps_what_is_used() {
        let cache = Cache::default();
        let signed = |n: usize| {
            let claims = Claims {
                sub: "ann".into(),
                roles: Roles::ALL,
                aud: "s".into(),
                iat: 0,
                exp: 1,
                jti: n.to_string(),
            };
            Arc::new(Signed { claims, key: KeyId([0; 8]) })
        };
        for n in 0..ENTRIES_MAX * 4 {
            cache.put(&n.to_string(), signed(n));
            assert_eq!(cache.get("0").unwrap().claims.jti, "0", "used, so it stays");
            assert!(cache.len() <= 2 * ENTRIES_MAX);
        }
        assert!(cache.get("1").is_none());
    }
}
