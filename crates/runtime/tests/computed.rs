//! Records by a key that the step computes: `Taken(show, me)`.

use std::sync::Arc;

use runtime::{CallError, Runtime, Settings};
use serde_json::json;
use store::{Distant, Faults, Store, block_on};

use crate::support::{ask, bench, compile};

const DESIGN: &str = r#"design Shows

actor fan

subject Show(show: text) {
    truth ShowState { host: actor?, note: text = "" }
}

subject Taken(show: Show, who: actor) {
    truth TakenState { seats: int 0..9 = 0 }
}

subject Guest(show: Show, name: text) {
    truth GuestState { greeted: bool = false }
}

subject Row(number: int 1..3) {
    truth RowState { free: int = 2 }
}

step fan[open_show(show: Show)] { ShowState.host := me }

step fan[take(show: Show) { few: Taken(show, me).seats < 2 }] { Taken(show, me).seats += 1 }

step fan[invite(show: Show, name: text)] { new Guest(show, name) {} }

step fan[greet(show: Show, name: text) { there: Guest(show, name) present }] {
    let guest = Guest(show, name)
    guest.greeted := true
}

step fan[wave(show: Show, name: text)] { Guest(show, name).greeted := true }

step fan[sit(number: int) { there: Row(number) present  free: Row(number).free > 0 }] {
    Row(number).free -= 1
}

invariant few: all t in Taken: t.seats <= 2
check { show: 1  fan: 1  name: 1  Row.number: 1..2  sit.number: 0..3 }
"#;

#[test]
fn a_step_finds_the_record_of_whoever_calls() {
    let bench = bench(compile("shows", DESIGN));
    bench.call(ask("fan", "open_show", "ann").with("show", "s")).unwrap();
    let take = |who: &str| ask("fan", "take", who).with("show", "s");
    for who in ["ann", "bob"] {
        bench.call(take(who)).unwrap();
        bench.call(take(who)).unwrap();
        assert_eq!(bench.refused_by(take(who)), "few");
    }
    let entries = block_on(bench.runtime.history()).unwrap();
    let walked = runtime::replay(compile("shows", DESIGN), entries.iter().map(Vec::as_slice));
    assert_eq!(walked, Ok(5));
}

#[test]
fn what_is_not_there_is_refused_and_can_be_asked_for() {
    let bench = bench(compile("shows", DESIGN));
    bench.call(ask("fan", "open_show", "ann").with("show", "s")).unwrap();
    let of = |operation: &str, name: &str| {
        ask("fan", operation, "ann").with("show", "s").with("name", name)
    };
    assert_eq!(bench.refused_by(of("greet", "guy")), "there");
    assert_eq!(bench.refused_by(of("wave", "guy")), "no_such_record");
    bench.call(of("invite", "guy")).unwrap();
    bench.call(of("greet", "guy")).unwrap();
    bench.call(of("wave", "guy")).unwrap();
    // an empty text is no part of a key
    assert_eq!(bench.refused_by(of("greet", "")), "there");
    assert_eq!(bench.refused_by(of("wave", "")), "nothing");
}

#[test]
fn a_key_outside_its_range_names_no_record() {
    let bench = bench(compile("shows", DESIGN));
    let sit = |number: i64| ask("fan", "sit", "ann").with("number", number);
    bench.call(sit(3)).unwrap();
    bench.call(sit(3)).unwrap();
    assert_eq!(bench.refused_by(sit(3)), "free");
    for outside in [0, 4, -1, i64::MAX] {
        assert_eq!(bench.refused_by(sit(outside)), "there");
    }
}

/// What is found by a computed key is part of what a commit rests upon.
#[test]
fn two_runtimes_on_one_distant_store_keep_the_limit() {
    let faults = Faults { delay_us_max: 200, ..Faults::default() };
    let store: Arc<dyn Store> = Arc::new(Distant::new(11, faults));
    let open = || {
        let conflicts = store::Retry { attempts_max: 1_000, ..store::Retry::default() };
        let settings = Settings { conflicts, ..Settings::default() };
        Arc::new(Runtime::open(compile("shows", DESIGN), Arc::clone(&store), settings).unwrap())
    };
    let runtimes = [open(), open()];
    for show in 0..20 {
        let open_show = ask("fan", "open_show", "ann").with("show", format!("s{show}"));
        runtimes[0].call(&open_show).unwrap();
    }
    std::thread::scope(|scope| {
        for runtime in runtimes.iter().cycle().take(8) {
            scope.spawn(move || {
                for show in 0..20 {
                    let take = ask("fan", "take", "bob").with("show", format!("s{show}"));
                    match runtime.call(&take) {
                        Ok(_) => {}
                        Err(CallError::Refused(refused)) => assert_eq!(refused.clause, "few"),
                        Err(other) => panic!("{other}"),
                    }
                }
            });
        }
    });
    for show in 0..20 {
        let key = [json!(format!("s{show}")), json!("bob")];
        let found = block_on(runtimes[0].get("Taken", &key)).unwrap().expect("it was written");
        assert_eq!(found.truth["TakenState"]["seats"], json!(2), "s{show}");
    }
}
