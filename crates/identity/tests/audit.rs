//! The audit log holds, or the line that does not is named.

use crate::support;

use identity::{Act, Audit, Broken, Chain, verify};
use serde_json::json;
use support::Folder;

fn log(folder: &Folder, entries: u64) -> (Audit, std::path::PathBuf) {
    std::fs::create_dir_all(folder.path()).unwrap();
    let path = folder.path().join("audit.jsonl");
    let audit = Audit::open(&path);
    for n in 0..entries {
        audit.append(Act::TokenIssued, "olga", json!({ "token": format!("t{n}") })).unwrap();
    }
    (audit, path)
}

fn walk(path: &std::path::Path) -> Result<Chain, Broken> {
    verify(path, &mut |_| {}).unwrap()
}

#[test]
fn entries_come_back_in_order_whoever_wrote_them() {
    let folder = Folder::make();
    let (one, path) = log(&folder, 2);
    let two = Audit::open(&path);
    two.append(Act::Forbidden, "bob \"x\"\n", json!({ "path": "/v1" })).unwrap();
    one.append(Act::ServerStopped, "olga", json!(null)).unwrap();
    let mut seen = Vec::new();
    let chain = verify(&path, &mut |noted| seen.push((noted.number, noted.act.clone()))).unwrap();
    let acts = ["token issued", "token issued", "forbidden", "server stopped"];
    let expected: Vec<(u64, String)> = (1..).zip(acts.map(String::from)).collect();
    assert_eq!(seen, expected);
    assert_eq!(chain.unwrap().entries, 4);
}

#[test]
fn no_byte_changes_unseen() {
    let folder = Folder::make();
    let (_, path) = log(&folder, 3);
    let good = std::fs::read(&path).unwrap();
    let line_of = |at: usize| good[..at].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
    for at in 0..good.len() {
        let mut changed = good.clone();
        changed[at] ^= 1;
        std::fs::write(&path, &changed).unwrap();
        match walk(&path) {
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
        std::fs::write(&path, text).unwrap();
        assert_eq!(walk(&path).unwrap_err().line, line, "{order:?}");
    }
    std::fs::write(&path, &good).unwrap();
    assert_eq!(walk(&path).unwrap().entries, 3);
}

/// Whoever can write the file can also compute hashes: a line that was made anew is sound by itself.
#[test]
fn a_line_that_was_made_anew_does_not_fit_its_neighbours() {
    let (folder, elsewhere) = (Folder::make(), Folder::make());
    let (_, path) = log(&folder, 3);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (other, other_path) = log(&elsewhere, 0);
    other.append(Act::KeyMade, "eve", json!({})).unwrap();
    other.append(Act::TokenIssued, "eve", json!({ "token": "t1" })).unwrap();
    let foreign = std::fs::read_to_string(&other_path).unwrap();
    let foreign = foreign.split_inclusive('\n').nth(1).unwrap();
    std::fs::write(&path, [lines[0], foreign].concat()).unwrap();
    let broken = walk(&path).unwrap_err();
    assert_eq!((broken.line, broken.why), (2, "it does not follow the line before it"));
    // one that follows the first: then the third does not follow it
    std::fs::write(&other_path, lines[0]).unwrap();
    let other = Audit::open(&other_path);
    other.append(Act::TokenIssued, "eve", json!({ "token": "t1" })).unwrap();
    let changed = std::fs::read_to_string(&other_path).unwrap();
    assert_eq!(walk(&other_path).unwrap().entries, 2);
    std::fs::write(&path, [changed.as_str(), lines[2]].concat()).unwrap();
    let broken = walk(&path).unwrap_err();
    assert_eq!((broken.line, broken.why), (3, "it does not follow the line before it"));
}

#[test]
fn an_unfinished_line_is_cut_off_and_that_is_said() {
    let folder = Folder::make();
    let (_, path) = log(&folder, 2);
    let good = std::fs::read(&path).unwrap();
    let last = good[..good.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for cut in [last + 1, good.len() - 1] {
        std::fs::write(&path, &good[..cut]).unwrap();
        let chain = walk(&path).unwrap();
        assert_eq!((chain.entries, chain.torn), (1, (cut - last) as u64));
        Audit::open(&path).append(Act::KeyRotated, "olga", json!({})).unwrap();
        let mut seen = Vec::new();
        let chain = verify(&path, &mut |noted| seen.push((noted.act.clone(), noted.of.clone())));
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
    let text = std::fs::read_to_string(&path).unwrap().replace("t0", "t9");
    std::fs::write(&path, text).unwrap();
    let refused = Audit::open(&path).append(Act::KeyRotated, "olga", json!({})).unwrap_err();
    assert!(refused.to_string().ends_with("is damaged in line 1"), "{refused}");
}

#[test]
fn many_writers_make_one_chain() {
    let folder = Folder::make();
    let (_, path) = log(&folder, 0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let own = Audit::open(&path);
                for _ in 0..10 {
                    own.append(Act::Forbidden, "bob", json!({})).unwrap();
                }
            });
        }
    });
    assert_eq!(walk(&path).unwrap().entries, 40);
}
