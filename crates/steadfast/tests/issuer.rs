//! An issuer of OpenID Connect: a small server that publishes keys, and tokens that are signed with them.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
};
use serde_json::{Value, json};

/// Base64url without padding.
pub fn text(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let all = three.iter().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte))
            << (8 * (3 - three.len()));
        for at in 0..=three.len() {
            out.push(char::from(LETTERS[(all >> (18 - 6 * at)) as usize & 63]));
        }
    }
    out
}

enum Pair {
    Rsa(Box<RsaKeyPair>),
    P256(Box<EcdsaKeyPair>),
    Ed25519(Box<Ed25519KeyPair>),
}

pub struct Key {
    id: String,
    pair: Pair,
}

impl Key {
    pub fn rsa(id: &str) -> Key {
        Key {
            id: id.into(),
            pair: Pair::Rsa(Box::new(RsaKeyPair::generate(KeySize::Rsa2048).unwrap())),
        }
    }

    pub fn p256(id: &str) -> Key {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        Key { id: id.into(), pair: Pair::P256(Box::new(pair)) }
    }

    pub fn ed25519(id: &str) -> Key {
        Key { id: id.into(), pair: Pair::Ed25519(Box::new(Ed25519KeyPair::generate().unwrap())) }
    }

    /// The two numbers of an RSA key, out of their DER.
    fn numbers(der: &[u8]) -> (Vec<u8>, Vec<u8>) {
        fn item(bytes: &[u8]) -> (&[u8], &[u8]) {
            let (length, head) = match bytes[1] {
                short @ 0..0x80 => (usize::from(short), 2),
                long => {
                    let count = usize::from(long & 0x7f);
                    let of = &bytes[2..2 + count];
                    (of.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), 2 + count)
                }
            };
            (&bytes[head..head + length], &bytes[head + length..])
        }
        let (inside, _) = item(der);
        let (n, rest) = item(inside);
        let (e, _) = item(rest);
        (n.to_vec(), e.to_vec())
    }

    pub fn public(&self) -> Value {
        let mut key = match &self.pair {
            Pair::Rsa(pair) => {
                let (n, e) = Key::numbers(pair.public_key().as_ref());
                json!({ "kty": "RSA", "n": text(&n), "e": text(&e) })
            }
            Pair::P256(pair) => {
                let point = pair.public_key().as_ref();
                let (x, y) = (text(&point[1..33]), text(&point[33..]));
                json!({ "kty": "EC", "crv": "P-256", "x": x, "y": y, "alg": "ES256" })
            }
            Pair::Ed25519(pair) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": text(pair.public_key().as_ref()) })
            }
        };
        key["kid"] = self.id.clone().into();
        key["use"] = "sig".into();
        key
    }

    pub fn alg(&self) -> &'static str {
        match self.pair {
            Pair::Rsa(_) => "RS256",
            Pair::P256(_) => "ES256",
            Pair::Ed25519(_) => "EdDSA",
        }
    }

    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        let chance = SystemRandom::new();
        match &self.pair {
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &chance, message, &mut signature).unwrap();
                signature
            }
            Pair::P256(pair) => pair.sign(&chance, message).unwrap().as_ref().to_vec(),
            Pair::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }

    /// A token with these claims, signed rightly.
    pub fn token(&self, claims: &Value) -> String {
        let head = json!({ "alg": self.alg(), "kid": self.id, "typ": "JWT" });
        let signed = format!(
            "{}.{}",
            text(head.to_string().as_bytes()),
            text(claims.to_string().as_bytes())
        );
        let signature = text(&self.sign(signed.as_bytes()));
        format!("{signed}.{signature}")
    }
}

/// Answers each request for a path as long as the test runs: with a status, a type of content, and the content.
pub fn answering(
    listener: TcpListener,
    answer: impl Fn(&str) -> (&'static str, &'static str, Vec<u8>) + Send + 'static,
) {
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut lines =
                BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let first = lines.next().unwrap_or_default();
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            let (status, kind, body) = answer(first.split(' ').nth(1).unwrap_or("/"));
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\
                 connection: close\r\n\r\n"
            );
            let _ = stream.write_all(&body);
        }
    });
}

/// Publishes keys.
pub struct Issuer {
    pub url: String,
    keys: Arc<Mutex<Vec<Value>>>,
    /// how often keys were fetched
    pub fetched: Arc<AtomicUsize>,
}

impl Issuer {
    pub fn start(listener: TcpListener) -> Issuer {
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (keys, fetched) = (Arc::<Mutex<Vec<Value>>>::default(), Arc::<AtomicUsize>::default());
        let (told, counted, at) = (Arc::clone(&keys), Arc::clone(&fetched), url.clone());
        answering(listener, move |path| {
            let body = if path == "/.well-known/openid-configuration" {
                json!({ "issuer": at, "jwks_uri": format!("{at}/keys") })
            } else {
                counted.fetch_add(1, Ordering::SeqCst);
                json!({ "keys": *told.lock().unwrap() })
            };
            ("200 OK", "application/json", body.to_string().into_bytes())
        });
        Issuer { url, keys, fetched }
    }

    pub fn publish(&self, keys: &[&Key]) {
        *self.keys.lock().unwrap() = keys.iter().map(|key| key.public()).collect();
    }
}

pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

/// Claims of a good token, with some of them changed.
pub fn claims(issuer: &str, changed: Value) -> Value {
    let mut claims = json!({
        "iss": issuer, "sub": "ann", "aud": ["other", "tickets-api"], "exp": now() + 600, "iat": now(),
        "groups": ["staff", "front"], "realm_access": { "roles": ["buyer"] },
    });
    for (name, value) in changed.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims
}

/// The options of a server that takes its tokens.
pub fn words(issuer: &str) -> Vec<String> {
    [
        "--oidc-issuer",
        issuer,
        "--oidc-audience",
        "tickets-api",
        "--oidc-role",
        "groups=staff:organizer",
        "--oidc-role",
        "realm_access.roles=*",
    ]
    .map(String::from)
    .to_vec()
}
