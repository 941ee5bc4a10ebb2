//! Rows by their distance: the same as by hand, while they move, after a restart, and for those who see only some.

use std::sync::Arc;

use runtime::{CallError, Runtime, Settings, ViewQuery, Viewer};
use serde_json::{Value, json};
use store::{Memory, Store};

use crate::support::{Bench, Chance, ask, bench, compile};

const DESIGN: &str = r#"
design Couriers

actor rider
actor clerk

subject Courier(courier: text) {
    truth CourierState { city: text = "", free: bool = true, owner: actor }
    truth Position { at: point? } visible to clerk visible to rider where owner = me
}

step rider[join(courier: new Courier, city: text)] { CourierState := { city: city, owner: me } }
step rider[move(courier: Courier, at: point?)] { Position.at := at }
step rider[take(courier: Courier)] { CourierState.free := false }
step rider[leave(courier: Courier)] { delete courier }

view Free(city: text, here: point) = near Courier on at from here where free
view Few(here: point) = near Courier on at from here within 50km first 3

read clerk[few(here: point)] = Few(here) paged
"#;

fn join(bench: &Bench, courier: &str, city: &str, at: Value) {
    let who = format!("of_{courier}");
    let join = ask("rider", "join", &who).with("courier", courier).with("city", city);
    bench.call(join).unwrap();
    bench.call(ask("rider", "move", &who).with("courier", courier).with("at", at)).unwrap();
}

fn query(view: &str, params: Value) -> ViewQuery {
    let params = params.as_object().expect("parameters").clone();
    ViewQuery { view: view.into(), params, ..ViewQuery::default() }
}

fn keys(page: &Value) -> Vec<&str> {
    let rows = page["rows"].as_array().expect("rows").iter();
    rows.map(|row| row["key"][0].as_str().expect("a key")).collect()
}

#[test]
fn the_nearest_come_first_with_their_distance() {
    let bench = bench(compile("couriers", DESIGN));
    join(&bench, "zurich", "z", json!([8.5417, 47.3769]));
    join(&bench, "winterthur", "z", json!([8.7241, 47.4988]));
    join(&bench, "bern", "b", json!([7.4474, 46.9480]));
    join(&bench, "nowhere", "z", Value::Null);
    let near = |here: &str, city: &str| {
        bench.runtime.view(&query("Free", json!({ "here": here, "city": city }))).unwrap()
    };
    let page = near("8.54,47.37", "z");
    assert_eq!(keys(&page), ["zurich", "winterthur"]);
    // by the formula of another library: 777.3 m and 19.87 km
    let far = |at: usize| page["rows"][at]["distance_m"].as_f64().unwrap();
    assert!((770.0..790.0).contains(&far(0)), "{page}");
    assert!((19_700.0..20_000.0).contains(&far(1)), "{page}");
    // Bern is 95 km from Zürich: beyond the 50 km of the view, and in another city for the other one
    let few = bench.runtime.view(&query("Few", json!({ "here": [8.54, 47.37] }))).unwrap();
    assert_eq!(keys(&few), ["zurich", "winterthur"]);
    let nearer = query("Few", json!({ "here": [8.54, 47.37], "within": "1km" }));
    assert_eq!(keys(&bench.runtime.view(&nearer).unwrap()), ["zurich"]);
    // who asks for more than the view gives gets what the view gives
    let farther = query("Few", json!({ "here": [8.54, 47.37], "within": "500km" }));
    assert_eq!(keys(&bench.runtime.view(&farther).unwrap()), ["zurich", "winterthur"]);
    bench.call(ask("rider", "take", "of_zurich").with("courier", "zurich")).unwrap();
    assert_eq!(keys(&near("8.54,47.37", "z")), ["winterthur"]);
    let gone = ask("rider", "move", "of_winterthur").with("courier", "winterthur");
    bench.call(gone.with("at", Value::Null)).unwrap();
    assert_eq!(keys(&near("8.54,47.37", "z")), Vec::<&str>::new());
}

#[test]
fn what_is_no_point_or_no_length_is_told_and_changes_nothing() {
    let bench = bench(compile("couriers", DESIGN));
    join(&bench, "a", "z", json!([180, -90]));
    for wrong in [json!([181, 0]), json!([0, 90.5]), json!([1]), json!([1, 2, 3]), json!("here")] {
        let moved = ask("rider", "move", "of_a").with("courier", "a").with("at", wrong.clone());
        let error = bench.call(moved).unwrap_err();
        let CallError::Bad(bad) = &error else { panic!("{wrong}: {error:?}") };
        assert!(bad.message.contains("a point: [longitude, latitude]"), "{}", bad.message);
    }
    let asked = |params: Value| match bench.runtime.view(&query("Few", params)).unwrap_err() {
        CallError::Bad(bad) => (bad.pointer, bad.message),
        other => panic!("{other:?}"),
    };
    assert_eq!(asked(json!({})).1, "`here` is missing");
    let (pointer, message) = asked(json!({ "here": "8.54" }));
    assert_eq!(pointer, "/params/here");
    assert!(message.contains("expected a point: longitude and latitude"), "{message}");
    let (pointer, message) = asked(json!({ "here": "8.54,47", "within": "5 miles" }));
    assert_eq!(pointer, "/params/within");
    assert!(message.contains("expected a length, such as `500m` or `5km`"), "{message}");
    assert_eq!(asked(json!({ "here": "8.54,47", "far": "1" })).1, "`Few` takes no `far`");
}

#[test]
fn pages_go_on_where_the_one_before_ended_and_end_with_the_view() {
    let bench = bench(compile("couriers", DESIGN));
    for at in 0..9 {
        // three of them at each of three places
        join(&bench, &format!("c{at}"), "z", json!([8.0 + f64::from(at % 3) / 10.0, 47.0]));
    }
    let mut all = query("Free", json!({ "here": "8.0,47.0", "city": "z" }));
    all.limit = Some(2);
    let mut found: Vec<String> = Vec::new();
    loop {
        let page = bench.runtime.view(&all).unwrap();
        found.extend(keys(&page).iter().map(|key| key.to_string()));
        match page["next"].as_str() {
            Some(next) => all.after = Some(next.into()),
            None => break,
        }
    }
    assert_eq!(found, ["c0", "c3", "c6", "c1", "c4", "c7", "c2", "c5", "c8"]);
    // no more than the view has, however they are asked for
    let mut few = query("Few", json!({ "here": "8.0,47.0" }));
    few.limit = Some(2);
    let first = bench.runtime.view(&few).unwrap();
    assert_eq!(keys(&first), ["c0", "c3"]);
    few.after = first["next"].as_str().map(str::to_string);
    let second = bench.runtime.view(&few).unwrap();
    assert_eq!(keys(&second), ["c6"]);
    assert_eq!(second["next"], Value::Null);
    // a place on the way from one point is none on the way from another
    few.params.insert("here".into(), json!("8.1,47.0"));
    let error = bench.runtime.view(&few).unwrap_err();
    assert!(matches!(&error, CallError::Bad(bad) if bad.pointer == "/after"), "{error:?}");
    // the read in pages is the same by another door
    let read = ask("clerk", "few", "cleo").with("here", json!([8.0, 47.0])).with("limit", 2);
    let read = bench.call(read).unwrap();
    assert_eq!(keys(&read.result), ["c0", "c3"]);
}

#[test]
fn who_may_not_see_where_somebody_is_is_not_told_by_the_order() {
    let bench = bench(compile("couriers", DESIGN));
    for at in 0..4 {
        join(&bench, &format!("c{at}"), "z", json!([8.0 + f64::from(at) / 1e3, 47.0]));
    }
    let few = query("Few", json!({ "here": "8.0,47.0" }));
    let seen_by = |principal: &str, role: &str| {
        bench.runtime.view_as(&few, Some(&Viewer::with_roles(principal, [role]))).unwrap()
    };
    let own = seen_by("of_c3", "rider");
    assert_eq!(keys(&own), ["c3"]);
    let all = seen_by("cleo", "clerk");
    assert_eq!(keys(&all), ["c0", "c1", "c2"]);
}

/// Following, building anew and looking at every record by hand say the same, with the store opened anew in between.
#[test]
fn following_building_anew_and_measuring_by_hand_agree() {
    for seed in 1..=6_u64 {
        let mut chance = Chance::new(seed);
        let mut below = |most: u64| chance.below(most);
        let store: Arc<dyn Store> = Arc::new(Memory::new());
        let open = || {
            let design = compile("couriers", DESIGN);
            Runtime::open(design, Arc::clone(&store), Settings::default()).unwrap()
        };
        let mut runtime = open();
        for round in 0..300 {
            let courier = format!("c{}", below(20));
            let by = |operation: &str| ask("rider", operation, "ann").with("courier", &*courier);
            let asked = match below(8) {
                0 | 1 => by("join").with("city", if below(2) == 0 { "z" } else { "b" }),
                2 => by("take"),
                3 => by("leave"),
                4 => by("move").with("at", Value::Null),
                // many at the same places, some beyond the date line
                _ => {
                    let east = [179.5, -179.5, 0.0, 0.25][below(4) as usize];
                    by("move").with("at", json!([east, below(3) as f64 / 10.0]))
                }
            };
            let _ = runtime.call(&asked);
            if round % 60 == 59 {
                let asked = query("Free", json!({ "here": "179.9,0.05", "city": "z" }));
                let followed = runtime.view(&asked).unwrap();
                runtime.rebuild_views().unwrap();
                assert_eq!(followed, runtime.view(&asked).unwrap(), "seed {seed}");
                runtime = open();
                assert_eq!(followed, runtime.view(&asked).unwrap(), "seed {seed}");
                assert_eq!(keys(&followed), by_hand(&runtime), "seed {seed}, {followed}");
            }
        }
    }
}

fn by_hand(runtime: &Runtime) -> Vec<String> {
    let mut found: Vec<(i64, String)> = Vec::new();
    for at in 0..20 {
        let key = format!("c{at}");
        let record = store::block_on(runtime.get("Courier", &[json!(key)])).unwrap();
        let Some(truth) = record.map(|record| record.truth) else { continue };
        let state = &truth["CourierState"];
        let Some(point) = truth["Position"]["at"].as_array() else { continue };
        if state["city"] != "z" || state["free"] != true {
            continue;
        }
        let (east, north) = (point[0].as_f64().unwrap(), point[1].as_f64().unwrap());
        let (here_east, here_north) = (179.9_f64.to_radians(), 0.05_f64.to_radians());
        let (east, north) = (east.to_radians(), north.to_radians());
        let cosine = here_north.sin() * north.sin()
            + here_north.cos() * north.cos() * (east - here_east).cos();
        // to ten metres: the places are farther apart than that
        found.push(((cosine.clamp(-1.0, 1.0).acos() * 637_100.0).round() as i64, key));
    }
    // a key sorts as its bytes do
    found.sort();
    found.into_iter().map(|(_, key)| key).collect()
}
