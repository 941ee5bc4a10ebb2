//! Tokens: what is let in, and everything that is not.

use crate::support;

use std::os::unix::fs::PermissionsExt;

use identity::{Denied, Error, Identity, Issued, NewToken, Roles, Target};
use support::Folder;

const NOW: i64 = 1_800_000_000;

fn ann() -> NewToken {
    NewToken {
        principal: "ann".into(),
        roles: Roles::some(["buyer"]),
        service: None,
        lifetime_s: 3_600,
    }
}

fn issue(identity: &Identity) -> Issued {
    identity.issue(&ann(), NOW).unwrap()
}

/// A token with some part replaced; the signature stays as it was.
fn with(token: &str, part: usize, text: &str) -> String {
    let mut parts: Vec<&str> = token.split('.').collect();
    parts[part] = text;
    parts.join(".")
}

fn encoded(text: &str) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let bits: Vec<u8> = text.bytes().flat_map(|b| (0..8).rev().map(move |n| b >> n & 1)).collect();
    let letter = |chunk: &[u8]| {
        let value = (0..6).fold(0, |sum, n| sum * 2 + chunk.get(n).copied().unwrap_or(0));
        char::from(ALPHABET[value as usize])
    };
    bits.chunks(6).map(letter).collect()
}

#[test]
fn a_token_says_who_it_is_for_until_it_expires() {
    let identity = Identity::in_memory().unwrap();
    let issued = issue(&identity);
    let signed = identity.verify(&issued.text, NOW).unwrap();
    assert_eq!(signed.claims, issued.claims);
    assert_eq!((signed.claims.sub.as_str(), signed.claims.aud.as_str()), ("ann", "steadfast"));
    assert_eq!(signed.claims.roles, Roles::some(["buyer"]));
    assert_eq!(identity::inspect(&issued.text).unwrap().0, issued.claims);
    // the second look is not a computation, and looks at the clock all the same
    for (at, expected) in [
        (NOW + 3_599, Ok(())),
        (NOW + 3_600, Err(Denied::Expired)),
        (NOW - 60, Ok(())),
        (NOW - 61, Err(Denied::NotYet)),
    ] {
        assert_eq!(identity.verify(&issued.text, at).map(|_| ()), expected, "{at}");
        assert_eq!(identity.still_good(&signed, at), expected, "{at}");
    }
}

#[test]
fn what_was_not_signed_here_is_not_let_in() {
    let identity = Identity::in_memory().unwrap();
    let other = Identity::in_memory().unwrap();
    let good = issue(&identity).text;
    let key = identity.keys().unwrap().remove(0).id;
    let verdict = |token: &str| identity.verify(token, NOW).map(|_| ()).unwrap_err();
    assert_eq!(verdict(&issue(&other).text), Denied::UnknownKey);

    let header = |alg: &str, more: &str| {
        encoded(&format!(r#"{{"alg":"{alg}","typ":"JWT","kid":"{key}"{more}}}"#))
    };
    // the header that is taken, so that the others fail for the reason they name
    assert!(identity.verify(&with(&good, 0, &header("EdDSA", "")), NOW).is_ok());
    for alg in ["none", "None", "HS256", "RS256", "ES256", "eddsa", "Ed25519", ""] {
        assert_eq!(verdict(&with(&good, 0, &header(alg, ""))), Denied::Malformed, "{alg}");
    }
    let more = [
        r#","jwk":{"kty":"OKP"}"#,
        r#","crit":["exp"]"#,
        r#","alg":"none""#,
        r#","x5u":"https://x""#,
        r#","b64":false"#,
    ];
    for more in more {
        assert_eq!(verdict(&with(&good, 0, &header("EdDSA", more))), Denied::Malformed, "{more}");
    }
    let none = with(&with(&good, 0, &header("none", "")), 2, "");
    assert_eq!(verdict(&none), Denied::Malformed);
    let body =
        r#"{"sub":"root","roles":"all","aud":"steadfast","iat":0,"exp":9999999999,"jti":"x"}"#;
    assert_eq!(verdict(&with(&good, 1, &encoded(body))), Denied::Signature);
    // keyed with the public key, which everybody knows
    assert_eq!(verdict(&with(&good, 2, &"A".repeat(86))), Denied::Signature);
    let short = &good[..good.len() - 1];
    for bad in [
        "",
        ".",
        "..",
        "a.b.c",
        short,
        &format!("{good}."),
        &format!("{good}="),
        &format!(" {good}"),
        &format!("{good}.{good}"),
        &good.replace('.', ".."),
        &"x".repeat(identity::TOKEN_MAX + 1),
    ] {
        assert_eq!(verdict(bad), Denied::Malformed, "{bad}");
    }
    // every letter counts
    for at in 0..good.len() {
        let mut changed = good.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        assert!(identity.verify(&String::from_utf8(changed).unwrap(), NOW).is_err(), "letter {at}");
    }
    assert!(identity.verify(&good, NOW).is_ok());
    // what the caller is told does not say how far a forgery got
    assert_eq!(Denied::Signature.told(), Denied::UnknownKey.told());
    assert_eq!(Denied::Signature.told(), Denied::OtherService.told());
}

#[test]
fn a_token_for_another_service_is_good_there_alone() {
    let identity = Identity::in_memory().unwrap();
    let there = NewToken { service: Some("billing".into()), ..ann() };
    let token = identity.issue(&there, NOW).unwrap().text;
    for _ in 0..2 {
        assert_eq!(identity.verify(&token, NOW).unwrap_err(), Denied::OtherService);
    }
}

#[test]
fn what_is_revoked_is_out_at_once_in_every_process() {
    let folder = Folder::make();
    let server = Identity::open(folder.path(), true).unwrap();
    let tool = Identity::open(folder.path(), false).unwrap();
    let (one, two) = (issue(&tool), issue(&tool));
    let bob = tool.issue(&NewToken { principal: "bob".into(), ..ann() }, NOW).unwrap();
    let signed = server.verify(&one.text, NOW).unwrap();
    assert!(server.verify(&two.text, NOW).is_ok());
    tool.revoke(Target::Token(&one.claims.jti), NOW).unwrap();
    assert_eq!(server.verify(&one.text, NOW).unwrap_err(), Denied::Revoked);
    assert_eq!(server.still_good(&signed, NOW), Err(Denied::Revoked));
    assert!(server.verify(&two.text, NOW).is_ok());
    tool.revoke(Target::Principal("ann"), NOW).unwrap();
    assert_eq!(server.verify(&two.text, NOW).unwrap_err(), Denied::Revoked);
    assert!(server.verify(&bob.text, NOW).is_ok());
    // let in again in the same second
    let again = issue(&tool);
    assert!(server.verify(&again.text, NOW).is_ok());
    let listed = server.tokens().unwrap();
    let seen: Vec<(&str, bool)> =
        listed.iter().map(|token| (token.principal.as_str(), token.revoked)).collect();
    assert_eq!(seen.iter().filter(|seen| **seen == ("ann", true)).count(), 2);
    assert!(seen.contains(&("bob", false)));

    // and after a restart
    let restarted = Identity::open(folder.path(), false).unwrap();
    for revoked in [&one, &two] {
        assert_eq!(restarted.verify(&revoked.text, NOW).unwrap_err(), Denied::Revoked);
    }
    assert!(restarted.verify(&again.text, NOW).is_ok());
}

#[test]
fn old_keys_are_good_until_they_are_retired() {
    let folder = Folder::make();
    let server = Identity::open(folder.path(), true).unwrap();
    let tool = Identity::open(folder.path(), false).unwrap();
    let (old_token, old_seal) = (issue(&server).text, server.seal(b"epoch 3").unwrap());
    let old = server.keys().unwrap()[0].id.clone();
    assert!(matches!(tool.retire(&old), Err(Error::Wrong(_))), "it is the only one");
    let new = tool.rotate().unwrap();
    let new_token = issue(&tool);
    assert_eq!(new_token.key, new);
    assert!(server.verify(&new_token.text, NOW).is_ok(), "the server learns of the key");
    assert!(server.verify(&old_token, NOW).is_ok());
    assert_eq!(server.unseal(&old_seal).as_deref(), Some(&b"epoch 3"[..]));
    assert_ne!(server.seal(b"epoch 3").unwrap(), old_seal);
    tool.retire(&old).unwrap();
    assert_eq!(server.verify(&old_token, NOW).unwrap_err(), Denied::UnknownKey);
    assert_eq!(server.unseal(&old_seal), None);
    assert!(server.verify(&new_token.text, NOW).is_ok());
    assert!(!folder.path().join(format!("{old}.key")).exists(), "its secrets are gone");
    let keys = Identity::open(folder.path(), false).unwrap().keys().unwrap();
    assert_eq!(keys.len(), 2);
    assert!(keys[0].retired_at.is_some() && keys[0].public.is_none());
    assert!(keys[1].current && keys[1].id == new);
    assert!(matches!(tool.retire(&old), Err(Error::Wrong(_))));
    assert!(matches!(tool.retire("no"), Err(Error::Wrong(_))));
}

#[test]
fn keys_are_for_their_owner_alone() {
    let folder = Folder::make();
    assert!(matches!(Identity::open(folder.path(), false), Err(Error::Missing { .. })));
    let identity = Identity::open(folder.path(), true).unwrap();
    issue(&identity);
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(folder.path()) & 0o777, 0o700);
    let mut files = 0;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path) & 0o777, 0o600, "{}", path.display());
        files += 1;
    }
    assert_eq!(files, 3, "a key, the ledger, the audit log");
    let key = folder.path().join(format!("{}.key", identity.keys().unwrap()[0].id));
    for (path, loose, tight) in [(key.as_path(), 0o640, 0o600), (folder.path(), 0o755, 0o700)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(loose)).unwrap();
        let opened = Identity::open(folder.path(), true).err();
        assert!(matches!(opened, Some(Error::Open { .. })), "{opened:?}");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(tight)).unwrap();
    }
    assert!(Identity::open(folder.path(), true).is_ok());
}

#[test]
fn a_ledger_that_cannot_be_read_lets_nobody_in() {
    let folder = Folder::make();
    let server = Identity::open(folder.path(), true).unwrap();
    let token = issue(&server);
    let path = folder.path().join("ledger.jsonl");
    let good = std::fs::read(&path).unwrap();
    // a line that was never finished changes nothing, and the next one is whole
    let torn = [&good[..], br#"{"at":1,"event":"token-rev"#].concat();
    std::fs::write(&path, &torn).unwrap();
    assert!(server.verify(&token.text, NOW).is_ok());
    server.revoke(Target::Token("other"), NOW).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with(std::str::from_utf8(&good).unwrap()));
    assert_eq!(text.lines().count(), std::str::from_utf8(&good).unwrap().lines().count() + 1);
    assert!(server.verify(&token.text, NOW).is_ok());
    let damaged = [&good[..], b"nonsense\n"].concat();
    std::fs::write(&path, &damaged).unwrap();
    assert_eq!(server.verify(&token.text, NOW).unwrap_err(), Denied::Unavailable);
    let lines = damaged.iter().filter(|byte| **byte == b'\n').count();
    let expected = Error::Damaged { path: path.clone(), line: lines };
    assert_eq!(Identity::open(folder.path(), false).err(), Some(expected));
    std::fs::remove_file(&path).unwrap();
    assert_eq!(server.verify(&token.text, NOW).unwrap_err(), Denied::Unavailable);
    std::fs::write(&path, &good).unwrap();
    assert!(server.verify(&token.text, NOW).is_ok());
}

#[test]
fn names_that_cannot_be_shown_are_not_issued() {
    let identity = Identity::in_memory().unwrap();
    let long = "x".repeat(257);
    for new in [
        NewToken { principal: String::new(), ..ann() },
        NewToken { principal: "a\nb".into(), ..ann() },
        NewToken { principal: long.clone(), ..ann() },
        NewToken { roles: Roles::some([""]), ..ann() },
        NewToken { roles: Roles::some(vec!["r"; 65]), ..ann() },
        NewToken { roles: Roles::some(vec![&long[1..]; 64]), ..ann() },
        NewToken { service: Some(String::new()), ..ann() },
        NewToken { lifetime_s: 0, ..ann() },
    ] {
        assert!(matches!(identity.issue(&new, NOW), Err(Error::Wrong(_))), "{new:?}");
    }
    assert!(identity.tokens().unwrap().is_empty());
}

#[test]
fn many_threads_agree() {
    let folder = Folder::make();
    let server = Identity::open(folder.path(), true).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let own = Identity::open(folder.path(), true).unwrap();
                for _ in 0..5 {
                    let token = issue(&own);
                    assert!(server.verify(&token.text, NOW).is_ok());
                    own.revoke(Target::Token(&token.claims.jti), NOW).unwrap();
                    assert_eq!(server.verify(&token.text, NOW).unwrap_err(), Denied::Revoked);
                }
            });
        }
    });
    assert_eq!(server.tokens().unwrap().len(), 20);
    assert_eq!(server.keys().unwrap().len(), 1, "made once, however many open it");
    let audit = server.verify_audit(&mut |_| {}).unwrap().unwrap();
    assert_eq!((audit.entries, audit.torn), (41, 0), "a key, twenty issued, twenty revoked");
}
