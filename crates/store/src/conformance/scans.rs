//! Scans: records in key order.

use super::expect::{commit, equal, holds, scan, version};
use super::{Check, Outcome};
use crate::contract::{Page, Store};
use crate::key::KeyRange;
use crate::{Commit, Scan};

pub const CHECKS: &[Check] = &[
    Check { name: "a scan lists a range in key order", run: ranges },
    Check { name: "a scan can go backwards", run: backwards },
    Check { name: "a scan stops at its limit and says so", run: limited },
    Check { name: "a scan sees the latest commit", run: latest },
];

fn fill(store: &dyn Store) -> Outcome {
    let mut filling = Commit::new().put(&b"s/\xff"[..], "last").put("s", "before").put("t", "t");
    for n in [3, 1, 2, 10, 20] {
        filling = filling.put(format!("s/{n}"), n.to_string());
    }
    commit(store, filling)?;
    Ok(())
}

fn keys(page: &Page) -> Vec<String> {
    page.records.iter().map(|(key, _)| key.to_string()).collect()
}

fn ranges(store: &dyn Store) -> Outcome {
    let empty = scan(store, Scan::new(KeyRange::all(), 10))?;
    equal("a scan of nothing", empty.records.len(), 0)?;
    fill(store)?;
    let check = |range: KeyRange, expected: &[&str]| {
        let page = scan(store, Scan::new(range.clone(), 100))?;
        holds("there is no more", !page.more)?;
        equal(&format!("{range:?}"), keys(&page), expected.iter().map(|k| (*k).into()).collect())
    };
    check(KeyRange::prefix("s/"), &["s/1", "s/10", "s/2", "s/20", "s/3", "s/\\xff"])?;
    check(KeyRange::new("s/10", "s/20"), &["s/10", "s/2"])?;
    check(KeyRange::new("s/2", "s/2"), &[])?;
    check(KeyRange::new("s/3", "s/2"), &[])?;
    check(KeyRange::new("", "s/1"), &["s"])?;
    check(KeyRange { start: "s/\x7f".into(), end: None }, &["s/\\xff", "t"])?;
    let page = scan(store, Scan::new(KeyRange::prefix("s/3"), 1))?;
    let (_, record) = &page.records[0];
    equal("the value", &record.value[..], b"3")?;
    equal("the version", record.version, version(store, "s/3")?)
}

fn backwards(store: &dyn Store) -> Outcome {
    fill(store)?;
    let page = scan(store, Scan::new(KeyRange::new("s/1", "s/3"), 3).reversed())?;
    equal("the last three", keys(&page), vec!["s/20".into(), "s/2".into(), "s/10".into()])?;
    holds("there is more", page.more)?;
    let page = scan(store, Scan::new(KeyRange::new("s/3", "s/2"), 3).reversed())?;
    equal("an empty range", page.records.len(), 0)
}

fn limited(store: &dyn Store) -> Outcome {
    fill(store)?;
    let mut range = KeyRange::prefix("s/");
    let mut found = Vec::new();
    loop {
        let page = scan(store, Scan::new(range.clone(), 2))?;
        holds("a page is within its limit", page.records.len() <= 2)?;
        found.extend(keys(&page));
        let Some((last, _)) = page.records.last().filter(|_| page.more) else {
            break;
        };
        range.start = last.next();
    }
    equal("all pages", found.join(" "), "s/1 s/10 s/2 s/20 s/3 s/\\xff".to_owned())?;
    let page = scan(store, Scan::new(KeyRange::prefix("s/"), 6))?;
    holds("a page that ends with the range has no more", !page.more && page.records.len() == 6)
}

fn latest(store: &dyn Store) -> Outcome {
    for n in 0..20 {
        let key = format!("n/{:02}", 20 - n);
        let cursor = commit(store, Commit::new().put(key, "x").delete(format!("n/{:02}", 25 - n)))?;
        let page = scan(store, Scan::new(KeyRange::prefix("n/"), 100).at_least(cursor))?;
        equal("records", page.records.len(), (n + 1).min(5))?;
    }
    Ok(())
}
