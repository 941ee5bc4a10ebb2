//! Whoever fetches the keys of an issuer: a thread, which does it now and again, and when it is asked to.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::jwks::{self, Key};
use super::{Fetch, IssuerTerms, Keys, Told};

/// So often without being asked, and after it failed.
const EVERY: Duration = Duration::from_secs(300);
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// When there was a look last, and whether one is wanted.
#[derive(Default)]
struct State {
    wanted: bool,
    looking: bool,
    last: Option<Instant>,
    ended: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    news: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub struct Keeper {
    shared: Arc<Shared>,
    between: Duration,
}

impl Keeper {
    /// Looks once before it gives back.
    pub fn start(
        terms: &IssuerTerms,
        fetch: Fetch,
        keys: Keys,
        told: Told,
    ) -> std::io::Result<Keeper> {
        let shared = Arc::new(Shared::default());
        let mut failed = false;
        let (issuer, between) = (terms.url.clone(), terms.between);
        let mut look = move || {
            let fetched = fetched(&issuer, &fetch);
            match fetched {
                Ok(found) => {
                    *keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(found);
                    if std::mem::take(&mut failed) {
                        told(None);
                    }
                    true
                }
                // what was fetched before stays good
                Err(why) => {
                    failed = true;
                    told(Some(&why));
                    false
                }
            }
        };
        let mut good = look();
        shared.lock().last = Some(Instant::now());
        let keeper = Keeper { shared: Arc::clone(&shared), between };
        std::thread::Builder::new().name("issuer".into()).spawn(move || {
            loop {
                let mut state = shared.lock();
                let wait = if good { EVERY } else { AFTER_FAILURE };
                if !state.wanted && !state.ended {
                    state = match shared.news.wait_timeout(state, wait) {
                        Ok((state, _)) => state,
                        Err(poisoned) => poisoned.into_inner().0,
                    };
                }
                if state.ended {
                    return;
                }
                (state.wanted, state.looking) = (false, true);
                drop(state);
                good = look();
                let mut state = shared.lock();
                (state.looking, state.last) = (false, Some(Instant::now()));
            }
        })?;
        Ok(keeper)
    }

    /// Somebody presents a key that is not known. True: there is a look now, and it may be known then. False: there was
    /// one a moment ago.
    pub fn look_again(&self) -> bool {
        let mut state = self.shared.lock();
        if state.looking || state.wanted {
            return true;
        }
        if state.last.is_some_and(|last| last.elapsed() < self.between) {
            return false;
        }
        state.wanted = true;
        self.shared.news.notify_all();
        true
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.news.notify_all();
    }
}

/// What an issuer says of itself, as far as it is looked at.
#[derive(Deserialize)]
struct Configuration {
    issuer: String,
    jwks_uri: String,
}

fn fetched(issuer: &str, fetch: &Fetch) -> Result<Vec<Key>, String> {
    let address = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let found = fetch(&address)?;
    let found: Configuration = serde_json::from_slice(&found)
        .map_err(|_| format!("`{address}` is no configuration of an issuer"))?;
    if found.issuer != issuer {
        let other = found.issuer;
        return Err(format!(
            "`{address}` is of another issuer, `{other}`; they are the same letter for letter"
        ));
    }
    let keys =
        IssuerTerms::checked_url(found.jwks_uri.split(['?', '#']).next().unwrap_or_default())
            .map_err(|_| format!("the keys lie under `{}`, which is not encrypted", found.jwks_uri))
            .and_then(|_| fetch(&found.jwks_uri))?;
    let keys =
        jwks::read(&keys).ok_or_else(|| format!("`{}` is no set of keys", found.jwks_uri))?;
    if keys.is_empty() {
        return Err(format!("`{}` has no key for RS256, ES256 or EdDSA", found.jwks_uri));
    }
    Ok(keys)
}
