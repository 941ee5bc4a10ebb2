//! The audit log holds, or the line that does not is named.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support;

use identity::{Act, Broken, Chain, Identity};
use serde_json::json;
use support::Folder;

/// A log whose first line says that a key was made, and so many more.
fn log(folder: &Folder, entries: u64) -> (Identity, PathBuf) {
    let identity = Identity::open(folder.path(), true).unwrap();
    for n in 0..entries {
        identity.note(Act::TokenIssued, "olga", json!({ "token": format!("t{n}") })).unwrap();
    }
    (identity, folder.path().join("audit.jsonl"))
}

fn walk(identity: &Identity) -> Result<Chain, Broken> {
    identity.verify_audit(&mut |_| {}).unwrap()
}

fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    text.split_inclusive('\n').map(str::to_string).collect()
}

#[test]
fn entries_come_back_in_order_whoever_wrote_them() {
    let folder = Folder::make();
    let (one, _) = log(&folder, 2);
    let two = Identity::open(folder.path(), false).unwrap();
    two.note(Act::Forbidden, "bob \"x\"\n", json!({ "path": "/v1" })).unwrap();
    one.note(Act::ServerStopped, "olga", json!(null)).unwrap();
    let mut seen = Vec::new();
    let chain = one.verify_audit(&mut |noted| seen.push((noted.number, noted.act.clone())));
    let acts = ["key made", "token issued", "token issued", "forbidden", "server stopped"];
    let expected: Vec<(u64, String)> = (1..).zip(acts.map(String::from)).collect();
    assert_eq!(seen, expected);
    let chain = chain.unwrap().unwrap();
    assert_eq!((chain.entries, chain.unsigned, chain.torn), (5, 0, 0));
}

#[test]
fn no_byte_changes_unseen() {
    let folder = Folder::make();
    let (identity, path) = log(&folder, 2);
    let good = fs::read(&path).unwrap();
    let line_of = |at: usize| good[..at].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
    for at in 0..good.len() {
        let mut changed = good.clone();
        changed[at] ^= 1;
        fs::write(&path, &changed).unwrap();
        match walk(&identity) {
            Err(broken) => assert_eq!(broken.line, line_of(at), "byte {at}"),
            // the last end of line: the line counts as unfinished
            Ok(chain) => assert_eq!((at + 1, chain.entries), (good.len(), 2)),
        }
    }
    let lines: Vec<&[u8]> = good.split_inclusive(|byte| *byte == b'\n').collect();
    for (order, line) in
        [(vec![0, 2], 2), (vec![1, 2], 1), (vec![0, 2, 1], 2), (vec![0, 0, 1, 2], 2), (vec![2], 1)]
    {
        let text: Vec<u8> = order.iter().flat_map(|at| lines[*at]).copied().collect();
        fs::write(&path, text).unwrap();
        assert_eq!(walk(&identity).unwrap_err().line, line, "{order:?}");
    }
    fs::write(&path, &good).unwrap();
    assert_eq!(walk(&identity).unwrap().entries, 3);
}

/// Whoever can write the file can also compute hashes, and has keys of their own.
#[test]
fn a_log_that_was_made_anew_is_not_signed_by_this_service() {
    let (folder, elsewhere) = (Folder::make(), Folder::make());
    let (identity, path) = log(&folder, 3);
    let (eve, made) = log(&elsewhere, 0);
    eve.note(Act::TokenIssued, "eve", json!({ "token": "t1" })).unwrap();
    // whole: sound in itself, and none of ours
    fs::copy(&made, &path).unwrap();
    let broken = walk(&identity).unwrap_err();
    assert_eq!(
        (broken.line, broken.why),
        (1, "it is signed with a key that is none of this service's")
    );
    // a line that follows ours
    let good = Folder::make();
    let (identity, path) = log(&good, 3);
    let ours = lines(&path);
    fs::write(&made, &ours[0]).unwrap();
    let eve = Identity::open(elsewhere.path(), false).unwrap();
    eve.note(Act::TokenIssued, "eve", json!({ "token": "t1" })).unwrap();
    fs::copy(&made, &path).unwrap();
    let broken = walk(&identity).unwrap_err();
    assert_eq!(
        (broken.line, broken.why),
        (2, "it is signed with a key that is none of this service's")
    );
    // the signatures taken off, and the hashes computed anew
    let bare = |line: &String| {
        let hash = line.find("\",\"key\":\"").unwrap();
        format!("{}\"}}\n", &line[..hash])
    };
    fs::write(&path, ours.iter().map(bare).collect::<String>()).unwrap();
    let broken = walk(&identity).unwrap_err();
    assert_eq!(broken.line, 5);
    assert!(broken.why.starts_with("the log ends before any signature"), "{broken:?}");
    fs::write(&path, [ours[0].clone(), bare(&ours[1])].concat()).unwrap();
    let broken = walk(&identity).unwrap_err();
    assert_eq!((broken.line, broken.why), (2, "it bears no signature, and an earlier line does"));
    // and nothing at all
    fs::write(&path, "").unwrap();
    assert_eq!(walk(&identity).unwrap_err().line, 1);
}

/// Lines of an earlier version have no signature; the first one that has covers them.
#[test]
fn a_log_of_an_earlier_version_is_signed_from_the_next_entry_on() {
    let folder = Folder::make();
    let (identity, path) = log(&folder, 0);
    let hash = |entry: &str| {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"steadfast audit 1\n").update(entry.as_bytes());
        hasher.finalize().to_hex().to_string()
    };
    let (mut previous, mut old) = ("0".repeat(64), String::new());
    for number in 1..=2 {
        let entry = json!({
            "number": number, "at": "2026-01-01T00:00:00.000Z", "act": "forbidden", "by": "bob",
            "of": {}, "previous": previous,
        });
        let entry = entry.to_string();
        previous = hash(&entry);
        old.push_str(&format!("{{\"entry\":{entry},\"hash\":\"{previous}\"}}\n"));
    }
    fs::write(&path, &old).unwrap();
    assert_eq!(walk(&identity).unwrap_err().line, 3, "nothing is signed yet");
    let identity = Identity::open(folder.path(), false).unwrap();
    identity.note(Act::ServerStarted, "steadfast", json!({})).unwrap();
    let chain = walk(&identity).unwrap();
    assert_eq!((chain.entries, chain.unsigned), (3, 2));
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("bob", "eve", 1)).unwrap();
    assert_eq!(walk(&identity).unwrap_err().line, 1);
}

#[test]
fn what_a_retired_key_signed_still_holds() {
    let folder = Folder::make();
    let (identity, _) = log(&folder, 1);
    let first = identity.keys().unwrap()[0].id.clone();
    identity.rotate().unwrap();
    identity.retire(&first).unwrap();
    identity.note(Act::Forbidden, "bob", json!({})).unwrap();
    let chain = walk(&identity).unwrap();
    assert_eq!((chain.entries, chain.unsigned), (5, 0));
}

#[test]
fn an_unfinished_line_is_cut_off_and_that_is_said() {
    let folder = Folder::make();
    let (_, path) = log(&folder, 1);
    let good = fs::read(&path).unwrap();
    let last = good[..good.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for cut in [last + 1, good.len() - 1] {
        fs::write(&path, &good[..cut]).unwrap();
        let identity = Identity::open(folder.path(), false).unwrap();
        let chain = walk(&identity).unwrap();
        assert_eq!((chain.entries, chain.torn), (1, (cut - last) as u64));
        identity.note(Act::KeyRotated, "olga", json!({})).unwrap();
        let mut seen = Vec::new();
        let chain =
            identity.verify_audit(&mut |noted| seen.push((noted.act.clone(), noted.of.clone())));
        let chain = chain.unwrap().unwrap();
        assert_eq!((chain.entries, chain.torn), (3, 0));
        assert_eq!(seen[1], ("log mended".into(), json!({ "bytes": cut - last })));
        assert_eq!(seen[2].0, "key rotated");
    }
}

#[test]
fn nothing_is_added_to_a_log_that_does_not_hold() {
    let folder = Folder::make();
    let (_, path) = log(&folder, 2);
    let text = fs::read_to_string(&path).unwrap().replace("\"t0\"", "\"t9\"");
    fs::write(&path, text).unwrap();
    let identity = Identity::open(folder.path(), false).unwrap();
    let refused = identity.note(Act::KeyRotated, "olga", json!({})).unwrap_err();
    assert!(refused.to_string().ends_with("is damaged in line 2"), "{refused}");
}

#[test]
fn many_writers_make_one_chain() {
    let folder = Folder::make();
    let (identity, _) = log(&folder, 0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let own = Identity::open(folder.path(), false).unwrap();
                for _ in 0..10 {
                    own.note(Act::Forbidden, "bob", json!({})).unwrap();
                }
            });
        }
    });
    assert_eq!(walk(&identity).unwrap().entries, 41);
}
