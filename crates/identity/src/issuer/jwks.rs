//! Keys as an issuer publishes them: a JWK set (RFC 7517).

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};
use serde::Deserialize;

use crate::base64;

/// More keys than anybody has.
const KEYS_MAX: usize = 100;

/// What a token may be signed by. Each has one kind of key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
}

impl Algorithm {
    /// None: not one that is taken. `none` and those that sign with a shared secret are among these.
    pub fn named(name: &str) -> Option<Algorithm> {
        match name {
            "RS256" => Some(Algorithm::Rs256),
            "ES256" => Some(Algorithm::Es256),
            "EdDSA" | "Ed25519" => Some(Algorithm::EdDsa),
            _ => None,
        }
    }
}

/// A key that verifies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    pub id: String,
    kind: Kind,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Kind {
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// the point, uncompressed
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

#[derive(Deserialize)]
struct Set {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: String,
    #[serde(rename = "use")]
    used_for: Option<String>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// The keys of a set that can verify tokens. Others are left out: a set may have keys for other purposes, and of kinds
/// that are not known here. None: it is no set.
pub fn read(bytes: &[u8]) -> Option<Vec<Key>> {
    let set: Set = serde_json::from_slice(bytes).ok()?;
    let keys = set.keys.into_iter().take(KEYS_MAX);
    Some(keys.filter_map(|key| Key::read(serde_json::from_value(key).ok()?)).collect())
}

impl Key {
    fn read(jwk: Jwk) -> Option<Key> {
        if jwk.used_for.as_deref().is_some_and(|used| used != "sig") {
            return None;
        }
        let bytes = |text: &Option<String>| text.as_deref().and_then(base64::decode);
        let kind = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
            ("RSA", _) => {
                // the number, without zeros before it
                let number = |bytes: Vec<u8>| {
                    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
                    bytes[zeros..].to_vec()
                };
                Kind::Rsa { n: number(bytes(&jwk.n)?), e: number(bytes(&jwk.e)?) }
            }
            ("EC", Some("P-256")) => {
                let (x, y) = (bytes(&jwk.x)?, bytes(&jwk.y)?);
                if x.len() != 32 || y.len() != 32 {
                    return None;
                }
                Kind::P256([&[4][..], &x, &y].concat())
            }
            ("OKP", Some("Ed25519")) => {
                Kind::Ed25519(bytes(&jwk.x).filter(|bytes| bytes.len() == 32)?)
            }
            _ => return None,
        };
        let key = Key { id: jwk.kid, kind };
        // a key that is for another algorithm is not for this one
        let fits = jwk.alg.is_none_or(|alg| Algorithm::named(&alg) == Some(key.algorithm()));
        fits.then_some(key)
    }

    pub fn algorithm(&self) -> Algorithm {
        match self.kind {
            Kind::Rsa { .. } => Algorithm::Rs256,
            Kind::P256(_) => Algorithm::Es256,
            Kind::Ed25519(_) => Algorithm::EdDsa,
        }
    }

    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        match &self.kind {
            Kind::Rsa { n, e } => RsaPublicKeyComponents { n, e }
                .verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
                .is_ok(),
            Kind::P256(point) => UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
                .verify(message, signature)
                .is_ok(),
            Kind::Ed25519(key) => {
                UnparsedPublicKey::new(&ED25519, key).verify(message, signature).is_ok()
            }
        }
    }
}
