//! Random histories with kills: following and building anew give the same hits in the same order.

use std::collections::BTreeMap;

use runtime::{Request, Runtime};
use serde_json::{Value, json};
use store::{Cursor, Partition};

use crate::support::{Chance, DESIGN, Directory, by, found, keys, offer, query};

const QUERIES: [&str; 8] =
    ["bike", "blue", "b*", "bike blue", "red -blue", "\"blue bike\"", "title:äpfel", "42 r*"];

fn step(chance: &mut Chance) -> Request {
    let item = format!("i{}", chance.below(25));
    let city = chance.of(&["Bonn", "Jena"]);
    match chance.below(6) {
        0 => by("sell").with("item", item),
        1 => by("drop").with("item", item),
        2 => by("rename").with("item", item).with("title", chance.text(5)),
        _ => {
            let body = (chance.below(2) == 0).then(|| chance.text(8));
            let call = by("offer").with("item", item).with("title", chance.text(5));
            call.with("body", body).with("city", city).with("kind", chance.of(&["FRESH", "USED"]))
        }
    }
}

/// Everything that is answered, by question: keys, scores, totals, facets.
fn answers(runtime: &Runtime) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for words in QUERIES {
        for (view, city) in [("Find", ""), ("InCity", "Bonn"), ("InCity", "Jena"), ("Titles", "")] {
            if view == "Titles" && words.contains("body:") {
                continue;
            }
            let mut asked = query(view, words);
            asked.params.insert("facet".into(), "city,kind".into());
            if view == "InCity" {
                asked.params.insert("city".into(), city.into());
            }
            all.insert(format!("{view} {city}: {words}"), runtime.view(&asked).unwrap());
        }
    }
    all
}

#[test]
fn following_and_building_anew_agree_through_kills() {
    for seed in 1..=3 {
        let directory = Directory::new(&format!("histories-{seed}"));
        let mut chance = Chance::of_seed(seed);
        let mut runtime = directory.open(DESIGN);
        let (mut kills, mut hits) = (0, 0);
        for round in 0..200 {
            let _ = runtime.call(&step(&mut chance));
            if chance.below(3) == 0 {
                runtime.follow_views().unwrap();
            }
            if chance.below(15) == 0 {
                // the last step is decided, and whether it is durable nobody has waited for
                drop(runtime.begin(&step(&mut chance)).map(|(ticket, _)| ticket));
                drop(runtime);
                runtime = directory.open(DESIGN);
                kills += 1;
            }
            if round % 25 == 24 {
                let followed = answers(&runtime);
                runtime.rebuild_views().unwrap();
                assert_eq!(followed, answers(&runtime), "seed {seed}, round {round}");
                hits += followed.values().map(|page| keys(page).len()).sum::<usize>();
            }
        }
        assert!(kills > 3 && hits > 500, "seed {seed}: {kills} kills, {hits} hits");
    }
}

#[test]
fn a_restart_goes_on_where_it_was() {
    let directory = Directory::new("goes-on");
    let runtime = directory.open(DESIGN);
    offer(&runtime, "a", "bike", None, "");
    assert_eq!(found(&runtime, "Find", "bike"), ["a"]);
    offer(&runtime, "b", "bike", None, "");
    drop(runtime);
    // an index that was built anew would not have what only it knows
    let meta = std::fs::read_dir(directory.indexes().join("Market.Find")).unwrap().next();
    let meta = meta.unwrap().unwrap().path().join("meta.json");
    let before: Value = serde_json::from_slice(&std::fs::read(&meta).unwrap()).unwrap();
    let runtime = directory.open(DESIGN);
    assert_eq!(found(&runtime, "Find", "bike"), ["a", "b"]);
    let after: Value = serde_json::from_slice(&std::fs::read(&meta).unwrap()).unwrap();
    assert_ne!(before["payload"], after["payload"], "it has followed");
    let first = before["segments"][0]["segment_id"].as_str().unwrap();
    let kept = after["segments"].as_array().unwrap().iter();
    assert!(
        kept.into_iter().any(|it| it["segment_id"] == first),
        "what was there is there: {after}"
    );
}

#[test]
fn a_feed_that_was_trimmed_is_made_up_for_by_the_records() {
    let directory = Directory::new("trimmed");
    let store = directory.store();
    let open = || {
        let settings = crate::support::settings(search::Engine::in_directory(directory.indexes()));
        crate::support::on(DESIGN, store.clone(), settings)
    };
    let runtime = open();
    offer(&runtime, "a", "bike", None, "");
    offer(&runtime, "b", "bike", None, "");
    assert_eq!(found(&runtime, "Find", "bike"), ["a", "b"]);
    drop(runtime);
    let runtime = crate::support::on(DESIGN, store.clone(), runtime::Settings::default());
    runtime.call(&by("drop").with("item", "a")).unwrap();
    let last = runtime.call(&by("rename").with("item", "b").with("title", "blue bike")).unwrap();
    let last: Cursor = last.revision.parse().unwrap();
    store::block_on(store.trim(last)).unwrap();
    assert_eq!(last.partition(), Partition::default());
    drop(runtime);
    let runtime = open();
    assert_eq!(found(&runtime, "Find", "bike"), ["b"]);
    assert_eq!(found(&runtime, "Find", "blue"), ["b"]);
}

#[test]
fn a_view_that_is_another_now_has_another_index() {
    let directory = Directory::new("another");
    let runtime = directory.open(DESIGN);
    offer(&runtime, "a", "bike", Some("blue"), "");
    runtime.call(&by("sell").with("item", "a")).unwrap();
    assert_eq!(found(&runtime, "Find", "bike"), [""; 0]);
    let indexes = || std::fs::read_dir(directory.indexes().join("Market.Find")).unwrap().count();
    assert_eq!(indexes(), 1);
    drop(runtime);
    let changed = DESIGN.replace("on title, body where not sold", "on title, body");
    let runtime = directory.open(&changed);
    assert_eq!(found(&runtime, "Find", "bike"), ["a"]);
    assert_eq!(indexes(), 1, "the former one is taken away");
    drop(runtime);
    // a comment is no change
    let meta = crate::support::files(&directory.indexes().join("Market.Find"));
    let runtime = directory.open(&format!("\n// new\n{changed}"));
    assert_eq!(found(&runtime, "Find", "bike"), ["a"]);
    assert_eq!(crate::support::files(&directory.indexes().join("Market.Find"))[..1], meta[..1]);
}

#[test]
fn a_build_that_is_killed_leaves_what_was() {
    use runtime::{TextEngine, TextRecord, TextShape};
    let directory = Directory::new("killed");
    let shape = TextShape {
        name: "d.V".into(),
        mark: "m".into(),
        texts: vec!["t".into()],
        facets: Vec::new(),
    };
    let put = |key: &'static str, text: &str, changes: &mut dyn runtime::TextChanges| {
        let texts = [Some(text.to_string())];
        let record =
            TextRecord { key: key.as_bytes(), group: b"", texts: &texts, facets: &[], truth: b"" };
        changes.put(&record).unwrap();
    };
    let asked = runtime::TextAsked {
        words: "word",
        group: b"",
        after: None,
        limit: 10,
        alone: false,
        facets: &[],
    };
    let engine = search::Engine::in_directory(directory.indexes());
    let index = engine.open(&shape).unwrap();
    assert!(index.snapshot().is_none());
    let mut changes = index.change(true).unwrap().unwrap();
    put("a", "word", changes.as_mut());
    changes.commit("0-1").unwrap();
    drop(changes);
    let mut changes = index.change(true).unwrap().unwrap();
    changes.clear().unwrap();
    put("b", "word", changes.as_mut());
    assert!(index.change(false).unwrap().is_none(), "one changes it at a time");
    let of =
        |found: runtime::TextFound| found.hits.into_iter().map(|hit| hit.key).collect::<Vec<_>>();
    let before = index.snapshot().unwrap();
    assert_eq!(
        of(before.find(&asked).unwrap()),
        [b"a"],
        "until it is whole, the former one serves"
    );
    // what lies on the disk now is what a kill leaves
    let copy = Directory::new("killed-copy");
    for file in crate::support::files(&directory.0) {
        let to = copy.0.join(file.strip_prefix(&directory.0).unwrap());
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        // the threads that write may take a file away meanwhile, which a kill leaves as little
        match std::fs::copy(file, to) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            copied => assert!(copied.is_ok(), "{copied:?}"),
        }
    }
    let left = search::Engine::in_directory(copy.indexes()).open(&shape).unwrap();
    let left = left.snapshot().unwrap();
    assert_eq!((left.cursor(), of(left.find(&asked).unwrap())), ("0-1", vec![b"a".to_vec()]));
    changes.commit("0-2").unwrap();
    drop(changes);
    let now = index.snapshot().unwrap();
    assert_eq!((now.cursor(), of(now.find(&asked).unwrap())), ("0-2", vec![b"b".to_vec()]));
    assert_eq!(of(before.find(&asked).unwrap()), [b"a"], "who looks at the former one still does");
    // and changes that are dropped never were
    let mut changes = index.change(true).unwrap().unwrap();
    put("c", "word", changes.as_mut());
    drop(changes);
    let mut changes = index.change(true).unwrap().unwrap();
    changes.commit("0-3").unwrap();
    drop(changes);
    assert_eq!(of(index.snapshot().unwrap().find(&asked).unwrap()), [b"b"]);
    assert_eq!(json!(index.snapshot().unwrap().cursor()), json!("0-3"));
}
