//! Tokens that somebody else issues: an identity provider that speaks OpenID Connect.
//!
//! A token is taken if it was signed with one of the keys that the issuer publishes now, by the algorithm that the key
//! is for, is meant for this service, and is in time. Three algorithms are known, and each of them verifies with a
//! public key: there is none by which a public key could be taken for a secret one.
//!
//! Keys are fetched on a thread of their own, never while somebody waits for an answer. Who presents a key that is not
//! known is told to come again in a moment, once: whoever makes up keys does not make the issuer work.

mod claims;
mod jwks;
mod keeper;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use crate::base64;
use crate::error::Denied;
pub use claims::{Foreign, RoleRule};
use jwks::{Algorithm, Key};
use keeper::Keeper;

/// The longest token, in bytes.
const TOKEN_MAX: usize = 12_288;

/// Is told why keys could not be fetched, and of none when they could again.
pub type Told = Box<dyn Fn(Option<&str>) + Send>;

/// Gets what lies under an address, or says why it cannot be had.
pub type Fetch = Box<dyn Fn(&str) -> Result<Vec<u8>, String> + Send + Sync>;

/// Whose tokens are taken, and on which terms.
#[derive(Clone, Debug)]
pub struct IssuerTerms {
    /// as its tokens write it under `iss`, and where its configuration lies
    pub url: String,
    /// what its tokens for this service have under `aud`
    pub audience: String,
    pub roles: Vec<RoleRule>,
    /// so long at least between two looks that unknown keys ask for
    pub between: Duration,
}

impl IssuerTerms {
    /// What `between` is unless somebody knows better.
    pub const BETWEEN: Duration = Duration::from_secs(10);

    /// The address of an issuer, if it is one that keys may be had from: encrypted, or of this machine.
    pub fn checked_url(url: &str) -> Result<String, String> {
        let wrong = |why: &str| Err(format!("`{url}` is no issuer: {why}"));
        let Some((scheme, rest)) = url.split_once("://") else {
            return wrong("it is an address such as `https://login.example`");
        };
        if rest.is_empty() || rest.starts_with('/') || rest.contains(['?', '#', '@', ' ']) {
            return wrong("it is a name and perhaps a path, without a user, a query or a fragment");
        }
        if scheme == "https" || scheme == "http" && is_loopback(rest) {
            return Ok(url.to_string());
        }
        wrong("keys are taken over `https` alone, or from this machine")
    }
}

fn is_loopback(rest: &str) -> bool {
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(six) => six.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// The keys of the issuer as they were fetched last.
type Keys = Arc<RwLock<Arc<Vec<Key>>>>;

/// An issuer whose tokens are taken.
pub struct Issuer {
    terms: IssuerTerms,
    keys: Keys,
    keeper: Keeper,
}

impl std::fmt::Debug for Issuer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Issuer").field("terms", &self.terms).finish_non_exhaustive()
    }
}

impl Issuer {
    /// Fetches the keys, and from then on now and again. `told` is called with why they could not be fetched, and with
    /// none when they could again. An issuer that cannot be reached is no reason not to begin: until it can, its tokens
    /// cannot be checked, and all others can.
    pub fn start(terms: IssuerTerms, fetch: Fetch, told: Told) -> std::io::Result<Issuer> {
        let keys: Keys = Arc::default();
        let keeper = Keeper::start(&terms, fetch, Arc::clone(&keys), told)?;
        Ok(Issuer { terms, keys, keeper })
    }

    /// Does a token say that it is of this issuer? What it says is not checked by that.
    pub fn is_named_by(&self, token: &str) -> bool {
        let body = token.split('.').nth(1).filter(|_| token.len() <= TOKEN_MAX);
        body.and_then(base64::decode).and_then(|body| claims::issuer_of(&body)).as_deref()
            == Some(&self.terms.url)
    }

    /// Who presents this token?
    pub fn verify(&self, token: &str, now_s: i64) -> Result<Arc<Foreign>, Denied> {
        if token.len() > TOKEN_MAX {
            return Err(Denied::Malformed);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(Denied::Malformed)?;
        let (head, body) = signed.split_once('.').ok_or(Denied::Malformed)?;
        let head = base64::decode(head).ok_or(Denied::Malformed)?;
        let (algorithm, kid) = claims::head(&head).ok_or(Denied::Malformed)?;
        let signature = base64::decode(signature).ok_or(Denied::Malformed)?;
        let key = self.key(algorithm, &kid)?;
        if !key.verifies(signed.as_bytes(), &signature) {
            return Err(Denied::Signature);
        }
        let body = base64::decode(body).ok_or(Denied::Malformed)?;
        let foreign = Foreign::read(&body, &self.terms, &kid).ok_or(Denied::Malformed)?;
        foreign.fits(&self.terms, now_s)?;
        Ok(Arc::new(foreign))
    }

    /// Of a token that was verified earlier: may what was begun with it go on?
    pub fn still_good(&self, foreign: &Foreign, now_s: i64) -> Result<(), Denied> {
        if !self.known().iter().any(|key| key.id == foreign.kid) {
            return Err(Denied::UnknownKey);
        }
        foreign.fits(&self.terms, now_s)
    }

    fn known(&self) -> Arc<Vec<Key>> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The key that a token names, for the algorithm that it names. One that is not known may be new: then the keys are
    /// fetched again, at most once in a while, and the caller comes again.
    fn key(&self, algorithm: Algorithm, kid: &str) -> Result<Key, Denied> {
        let known = self.known();
        match known.iter().find(|key| key.id == kid) {
            Some(key) if key.algorithm() == algorithm => Ok(key.clone()),
            // a key of one kind is never used as one of another
            Some(_) => Err(Denied::Signature),
            None if known.is_empty() || self.keeper.look_again() => Err(Denied::Unavailable),
            None => Err(Denied::UnknownKey),
        }
    }
}
