//! Pages of a view: what they promise while rows move, by whatever door they are asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use runtime::{CallError, ManualClock, Request, ViewQuery, Viewer};
use serde_json::{Value, json};
use store::Memory;

use crate::support::{Bench, Chance, START, ask, bench, bench_on, compile};

const DESIGN: &str = r#"
design Shelf

actor user

subject Item(item: text) {
    truth ItemState { place: int = 0, room: text = "", owner: actor, title: text = "" }
        visible to user where owner = me
}

step user[put(item: new Item, place: int, room: text, owner: actor)] {
    ItemState := { place: place, room: room, owner: owner, title: "t" }
}
step user[move(item: Item, place: int)] { ItemState.place := place }
step user[drop(item: Item)] { delete item }

view Items(room: text) = list Item order by place desc
view Few(room: text) = list Item order by place limit 3
view Mine of user = list Item where owner = me order by place
view Count = count Item

read user[items(room: text)] = Items(room) paged
read user[mine] = Mine() paged
"#;

fn put(bench: &Bench, item: &str, place: i64, room: &str, owner: &str) {
    let put = ask("user", "put", "ann").with("item", item).with("place", place);
    bench.call(put.with("room", room).with("owner", owner)).unwrap();
}

fn items(room: &str, limit: usize, after: Option<&str>) -> ViewQuery {
    let mut query = ViewQuery { view: "Items".into(), limit: Some(limit), ..ViewQuery::default() };
    query.params.insert("room".into(), json!(room));
    query.after = after.map(str::to_string);
    query
}

fn keys(page: &Value) -> Vec<String> {
    let rows = page["rows"].as_array().expect("rows").iter();
    rows.map(|row| row["key"][0].as_str().expect("a key").to_string()).collect()
}

/// A row that stays where it is comes exactly once, whatever others do meanwhile, and whether or not the server is
/// killed between two pages. One that moves comes as often as it is met; no page shows a row that is not there.
#[test]
fn a_row_that_stays_is_shown_once_while_others_move() {
    for seed in 1..=20_u64 {
        let mut chance = Chance::new(seed);
        let mut below = |most: u64| chance.below(most);
        let store: Arc<dyn store::Store> = Arc::new(Memory::new());
        let clock = Arc::new(ManualClock::new(START));
        let open = || bench_on(compile("shelf", DESIGN), Arc::clone(&store), clock.clone());
        let mut bench = open();
        for at in 0..40 {
            // many share a place, so that keys decide
            put(&bench, &format!("i{at:02}"), below(9) as i64, "r", "ann");
        }
        put(&bench, "elsewhere", 4, "other", "ann");
        let mut touched = BTreeSet::new();
        let mut met: BTreeMap<String, usize> = BTreeMap::new();
        let mut after: Option<String> = None;
        let mut last: Option<(i64, String)> = None;
        loop {
            let limit = 1 + below(7) as usize;
            let page = bench.runtime.view(&items("r", limit, after.as_deref())).unwrap();
            for row in page["rows"].as_array().unwrap() {
                let key = row["key"][0].as_str().unwrap().to_string();
                let place = (-row["truth"]["ItemState"]["place"].as_i64().unwrap(), key.clone());
                assert!(last.as_ref().is_none_or(|last| *last < place), "seed {seed}: order");
                assert_eq!(bench.truth("Item", &key), row["truth"], "seed {seed}: as it is now");
                last = Some(place);
                *met.entry(key).or_default() += 1;
            }
            match page["next"].as_str() {
                Some(next) => after = Some(next.to_string()),
                None => break,
            }
            // some move, some go, some come; odd ones stay
            for _ in 0..below(6) {
                let name = format!("i{:02}", 2 * below(20));
                let done = match below(3) {
                    0 => bench.call(ask("user", "drop", "ann").with("item", &*name)),
                    1 => {
                        let put =
                            ask("user", "put", "ann").with("item", &*name).with("owner", "ann");
                        bench.call(put.with("place", below(9)).with("room", "r"))
                    }
                    _ => {
                        let call = ask("user", "move", "ann").with("item", &*name);
                        bench.call(call.with("place", below(9)))
                    }
                };
                if done.is_ok() {
                    touched.insert(name);
                }
            }
            if below(4) == 0 {
                bench = open();
            }
        }
        for at in 0..40 {
            let name = format!("i{at:02}");
            if !touched.contains(&name) {
                assert_eq!(met.get(&name), Some(&1), "seed {seed}: {name} stayed");
            }
        }
        assert!(!met.contains_key("elsewhere"));
    }
}

#[test]
fn a_page_begins_where_another_of_the_same_rows_ended_and_nowhere_else() {
    let bench = bench(compile("shelf", DESIGN));
    for (item, place, room, owner) in
        [("a", 3, "r", "ann"), ("b", 2, "r", "bob"), ("c", 1, "r", "ann"), ("d", 3, "s", "ann")]
    {
        put(&bench, item, place, room, owner);
    }
    let next = |query: &ViewQuery| {
        bench.runtime.view(query).unwrap()["next"].as_str().expect("there is more").to_string()
    };
    let after_a = next(&items("r", 1, None));
    assert_eq!(keys(&bench.runtime.view(&items("r", 5, Some(&after_a))).unwrap()), ["b", "c"]);
    let wrong = |query: &ViewQuery| match bench.runtime.view(query) {
        Err(CallError::Bad(bad)) => (bad.pointer, bad.message),
        other => panic!("{other:?}"),
    };
    for nonsense in ["", "zz", "00", "0123456", "0011223344"] {
        let (pointer, message) = wrong(&items("r", 5, Some(nonsense)));
        assert_eq!(pointer, "/after", "{nonsense}");
        assert!(message.starts_with("this is "), "{message}");
    }
    // of another room, of another view, of another caller
    assert!(wrong(&items("s", 5, Some(&after_a))).1.contains("other parameters"));
    let mut few = items("r", 1, Some(&after_a));
    few.view = "Few".into();
    assert_eq!(wrong(&few).0, "/after");
    let mut mine = ViewQuery { view: "Mine".into(), limit: Some(1), ..ViewQuery::default() };
    mine.me = Some("ann".into());
    let of_ann = next(&mine);
    mine.after = Some(of_ann);
    assert_eq!(keys(&bench.runtime.view(&mine).unwrap()), ["a"]);
    mine.me = Some("bob".into());
    assert_eq!(wrong(&mine).0, "/after");
}

/// A list that has three rows at most has no page behind them.
#[test]
fn pages_end_where_the_list_does() {
    let bench = bench(compile("shelf", DESIGN));
    for at in 0..5 {
        put(&bench, &format!("i{at}"), at, "r", "ann");
    }
    let mut few = items("r", 2, None);
    few.view = "Few".into();
    let page = bench.runtime.view(&few).unwrap();
    assert_eq!(keys(&page), ["i0", "i1"]);
    few.after = page["next"].as_str().map(str::to_string);
    let page = bench.runtime.view(&few).unwrap();
    assert_eq!((keys(&page), &page["next"]), (vec!["i2".to_string()], &Value::Null));
    few.after = None;
    few.limit = Some(3);
    assert_eq!(bench.runtime.view(&few).unwrap()["next"], Value::Null);
}

#[test]
fn a_read_answers_in_pages() {
    let bench = bench(compile("shelf", DESIGN));
    for at in 0..7 {
        put(&bench, &format!("i{at}"), at, "r", if at % 2 == 0 { "ann" } else { "bob" });
    }
    let pages = |request: Request, viewer: Option<Viewer>| {
        let (mut all, mut next) = (Vec::new(), Value::Null);
        loop {
            let mut asked = request.clone().with("limit", 2).with("after", next);
            asked.viewer = viewer.clone();
            let page = bench.call(asked).unwrap().result;
            assert!(keys(&page).len() <= 2);
            all.push(keys(&page).join(" "));
            next = page["next"].clone();
            if next.is_null() {
                return all;
            }
        }
    };
    let request = ask("user", "items", "ann").with("room", "r");
    assert_eq!(pages(request.clone(), None), ["i6 i5", "i4 i3", "i2 i1", "i0"]);
    let bob = Viewer::with_roles("bob", ["user"]);
    let of_bob = ask("user", "items", "bob").with("room", "r");
    assert_eq!(pages(of_bob, Some(bob.clone())), ["i5 i3", "i1"], "hidden rows leave no gaps");
    assert_eq!(pages(ask("user", "mine", "bob"), Some(bob)), ["i1 i3", "i5"]);
    // both may be left out
    assert_eq!(keys(&bench.call(request.clone()).unwrap().result).len(), 7);
    for (name, value) in [("limit", json!(0)), ("limit", json!(1_001)), ("after", json!("no"))] {
        match bench.call(request.clone().with(name, value)) {
            Err(CallError::Bad(bad)) => assert!(bad.pointer.ends_with(name), "{bad:?}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}
