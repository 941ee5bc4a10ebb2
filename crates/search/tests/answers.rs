//! What is found, and how it is told.

use runtime::{CallError, Settings};
use serde_json::json;
use store::Memory;

use crate::support::{DESIGN, by, found, in_memory, keys, offer, on, query, wrong};

#[test]
fn words_phrases_prefixes_attributes_and_exclusion() {
    let runtime = in_memory(DESIGN);
    offer(&runtime, "a", "Blue bike", Some("hardly used, from Bonn"), "Bonn");
    offer(&runtime, "b", "Bike, blue and old", None, "Bonn");
    offer(&runtime, "c", "Bikini", Some("blue bike shorts, too"), "Jena");
    offer(&runtime, "d", "ÄPFEL & Birnen", Some(""), "Jena");
    let sorted = |words: &str| {
        let mut keys = found(&runtime, "Find", words);
        keys.sort();
        keys.concat()
    };
    assert_eq!(sorted("bike"), "abc");
    assert_eq!(sorted("BLUE bike"), "abc", "both, in any attribute");
    assert_eq!(sorted("\"blue bike\""), "ac", "one behind the other, in one attribute");
    assert_eq!(sorted("\"bike hardly\""), "", "not across attributes");
    assert_eq!(sorted("bik*"), "abc");
    assert_eq!(sorted("biki*"), "c");
    assert_eq!(sorted("title:bike"), "ab");
    assert_eq!(sorted("body:bike"), "c");
    assert_eq!(sorted("title:bik* body:\"blue bike\""), "c");
    assert_eq!(sorted("bike -old"), "ac");
    assert_eq!(sorted("bike -title:bike"), "c");
    assert_eq!(sorted("bike -\"blue bike\""), "b");
    assert_eq!(sorted("bik* -biki*"), "ab");
    assert_eq!(sorted("äpfel"), "d");
    assert_eq!(sorted("car"), "");
    // the condition, and a text that is null
    runtime.call(&by("sell").with("item", "a")).unwrap();
    assert_eq!(sorted("bike"), "bc");
    runtime.call(&by("rename").with("item", "b").with("title", "Car")).unwrap();
    assert_eq!((sorted("bike"), sorted("car")), ("c".into(), "b".into()));
    runtime.call(&by("drop").with("item", "c")).unwrap();
    assert_eq!(sorted("bike"), "");
}

#[test]
fn groups_do_not_see_each_other() {
    let runtime = in_memory(DESIGN);
    offer(&runtime, "a", "bike", None, "Bonn");
    offer(&runtime, "b", "bike", None, "Jena");
    let of = |city: &str| {
        let mut query = query("InCity", "bike");
        query.params.insert("city".into(), city.into());
        runtime.view(&query).unwrap()
    };
    assert_eq!(keys(&of("Bonn")), ["a"]);
    assert_eq!((keys(&of("Jena")), of("Jena")["total"].clone()), (vec!["b".into()], json!(1)));
    assert_eq!(keys(&of("Kiel")), [""; 0]);
    assert_eq!(wrong(&runtime, &query("InCity", "bike")).1, "`city` is missing");
}

#[test]
fn the_best_come_first_and_equal_ones_by_their_keys() {
    let runtime = in_memory(DESIGN);
    for item in ["e", "b", "d", "a", "c"] {
        offer(&runtime, item, "bike", None, "");
    }
    offer(&runtime, "z", "bike bike bike", None, "");
    offer(&runtime, "y", "bike with many other words about other things", None, "");
    offer(&runtime, "x", "bike rare", None, "");
    assert_eq!(found(&runtime, "Find", "bike").concat(), "zabcdexy");
    assert_eq!(found(&runtime, "Find", "bik*").concat(), "abcdexyz", "they all begin so");
    // a rare word weighs more than a common one
    offer(&runtime, "w", "rare rare", None, "");
    let page = runtime.view(&query("Find", "rare")).unwrap();
    assert_eq!(keys(&page), ["w", "x"]);
    let score = |at: usize| page["rows"][at]["score"].as_f64().unwrap();
    assert!(score(0) > score(1) && score(1) > 0.0, "{page}");
}

#[test]
fn what_is_gone_or_in_another_group_has_no_part_in_a_score() {
    let with = |others: usize, drop: bool| {
        let runtime = in_memory(DESIGN);
        offer(&runtime, "a", "bike rare", None, "Bonn");
        offer(&runtime, "b", "bike", None, "Bonn");
        for at in 0..others {
            let item = format!("o{at}");
            offer(&runtime, &item, "rare rare rare", None, if drop { "Bonn" } else { "Jena" });
            runtime.follow_views().unwrap();
            if drop {
                runtime.call(&by("drop").with("item", &item[..])).unwrap();
            }
        }
        let mut query = query("InCity", "rare");
        query.params.insert("city".into(), "Bonn".into());
        runtime.view(&query).unwrap()["rows"].clone()
    };
    let alone = with(0, false);
    assert_eq!(with(5, false), alone, "records of other groups");
    assert_eq!(with(5, true), alone, "records that are gone");
}

#[test]
fn facets_count_all_hits() {
    let runtime = in_memory(DESIGN);
    for (item, city) in [("a", "Jena"), ("b", "Bonn"), ("c", "Bonn"), ("d", "Aachen"), ("e", "")] {
        offer(&runtime, item, "bike", None, city);
    }
    offer(&runtime, "f", "car", None, "Bonn");
    let mut query = query("Find", "bike");
    query.params.insert("facet".into(), "city,kind,sold".into());
    query.limit = Some(1);
    let page = runtime.view(&query).unwrap();
    let of = |value: &str, count: u64| json!({ "value": value, "count": count });
    assert_eq!(
        page["facets"]["city"],
        json!([of("Bonn", 2), of("", 1), of("Aachen", 1), of("Jena", 1)])
    );
    assert_eq!(page["facets"]["kind"], json!([of("FRESH", 5)]));
    assert_eq!(page["facets"]["sold"], json!([of("false", 5)]));
    assert_eq!((page["total"].clone(), page["rows"].as_array().unwrap().len()), (json!(5), 1));
    query.params.insert("facet".into(), "citty".into());
    let (pointer, message) = wrong(&runtime, &query);
    assert_eq!(pointer, "/params/facet");
    assert!(
        message.starts_with("hits are not counted by `citty`") && message.contains("`city`"),
        "{message}"
    );
}

#[test]
fn rows_show_the_record_and_where_it_was_hit() {
    let runtime = in_memory(DESIGN);
    offer(&runtime, "a", "<b>Bike</b>", Some("a 'blue' one & \"more\""), "Bonn");
    let page = runtime.view(&query("Find", "bike blu*")).unwrap();
    let row = &page["rows"][0];
    assert_eq!(row["truth"]["ItemState"]["title"], "<b>Bike</b>");
    assert_eq!(
        row["highlights"],
        json!({
            "title": "&lt;b&gt;<mark>Bike</mark>&lt;/b&gt;",
            "body": "a &#39;<mark>blue</mark>&#39; one &amp; &quot;more&quot;",
        })
    );
    let page = runtime.view(&query("Find", "title:bike")).unwrap();
    assert_eq!(page["rows"][0]["highlights"].as_object().unwrap().len(), 1);
}

#[test]
fn a_query_that_is_wrong_is_told_so() {
    let runtime = in_memory(DESIGN);
    let mut none = query("Find", "");
    assert_eq!(wrong(&runtime, &none).0, "/params/q");
    none.params.remove("q");
    assert_eq!(wrong(&runtime, &none).1, "what to look for is missing, such as `q=word`");
    assert_eq!(
        wrong(&runtime, &query("Find", "\"a")),
        ("/params/q".into(), "the quote before `a` is not closed".into())
    );
    assert_eq!(
        wrong(&runtime, &query("Titles", "body:a")).1,
        "`body` is not searched, only `title`; a colon within a text goes in quotes"
    );
    let mut other = query("Find", "a");
    other.params.insert("city".into(), "Bonn".into());
    assert_eq!(wrong(&runtime, &other).1, "`Find` takes no `city`");
}

#[test]
fn without_an_engine_it_is_said_how_to_get_one() {
    let runtime = on(DESIGN, std::sync::Arc::new(Memory::new()), Settings::default());
    assert!(!runtime.searches());
    let Err(CallError::Unknown(message)) = runtime.view(&query("Find", "a")) else { panic!() };
    assert!(message.ends_with("build with `--features search`"), "{message}");
    runtime.follow_views().unwrap();
}

#[test]
fn an_answer_may_be_behind_unless_a_revision_is_asked_for() {
    let store = std::sync::Arc::new(Memory::new());
    let mut settings = crate::support::settings(search::Engine::in_memory());
    settings.search_lag_ms = 3_600_000;
    let runtime = on(DESIGN, store, settings);
    offer(&runtime, "a", "bike", None, "");
    let page = runtime.view(&query("Find", "bike")).unwrap();
    assert_eq!(keys(&page), ["a"], "the first one who asks has it built");
    let call = by("rename").with("item", "a").with("title", "car");
    let revision = runtime.call(&call).unwrap().revision;
    let behind = runtime.view(&query("Find", "bike")).unwrap();
    assert_eq!((keys(&behind), &behind["revision"]), (vec!["a".into()], &page["revision"]));
    let mut asked = query("Find", "bike");
    asked.at_least = Some(revision.clone());
    let new = runtime.view(&asked).unwrap();
    assert_eq!((keys(&new), new["revision"].as_str().unwrap()), (vec![], &revision[..]));
}
