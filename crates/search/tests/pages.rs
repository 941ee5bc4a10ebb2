//! Pages of hits, while records come, change and go.

use std::collections::BTreeSet;

use runtime::Runtime;
use serde_json::Value;

use crate::support::{Chance, DESIGN, Directory, by, found, in_memory, keys, offer, query, wrong};

/// All pages of so many rows, and what happens between them.
fn paged(runtime: &Runtime, words: &str, limit: usize, between: &mut dyn FnMut()) -> Vec<String> {
    let mut asked = query("Find", words);
    asked.limit = Some(limit);
    let mut all = Vec::new();
    loop {
        let page = runtime.view(&asked).unwrap();
        all.extend(keys(&page));
        match &page["next"] {
            Value::String(next) => asked.after = Some(next.clone()),
            _ => return all,
        }
        assert_eq!(keys(&page).len(), limit, "only the last page may be short");
        between();
    }
}

#[test]
fn pages_together_are_the_whole() {
    for seed in 1..=6 {
        let mut chance = Chance::of_seed(seed);
        let runtime = in_memory(DESIGN);
        for at in 0..80 {
            offer(&runtime, &format!("i{at}"), &format!("b {}", chance.text(6)), None, "");
            if chance.below(12) == 0 {
                runtime.follow_views().unwrap();
            }
        }
        for words in ["b", "b*", "b blue", "bi* red", "blue bike"] {
            let whole = found(&runtime, "Find", words);
            for limit in [1, 3, 7, 80] {
                let pages = paged(&runtime, words, limit, &mut || {});
                assert_eq!(pages, whole, "seed {seed}: {words}, {limit} a page");
            }
        }
    }
}

#[test]
fn a_record_that_does_not_change_is_shown_exactly_once_whatever_others_do() {
    for seed in 1..=6 {
        let mut chance = Chance::of_seed(seed);
        let runtime = in_memory(DESIGN);
        for at in 0..40 {
            offer(&runtime, &format!("i{at}"), &format!("bike {}", chance.text(6)), None, "");
        }
        let mut touched = BTreeSet::new();
        let mut new = 0;
        let pages = paged(&runtime, "bike bl*", 3, &mut || {
            // others change how common the words are, and how long a text is on average
            for _ in 0..chance.below(4) {
                let item = format!("i{}", chance.below(40));
                let call = match chance.below(3) {
                    0 => by("drop").with("item", &item[..]),
                    _ => by("rename").with("item", &item[..]).with("title", chance.text(30)),
                };
                let _ = runtime.call(&call);
                touched.insert(item);
                new += 1;
                offer(&runtime, &format!("n{new}"), &chance.text(12), None, "");
            }
            runtime.follow_views().unwrap();
        });
        let shown: BTreeSet<&String> = pages.iter().filter(|key| key.starts_with('i')).collect();
        let of_old = pages.iter().filter(|key| key.starts_with('i') && !touched.contains(*key));
        let old: Vec<&String> = of_old.collect();
        assert_eq!(old.len(), old.iter().collect::<BTreeSet<_>>().len(), "seed {seed}: repeated");
        for key in found(&runtime, "Find", "bike bl*") {
            let is_old = key.starts_with('i') && !touched.contains(&key);
            assert!(!is_old || shown.contains(&key), "seed {seed}: {key} is missing in {pages:?}");
        }
    }
}

#[test]
fn next_survives_a_restart_and_is_of_the_same_query_only() {
    let directory = Directory::new("next");
    let runtime = directory.open(DESIGN);
    for item in ["a", "b", "c", "d"] {
        offer(&runtime, item, "bike", None, "");
    }
    let mut asked = query("Find", "bike");
    asked.limit = Some(2);
    let first = runtime.view(&asked).unwrap();
    assert_eq!(keys(&first), ["a", "b"]);
    asked.after = first["next"].as_str().map(str::to_string);
    runtime.call(&by("drop").with("item", "b")).unwrap();
    drop(runtime);
    let runtime = directory.open(DESIGN);
    assert_eq!(keys(&runtime.view(&asked).unwrap()), ["c", "d"], "its row is gone");
    runtime.rebuild_views().unwrap();
    assert_eq!(keys(&runtime.view(&asked).unwrap()), ["c", "d"]);
    for (words, view) in [("bikes", "Find"), ("bike", "Titles")] {
        let mut other = query(view, words);
        other.after.clone_from(&asked.after);
        let (pointer, message) = wrong(&runtime, &other);
        assert!(pointer == "/after" && message.contains("of another view"), "{message}");
    }
    for damaged in ["", "zz", "00", &format!("{}00", asked.after.as_ref().unwrap())] {
        asked.after = Some(damaged.into());
        assert_eq!(wrong(&runtime, &asked).0, "/after");
    }
}
