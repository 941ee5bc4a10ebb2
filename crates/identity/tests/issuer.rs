//! Tokens of an issuer, whose documents are handed over by the test.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use aws_lc_rs::hmac;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use identity::{Denied, Fetch, Issuer, IssuerTerms, RoleRule, Roles};
use serde_json::{Value, json};

const URL: &str = "https://login.example";
const NOW: i64 = 1_800_000_000;

fn text(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn head_and_body(head: &Value, body: &Value) -> String {
    format!("{}.{}", text(head.to_string()), text(body.to_string()))
}

fn token(key: &Ed25519KeyPair, kid: &str, body: &Value) -> String {
    let signed = head_and_body(&json!({ "alg": "EdDSA", "kid": kid }), body);
    let signature = text(key.sign(signed.as_bytes()));
    format!("{signed}.{signature}")
}

fn claims() -> Value {
    json!({ "iss": URL, "sub": "ann", "aud": "api", "exp": NOW + 60, "groups": ["staff"] })
}

fn public(key: &Ed25519KeyPair, kid: &str) -> Value {
    json!({ "kty": "OKP", "crv": "Ed25519", "x": text(key.public_key()), "kid": kid, "use": "sig" })
}

#[derive(Clone, Default)]
struct World {
    documents: Arc<Mutex<HashMap<String, String>>>,
    fetched: Arc<AtomicUsize>,
}

impl World {
    fn publish(&self, keys: &[Value]) {
        let mut documents = self.documents.lock().unwrap();
        let configuration = json!({ "issuer": URL, "jwks_uri": "https://keys.example/set" });
        documents
            .insert(format!("{URL}/.well-known/openid-configuration"), configuration.to_string());
        documents.insert("https://keys.example/set".into(), json!({ "keys": keys }).to_string());
    }

    fn fetch(&self) -> Fetch {
        let world = self.clone();
        Box::new(move |url| {
            world.fetched.fetch_add(1, Ordering::SeqCst);
            let found = world.documents.lock().unwrap().get(url).cloned();
            found.map(String::into_bytes).ok_or_else(|| format!("`{url}` is not there"))
        })
    }

    /// `between`: from one look that unknown keys ask for to the next.
    fn issuer(&self, between: Duration) -> Issuer {
        let roles = vec![RoleRule::read("groups=staff:organizer").unwrap()];
        let terms = IssuerTerms { url: URL.into(), audience: "api".into(), roles, between };
        Issuer::start(terms, self.fetch(), Box::new(|_| ())).unwrap()
    }
}

#[test]
fn what_a_token_must_say_and_must_not_say() {
    let (world, key) = (World::default(), Ed25519KeyPair::generate().unwrap());
    world.publish(&[public(&key, "k1")]);
    let issuer = world.issuer(Duration::from_secs(60));
    let verify = |text: &str| issuer.verify(text, NOW).map(|known| known.principal.clone());
    let good = issuer.verify(&token(&key, "k1", &claims()), NOW).unwrap();
    assert_eq!((good.principal.as_str(), &good.roles), ("ann", &Roles::some(["organizer"])));
    assert_eq!(issuer.still_good(&good, NOW + 59), Ok(()));
    assert_eq!(issuer.still_good(&good, NOW + 60), Err(Denied::Expired));
    for (name, value, denied) in [
        ("aud", json!("other"), Denied::OtherService),
        ("aud", json!([]), Denied::OtherService),
        ("aud", json!(["x", "api"]), Denied::Revoked), // good: see below
        ("exp", json!(NOW), Denied::Expired),
        ("exp", json!("never"), Denied::Malformed),
        ("exp", Value::Null, Denied::Malformed),
        ("nbf", json!(NOW + 61), Denied::NotYet),
        ("iss", json!("https://login.example/"), Denied::Malformed),
        ("sub", json!(""), Denied::Malformed),
        ("sub", json!(7), Denied::Malformed),
    ] {
        let mut body = claims();
        body[name] = value.clone();
        let said = verify(&token(&key, "k1", &body));
        match denied {
            Denied::Revoked => assert_eq!(said.as_deref(), Ok("ann"), "{name} {value}"),
            denied => assert_eq!(said, Err(denied), "{name} {value}"),
        }
    }
    assert!(issuer.is_named_by(&token(&key, "k1", &claims())));
    assert!(!issuer.is_named_by("nonsense"));
}

#[test]
fn a_public_key_is_no_secret_and_no_key_of_another_kind() {
    let (world, key) = (World::default(), Ed25519KeyPair::generate().unwrap());
    world.publish(&[public(&key, "k1")]);
    let issuer = world.issuer(Duration::from_secs(60));
    let secret = hmac::Key::new(hmac::HMAC_SHA256, key.public_key().as_ref());
    let by_secret = |message: &[u8]| hmac::sign(&secret, message).as_ref().to_vec();
    let right = |message: &[u8]| key.sign(message).as_ref().to_vec();
    let none = |_: &[u8]| Vec::new();
    type Signs<'s> = &'s dyn Fn(&[u8]) -> Vec<u8>;
    let cases: [(Value, Signs<'_>, Denied); 8] = [
        (json!({ "alg": "none", "kid": "k1" }), &none, Denied::Malformed),
        (json!({ "alg": "HS256", "kid": "k1" }), &by_secret, Denied::Malformed),
        (json!({ "alg": "RS256", "kid": "k1" }), &right, Denied::Signature),
        (json!({ "alg": "ES256", "kid": "k1" }), &right, Denied::Signature),
        (json!({ "alg": "EdDSA", "kid": "k1" }), &by_secret, Denied::Signature),
        (json!({ "alg": "EdDSA", "kid": "k1" }), &none, Denied::Signature),
        (json!({ "alg": "EdDSA", "kid": "k1", "crit": ["exp"] }), &right, Denied::Malformed),
        (json!({ "alg": "EdDSA" }), &right, Denied::Malformed),
    ];
    for (head, sign, denied) in cases {
        let signed = head_and_body(&head, &claims());
        let token = format!("{signed}.{}", text(sign(signed.as_bytes())));
        assert_eq!(issuer.verify(&token, NOW).err(), Some(denied), "{head}");
    }
    for token in ["", ".", "..", "a.b.c", "a.b.c.d"] {
        assert_eq!(issuer.verify(token, NOW).err(), Some(Denied::Malformed), "{token}");
    }
    assert_eq!(
        world.fetched.load(Ordering::SeqCst),
        2,
        "nothing of this is a reason to look again"
    );
}

#[test]
fn an_unknown_key_is_looked_for_once_and_a_new_one_is_found() {
    let (world, old) = (World::default(), Ed25519KeyPair::generate().unwrap());
    world.publish(&[public(&old, "k1")]);
    let between = Duration::from_millis(300);
    let issuer = world.issuer(between);
    let new = Ed25519KeyPair::generate().unwrap();
    let of_new = token(&new, "k2", &claims());
    // there was a look a moment ago
    assert_eq!(issuer.verify(&of_new, NOW).err(), Some(Denied::UnknownKey));
    std::thread::sleep(between);
    assert_eq!(issuer.verify(&of_new, NOW).err(), Some(Denied::Unavailable));
    until(|| world.fetched.load(Ordering::SeqCst) == 4);
    until(|| issuer.verify(&of_new, NOW).err() == Some(Denied::UnknownKey));
    world.publish(&[public(&new, "k2")]);
    std::thread::sleep(between);
    until(|| issuer.verify(&of_new, NOW).is_ok());
    assert_eq!(world.fetched.load(Ordering::SeqCst), 6, "two documents for each look");
    let of_old = token(&old, "k1", &claims());
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(issuer.verify(&of_old, NOW).err(), Some(Denied::UnknownKey));
}

#[test]
fn an_issuer_that_cannot_be_reached_is_found_later_and_another_is_not_taken_for_it() {
    let (world, key) = (World::default(), Ed25519KeyPair::generate().unwrap());
    let issuer = world.issuer(Duration::ZERO);
    let token = token(&key, "k1", &claims());
    assert_eq!(issuer.verify(&token, NOW).err(), Some(Denied::Unavailable));
    let other = json!({ "issuer": "https://evil.example", "jwks_uri": "https://keys.example/set" });
    world.publish(&[public(&key, "k1")]);
    let at = format!("{URL}/.well-known/openid-configuration");
    world.documents.lock().unwrap().insert(at, other.to_string());
    let looks = world.fetched.load(Ordering::SeqCst);
    until(|| world.fetched.load(Ordering::SeqCst) > looks);
    assert_eq!(issuer.verify(&token, NOW).err(), Some(Denied::Unavailable));
    world.publish(&[public(&key, "k1")]);
    until(|| issuer.verify(&token, NOW).is_ok());
}

#[test]
fn rules_and_addresses_that_are_none_are_refused_with_a_reason() {
    for (rule, fine) in [
        ("buyer", true),
        ("tickets/buyer", true),
        ("groups=staff:organizer", true),
        ("https://app.example/groups=a:b", true),
        ("roles=*", true),
        ("", false),
        ("groups=", false),
        ("groups=staff", false),
        ("groups=staff:", false),
        ("=a:b", false),
    ] {
        let read = RoleRule::read(rule);
        assert_eq!(read.is_ok(), fine, "{rule}");
        assert!(read.err().is_none_or(|why| why.contains("CLAIM=VALUE:ROLE")), "{rule}");
    }
    for (url, fine) in [
        ("https://login.example", true),
        ("https://login.example/realms/one", true),
        ("http://127.0.0.1:8080", true),
        ("http://localhost:8080/x", true),
        ("http://login.example", false),
        ("http://127.0.0.1.evil.example", false),
        ("login.example", false),
        ("https://", false),
        ("https://ann@login.example", false),
        ("https://login.example?x", false),
    ] {
        assert_eq!(IssuerTerms::checked_url(url).is_ok(), fine, "{url}");
    }
}

#[track_caller]
fn until(mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not become so");
        std::thread::sleep(Duration::from_millis(20));
    }
}
