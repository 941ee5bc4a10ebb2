//! Who calls, and what was handed to them: signed tokens, their revocation, sealed memory, and the
//! record of what was done with authority.
//!
//! Principals, roles and services are texts here; what they may do is decided elsewhere.

mod audit;
mod base64;
mod cache;
mod directory;
mod error;
mod identity;
mod issuer;
mod key;
mod ledger;
mod limit;
mod roles;
mod seal;
mod secret_key;
mod secrets;
mod token;

pub use audit::{Act, Broken, Chain, Noted};
pub use cache::Signed;
pub use error::{Denied, Error};
pub use identity::{Identity, Issued, KeyInfo, NewToken, Target, TokenInfo, by};
pub use issuer::{Fetch, Foreign, Issuer, IssuerTerms, RoleRule};
pub use limit::Limiter;
pub use roles::Roles;
pub use secrets::{NoSecret, SecretKeyInfo};
pub use token::{Claims, TOKEN_MAX, inspect};

/// A time in RFC 3339, from seconds since 1970.
pub fn time_text(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |at| at.to_string())
}

/// Seconds since 1970, by the clock of this machine.
pub fn now_s() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}
