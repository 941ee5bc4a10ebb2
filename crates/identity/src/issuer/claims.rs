//! What a token of an issuer says.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::IssuerTerms;
use super::jwks::Algorithm;
use crate::error::Denied;
use crate::roles::{ROLES_MAX, Roles, good_name};

/// Clocks of two machines may differ by so much.
const LEEWAY_S: i64 = 60;

#[derive(Deserialize)]
struct Head {
    alg: String,
    kid: String,
    typ: Option<String>,
    /// extensions that whoever verifies must know; none is known here
    crit: Option<Value>,
}

/// The algorithm and the key that a token names; none: not one that is taken.
pub fn head(bytes: &[u8]) -> Option<(Algorithm, String)> {
    let head: Head = serde_json::from_slice(bytes).ok()?;
    let is_token = |typ: &String| ["jwt", "at+jwt"].contains(&typ.to_ascii_lowercase().as_str());
    if head.crit.is_some() || !head.typ.as_ref().is_none_or(is_token) {
        return None;
    }
    Some((Algorithm::named(&head.alg)?, head.kid))
}

/// Who a token says has issued it.
pub fn issuer_of(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Issued {
        iss: String,
    }
    serde_json::from_slice::<Issued>(body).ok().map(|issued| issued.iss)
}

/// A token of an issuer, whose signature is good.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Foreign {
    pub principal: String,
    pub roles: Roles,
    pub(super) kid: String,
    audience: Vec<String>,
    /// seconds since 1970
    expires: i64,
    not_before: Option<i64>,
}

impl Foreign {
    /// None: something is missing that every token has, or it is another issuer's.
    pub fn read(body: &[u8], terms: &IssuerTerms, kid: &str) -> Option<Foreign> {
        let claims: Map<String, Value> = serde_json::from_slice(body).ok()?;
        if claims.get("iss")?.as_str()? != terms.url {
            return None;
        }
        let principal = claims.get("sub")?.as_str().filter(|name| good_name(name))?.to_string();
        let audience = match claims.get("aud")? {
            Value::String(one) => vec![one.clone()],
            Value::Array(all) => {
                all.iter().filter_map(|it| Some(it.as_str()?.to_string())).collect()
            }
            _ => return None,
        };
        let expires = claims.get("exp")?.as_f64()? as i64;
        let not_before = match claims.get("nbf") {
            None => None,
            Some(told) => Some(told.as_f64()? as i64),
        };
        let mut roles: Vec<String> = Vec::new();
        for rule in &terms.roles {
            for role in rule.roles(&claims) {
                if good_name(&role) && !roles.contains(&role) && roles.len() < ROLES_MAX {
                    roles.push(role);
                }
            }
        }
        let roles = Roles::Some(roles);
        Some(Foreign { principal, roles, kid: kid.to_string(), audience, expires, not_before })
    }

    /// Is it in time, and for this service?
    pub fn fits(&self, terms: &IssuerTerms, now_s: i64) -> Result<(), Denied> {
        if !self.audience.contains(&terms.audience) {
            return Err(Denied::OtherService);
        }
        if self.expires <= now_s {
            return Err(Denied::Expired);
        }
        if self.not_before.is_some_and(|from| from > now_s.saturating_add(LEEWAY_S)) {
            return Err(Denied::NotYet);
        }
        Ok(())
    }
}

/// Which callers of an issuer have which role.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RoleRule {
    /// all of them
    Everybody(String),
    /// whose claim is this value, or has it in its list
    With { claim: String, value: String, role: String },
    /// the values of the claim are the roles
    Named { claim: String },
}

impl RoleRule {
    /// `buyer`, `groups=staff:organizer`, or `roles=*`.
    pub fn read(text: &str) -> Result<RoleRule, String> {
        let wrong = |why: &str| Err(format!("`{text}` gives no role: {why}"));
        let form = "write `ROLE`, `CLAIM=VALUE:ROLE`, or `CLAIM=*` where its values are the roles";
        let rule = match text.split_once('=') {
            None => RoleRule::Everybody(text.to_string()),
            Some((claim, "*")) => RoleRule::Named { claim: claim.to_string() },
            Some((claim, rest)) => {
                let Some((value, role)) = rest.rsplit_once(':') else { return wrong(form) };
                let (claim, value) = (claim.to_string(), value.to_string());
                RoleRule::With { claim, value, role: role.to_string() }
            }
        };
        let parts: Vec<&String> = match &rule {
            RoleRule::Everybody(role) => vec![role],
            RoleRule::With { claim, value, role } => vec![claim, value, role],
            RoleRule::Named { claim } => vec![claim],
        };
        if parts.iter().any(|part| !good_name(part)) {
            return wrong(form);
        }
        Ok(rule)
    }

    fn roles(&self, claims: &Map<String, Value>) -> Vec<String> {
        match self {
            RoleRule::Everybody(role) => vec![role.clone()],
            RoleRule::With { claim, value, role } => {
                let has = values(claims, claim).contains(value);
                if has { vec![role.clone()] } else { Vec::new() }
            }
            RoleRule::Named { claim } => values(claims, claim),
        }
    }
}

/// The texts of a claim. One of this very name goes first: names of claims may be addresses, with dots in them; else the
/// dots lead into it, as in `realm_access.roles`.
fn values(claims: &Map<String, Value>, claim: &str) -> Vec<String> {
    let inside = || {
        let mut parts = claim.split('.');
        let first = claims.get(parts.next()?)?;
        parts.try_fold(first, |held, part| held.get(part))
    };
    let Some(found) = claims.get(claim).or_else(inside) else { return Vec::new() };
    match found {
        // `scope` has its values in one text
        Value::String(text) => text.split(' ').map(str::to_string).collect(),
        Value::Array(all) => all.iter().filter_map(|it| Some(it.as_str()?.to_string())).collect(),
        _ => Vec::new(),
    }
}
