//! What simulated worlds have to come to: each design goes wrong in one corner alone, and is found there.

use simulator::{Simulator, Size};

use crate::plants::compile;

/// So many worlds at most.
const WORLDS: u64 = 60;

/// What goes wrong in the first world that does.
fn found(text: &str) -> Option<String> {
    let simulator = Simulator::new(compile(text), Size::default()).unwrap();
    let outcomes = (0..WORLDS).map(|seed| simulator.draw(seed));
    outcomes.filter_map(|outcome| outcome.trouble).map(|trouble| trouble.kind()).next()
}

/// Wrong as it is written, and right with one change: so it is this corner, and no other one.
fn only_there(text: &str, kind: &str, right: (&str, &str)) {
    assert_eq!(found(text).as_deref(), Some(kind), "{text}");
    let mended = text.replacen(right.0, right.1, 1);
    assert_ne!(mended, text, "`{}` does not stand in it", right.0);
    assert_eq!(found(&mended), None, "{mended}");
}

#[test]
fn answers_that_are_not_known_for_good() {
    only_there(
        r#"design Unknown
actor shop
actor bank
subject Order(order: text) { truth Pay { asked: int 0..9 = 0, paid: int 0..9 = 0, lost: int 0..9 = 0 } }
step shop[buy(order: Order) { once: Pay.asked = 0 }] { Pay.asked := 1 send bank.charge(order) }
effect bank[charge(order: Order)] {
    call POST "{bank.url}/pay" body { order }
    on ok { Pay.paid := 1 }
    on refused {}
    on unknown { Pay.lost := 1 }
}
invariant known: all o in Order: o.lost = 0
check { order: 1 shop: 1 }
"#,
        "breaks `known`",
        ("Pay.lost := 1 ", ""),
    );
}

#[test]
fn one_person_as_two_actors() {
    only_there(
        r#"design Both
actor maker
actor checker
subject Change(change: text) { truth Review { by: actor?, allowed: actor? } }
step maker[propose(change: Change) { open: Review.by = null }] { Review.by := me }
step checker[allow(change: Change) {
    proposed: Review.by != null and Review.allowed = null
}] { Review.allowed := me }
invariant four_eyes: all c in Change: c.allowed = null or c.allowed != c.by
check { change: 1 maker: 1 checker: 1 }
"#,
        "breaks `four_eyes`",
        ("proposed: Review.by != null", "proposed: Review.by != me and Review.by != null"),
    );
}

#[test]
fn what_stands_in_the_design() {
    let text = r#"design Literal
actor clerk
subject Case(case: text) { truth File { kind: text?, size: int = 0 } }
step clerk[mark(case: Case, kind: text)] { File.kind := kind }
step clerk[grow(case: Case, size: int 0..100000)] { File.size := size }
invariant never: all c in Case: c.size < 5000 or not (c.kind = "fraud-17")
step clerk[look_into(case: Case) { odd: File.kind = "fraud-17" or File.size > 5000 }] { File.size += 1 }
check { case: 1 clerk: 1 kind: 2 size: 0..1 File.size: 0..1 }
"#;
    only_there(text, "breaks `never`", ("not (c.kind = \"fraud-17\")", "c.size > 0"));
}

#[test]
fn lists_that_are_full() {
    only_there(
        r#"design Full
actor clerk
subject Case(case: text) { truth File { pages: list int max 8 } }
step clerk[file(case: Case, pages: list int max 8)] { File.pages := pages }
invariant room: all c in Case: size(c.pages) < 8
check { case: 1 clerk: 1 pages: 0..3 }
"#,
        "breaks `room`",
        ("size(c.pages) < 8", "size(c.pages) <= 8"),
    );
}

#[test]
fn calls_that_arrive_twice() {
    only_there(
        r#"design Doubled
actor client { mine: int? of Box }
subject Box(box: text) { truth Held { made: int = 0, taken: int = 0 } }
step client[open(box: Box) { empty: Held.made = Held.taken }] { Held.made += 1 mine := Held.made }
step client[take(box: Box) { mine_is_new: mine = Held.made and Held.made > 0 }] { Held.taken += 1 mine := null }
invariant once: all b in Box: b.taken <= b.made
check { box: 1 client: 1 Held.made: 0..2 Held.taken: 0..2 faults: duplicate }
"#,
        "breaks `once`",
        ("Held.made > 0 }] {", "Held.made > 0 }] keyed {"),
    );
}

/// A caller may ask for a longer time than any that stands in the design.
#[test]
fn what_is_due_after_days_is_waited_for() {
    let text = r#"design Rooms
actor guest
actor clock
subject Room(room: text) { truth Stay { until: time? } }
step guest[hold(room: Room, ttl: duration 1h..90d) { free: Stay.until = null }] { Stay.until := now + ttl }
repair clock[release(room: Room) { over: Stay.until < now }] after 1m { Stay.until := null }
recovers free: all r in Room: r.until = null
check { room: 1 guest: 1 ttl: 2 }
"#;
    assert_eq!(found(text), None);
    let never = text.replacen("over: Stay.until < now", "over: Stay.until = null", 1);
    assert_eq!(found(&never).as_deref(), Some("does not recover `free`"));
}
