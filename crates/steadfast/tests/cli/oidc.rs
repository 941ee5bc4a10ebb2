//! Tokens of an issuer of OpenID Connect, which is a small server of these tests.

use std::net::TcpListener;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use aws_lc_rs::{digest, hmac};
use serde_json::{Value, json};

use super::support::run_in;
use crate::drives::served::{Served, agent};
use crate::issuer::{Issuer, Key, claims, now, text, words};
use crate::openapi::served::folder;

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
