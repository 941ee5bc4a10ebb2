//! Tokens of an issuer of OpenID Connect, which is a small server of this test.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
};
use aws_lc_rs::{digest, hmac};
use serde_json::{Value, json};

use super::support::run_in;
use crate::drives::served::{Served, agent};
use crate::openapi::served::folder;

/// Base64url without padding.
fn text(bytes: &[u8]) -> String {
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

struct Key {
    id: String,
    pair: Pair,
}

impl Key {
    fn rsa(id: &str) -> Key {
        Key {
            id: id.into(),
            pair: Pair::Rsa(Box::new(RsaKeyPair::generate(KeySize::Rsa2048).unwrap())),
        }
    }

    fn p256(id: &str) -> Key {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
        Key { id: id.into(), pair: Pair::P256(Box::new(pair)) }
    }

    fn ed25519(id: &str) -> Key {
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

    fn public(&self) -> Value {
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

    fn alg(&self) -> &'static str {
        match self.pair {
            Pair::Rsa(_) => "RS256",
            Pair::P256(_) => "ES256",
            Pair::Ed25519(_) => "EdDSA",
        }
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
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
    fn token(&self, claims: &Value) -> String {
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

/// Publishes keys.
struct Issuer {
    url: String,
    keys: Arc<Mutex<Vec<Value>>>,
    /// how often keys were fetched
    fetched: Arc<AtomicUsize>,
}

impl Issuer {
    fn start(listener: TcpListener) -> Issuer {
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (keys, fetched) = (Arc::<Mutex<Vec<Value>>>::default(), Arc::<AtomicUsize>::default());
        let (told, counted, at) = (Arc::clone(&keys), Arc::clone(&fetched), url.clone());
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut lines =
                    BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                let first = lines.next().unwrap_or_default();
                lines.take_while(|line| !line.is_empty()).for_each(drop);
                let body = if first.contains("/.well-known/openid-configuration") {
                    json!({ "issuer": at, "jwks_uri": format!("{at}/keys") })
                } else {
                    counted.fetch_add(1, Ordering::SeqCst);
                    json!({ "keys": *told.lock().unwrap() })
                };
                let body = body.to_string();
                let length = body.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
                     connection: close\r\n\r\n{body}"
                );
            }
        });
        Issuer { url, keys, fetched }
    }

    fn publish(&self, keys: &[&Key]) {
        *self.keys.lock().unwrap() = keys.iter().map(|key| key.public()).collect();
    }
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

/// Claims of a good token, with some of them changed.
fn claims(issuer: &str, changed: Value) -> Value {
    let mut claims = json!({
        "iss": issuer, "sub": "ann", "aud": ["other", "tickets-api"], "exp": now() + 600, "iat": now(),
        "groups": ["staff", "front"], "realm_access": { "roles": ["buyer"] },
    });
    for (name, value) in changed.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims
}

fn words(issuer: &str) -> Vec<String> {
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

/// Adds a seat; gives the status and the problem's kind.
fn add_seat(served: &Served, token: &str, seat: &str) -> (u16, String) {
    let request = agent().post(format!("{}/organizer/add_seat", served.url));
    let request = request.header("authorization", format!("Bearer {token}"));
    let body = json!({ "seat": seat, "section": "stalls" }).to_string();
    let mut answer = request.content_type("application/json").send(body).unwrap();
    let body: Value = serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap();
    let kind = body["type"].as_str().unwrap_or_default().trim_start_matches("/problems/");
    (answer.status().as_u16(), kind.to_string())
}

#[test]
fn tokens_of_an_issuer_are_taken_and_forged_ones_are_not() {
    let issuer = Issuer::start(TcpListener::bind("127.0.0.1:0").unwrap());
    let (rsa, p256, ed25519) = (Key::rsa("r1"), Key::p256("e1"), Key::ed25519("d1"));
    issuer.publish(&[&rsa, &p256, &ed25519]);
    let begun = Instant::now();
    let served = Served::start(&folder("oidc"), "tickets", &words(&issuer.url)).unwrap();
    let with = |changed: Value| claims(&issuer.url, changed);
    for (at, key) in [&rsa, &p256, &ed25519].into_iter().enumerate() {
        let answer = add_seat(&served, &key.token(&with(json!({}))), &format!("S{at}"));
        assert_eq!(answer, (200, String::new()), "{}", key.alg());
    }
    let fetched = issuer.fetched.load(Ordering::SeqCst);
    assert_eq!(fetched, 1);
    for (what, changed, expected) in [
        ("other audience", json!({ "aud": "shop" }), (401, "unauthenticated")),
        ("no audience", json!({ "aud": null }), (401, "unauthenticated")),
        ("expired", json!({ "exp": now() - 1 }), (401, "unauthenticated")),
        ("never expires", json!({ "exp": null }), (401, "unauthenticated")),
        ("not yet", json!({ "nbf": now() + 3_600 }), (401, "unauthenticated")),
        ("other issuer", json!({ "iss": "https://login.example" }), (401, "unauthenticated")),
        ("nobody", json!({ "sub": "" }), (401, "unauthenticated")),
        ("another role", json!({ "groups": ["guests"] }), (403, "wrong-role")),
    ] {
        let (status, kind) = add_seat(&served, &rsa.token(&with(changed)), "X");
        assert_eq!((status, kind.as_str()), expected, "{what}");
    }
    // signatures that are none, or of another kind than the key's
    let body = text(with(json!({})).to_string().as_bytes());
    let forged = |head: Value, sign: &dyn Fn(&[u8]) -> Vec<u8>| {
        let signed = format!("{}.{body}", text(head.to_string().as_bytes()));
        let signature = text(&sign(signed.as_bytes()));
        format!("{signed}.{signature}")
    };
    let public = rsa.public();
    let secrets =
        [public["n"].as_str().unwrap().as_bytes().to_vec(), public.to_string().into_bytes()];
    let mut tokens = vec![
        ("none", forged(json!({ "alg": "none", "kid": "r1" }), &|_| Vec::new())),
        ("None", forged(json!({ "alg": "None", "kid": "r1" }), &|_| Vec::new())),
        ("no signature", forged(json!({ "alg": "RS256", "kid": "r1" }), &|_| Vec::new())),
        (
            "ES256 with an RSA key",
            forged(json!({ "alg": "ES256", "kid": "r1" }), &|m| p256.sign(m)),
        ),
        (
            "another's signature",
            forged(json!({ "alg": "RS256", "kid": "r1" }), &|m| Key::rsa("x").sign(m)),
        ),
        (
            "an extension",
            forged(json!({ "alg": "RS256", "kid": "r1", "crit": ["b64"] }), &|m| rsa.sign(m)),
        ),
        ("no key", forged(json!({ "alg": "RS256" }), &|m| rsa.sign(m))),
        (
            "a digest",
            forged(json!({ "alg": "RS256", "kid": "r1" }), &|m| {
                digest::digest(&digest::SHA256, m).as_ref().to_vec()
            }),
        ),
    ];
    for secret in &secrets {
        let shared = hmac::Key::new(hmac::HMAC_SHA256, secret);
        let sign = |message: &[u8]| hmac::sign(&shared, message).as_ref().to_vec();
        tokens.push((
            "HS256 with the public key",
            forged(json!({ "alg": "HS256", "kid": "r1" }), &sign),
        ));
    }
    for (what, token) in &tokens {
        assert_eq!(add_seat(&served, token, "X"), (401, "unauthenticated".into()), "{what}");
    }
    assert_eq!(issuer.fetched.load(Ordering::SeqCst), fetched, "none of these is a reason to ask");
    // a key that is not known: one look, however many tokens name it, and then it is nobody's
    std::thread::sleep(Duration::from_secs(11).saturating_sub(begun.elapsed()));
    let stranger = Key::ed25519("stranger");
    let token = stranger.token(&with(json!({})));
    assert_eq!(add_seat(&served, &token, "X"), (503, "unavailable".into()));
    until(|| add_seat(&served, &token, "X") == (401, "unauthenticated".into()));
    for _ in 0..20 {
        assert_eq!(add_seat(&served, &token, "X").0, 401);
    }
    assert_eq!(issuer.fetched.load(Ordering::SeqCst), fetched + 1);
    // rotated: the new key is found after one look, and the old one is no longer good
    let looked = Instant::now();
    let next = Key::p256("e2");
    issuer.publish(&[&next]);
    std::thread::sleep(Duration::from_secs(11).saturating_sub(looked.elapsed()));
    let token = next.token(&with(json!({})));
    until(|| add_seat(&served, &token, "rotated").0 == 200);
    assert_eq!(issuer.fetched.load(Ordering::SeqCst), fetched + 2);
    assert_eq!(add_seat(&served, &rsa.token(&with(json!({}))), "X").0, 401);
}

#[test]
fn an_issuer_that_is_down_keeps_nobody_else_out_and_is_found_when_it_is_up() {
    let place = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = place.local_addr().unwrap();
    drop(place);
    let folder = folder("oidc-down");
    let served = Served::start(&folder, "tickets", &words(&format!("http://{address}"))).unwrap();
    let key = Key::ed25519("d1");
    let token = key.token(&claims(&format!("http://{address}"), json!({})));
    assert_eq!(add_seat(&served, &token, "A1"), (503, "unavailable".into()));
    let made = run_in(&folder, &["token", "new", "olga", "--role", "organizer"]);
    let own = made.exits(0).out.trim().to_string();
    assert_eq!(add_seat(&served, &own, "A1").0, 200);
    let issuer = Issuer::start(TcpListener::bind(address).unwrap());
    issuer.publish(&[&key]);
    until(|| add_seat(&served, &token, "A2").0 == 200);
}

#[track_caller]
fn until(mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not become so");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_wrong_option_says_what_is_wrong() {
    let folder = folder("oidc-options");
    for (words, says) in [
        (&["--oidc-issuer", "https://login.example"][..], "--oidc-audience"),
        (&["--oidc-issuer", "login.example", "--oidc-audience", "a"], "it is an address such as"),
        (&["--oidc-issuer", "http://login.example", "--oidc-audience", "a"], "over `https` alone"),
        (
            &["--oidc-issuer", "https://x.example?a", "--oidc-audience", "a"],
            "without a user, a query",
        ),
        (
            &[
                "--oidc-issuer",
                "https://x.example",
                "--oidc-audience",
                "a",
                "--oidc-role",
                "groups=staff",
            ],
            "CLAIM=VALUE:ROLE",
        ),
        (&["--origin", "*"], "name each origin"),
        (&["--origin", "https://app.example/"], "without a path"),
    ] {
        let words = [&["serve", "tickets", "--store", "memory:"], words].concat();
        run_in(&folder, &words).exits(2).says(says);
    }
}
