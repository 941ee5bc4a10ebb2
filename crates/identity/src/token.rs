//! A token: a JWS in its compact form, of exactly one kind.
//!
//! There is one algorithm, so a header that names another is refused before anything is computed:
//! there is nothing to confuse. Claims are read only after the signature was found good.

use serde::{Deserialize, Serialize};

use crate::base64;
use crate::error::Denied;
use crate::key::{Key, KeyId};
use crate::roles::{ROLES_MAX, Roles, good_name};

/// The longest token, in bytes.
pub const TOKEN_MAX: usize = 4096;

/// Clocks of two machines may differ by so much.
const LEEWAY_S: i64 = 60;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header<'a> {
    alg: &'a str,
    typ: &'a str,
    kid: &'a str,
}

/// What a token says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// the principal
    pub sub: String,
    pub roles: Roles,
    /// the service it is for
    pub aud: String,
    /// issued at, in seconds since 1970
    pub iat: i64,
    /// not valid from this second on
    pub exp: i64,
    /// its id
    pub jti: String,
}

impl Claims {
    fn is_sound(&self) -> bool {
        let roles = match &self.roles {
            Roles::All(_) => true,
            Roles::Some(names) => {
                names.len() <= ROLES_MAX && names.iter().all(|name| good_name(name))
            }
        };
        roles && good_name(&self.sub) && good_name(&self.aud) && good_name(&self.jti)
    }

    /// Is it in time, and for this service?
    pub(crate) fn fits(&self, service: &str, now_s: i64) -> Result<(), Denied> {
        if self.aud != service {
            return Err(Denied::OtherService);
        }
        if self.exp <= now_s {
            return Err(Denied::Expired);
        }
        if self.iat > now_s.saturating_add(LEEWAY_S) {
            return Err(Denied::NotYet);
        }
        Ok(())
    }
}

/// None: a name is empty, too long or not printable, or it is too long altogether.
pub(crate) fn write(claims: &Claims, key: &Key) -> Option<String> {
    if !claims.is_sound() {
        return None;
    }
    let kid = key.id.to_string();
    let header = serde_json::to_vec(&Header { alg: "EdDSA", typ: "JWT", kid: &kid }).ok()?;
    let body = serde_json::to_vec(claims).ok()?;
    let mut text = format!("{}.{}", base64::encode(&header), base64::encode(&body));
    let signature = key.sign(text.as_bytes());
    text.push('.');
    text.push_str(&base64::encode(&signature));
    (text.len() <= TOKEN_MAX).then_some(text)
}

/// The parts of a token whose header is the one that is taken.
struct Parts<'a> {
    key: KeyId,
    signed: &'a str,
    body: &'a str,
    signature: Vec<u8>,
}

fn parts(text: &str) -> Option<Parts<'_>> {
    if text.len() > TOKEN_MAX {
        return None;
    }
    let (signed, signature) = text.rsplit_once('.')?;
    let (header, body) = signed.split_once('.').filter(|(_, body)| !body.contains('.'))?;
    let header = base64::decode(header)?;
    let header: Header<'_> = serde_json::from_slice(&header).ok()?;
    if header.alg != "EdDSA" || header.typ != "JWT" {
        return None;
    }
    let signature = base64::decode(signature).filter(|bytes| bytes.len() == 64)?;
    Some(Parts { key: KeyId::parse(header.kid)?, signed, body, signature })
}

/// The claims of a token whose signature is good, and the key that made it. Whether it is in time
/// and not revoked is still to be asked.
pub(crate) fn read<'k>(
    text: &str,
    key: impl FnOnce(KeyId) -> Option<&'k Key>,
) -> Result<(Claims, KeyId), Denied> {
    let parts = parts(text).ok_or(Denied::Malformed)?;
    let key = key(parts.key).ok_or(Denied::UnknownKey)?;
    if !key.verifies(parts.signed.as_bytes(), &parts.signature) {
        return Err(Denied::Signature);
    }
    let claims = claims(parts.body).ok_or(Denied::Malformed)?;
    Ok((claims, parts.key))
}

fn claims(body: &str) -> Option<Claims> {
    let claims: Claims = serde_json::from_slice(&base64::decode(body)?).ok()?;
    claims.is_sound().then_some(claims)
}

/// What a token says and which key it names, without any check of its signature.
pub fn inspect(text: &str) -> Option<(Claims, String)> {
    let parts = parts(text)?;
    Some((claims(parts.body)?, parts.key.to_string()))
}
