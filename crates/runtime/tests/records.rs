//! Lists of records: read, refused, kept, compared, copied, gone through, and carried to another version.

use crate::support;

use std::sync::Arc;

use runtime::{CallError, ReplaceError, Request};
use serde_json::{Value, json};
use support::{Bench, ask, bench, compile};

const ORDERS: &str = r#"
design Orders
actor buyer
subject Item(item: text) { truth StockState { left: int 0..99 = 10 } }
subject Order(order: text) {
    truth OrderState {
        lines: list { item: Item, qty: int 1..9, note: text?, size: S | M } max 3,
        status: OPEN | PLACED = OPEN,
        total: int = 0,
    }
    truth Kept { few: list { item: Item, qty: int 1..5, note: text?, size: S | M } max 2 }
}
step buyer[place(order: Order, lines: list { item: Item, qty: int 1..9, note: text?, size: S | M } max 3) {
    open: OrderState.status = OPEN
    in_stock: all line in lines: line.qty <= line.item.left
    no_more: sum(qty of lines) <= 12
}] {
    OrderState := { lines: lines, status: PLACED, total: sum(qty of lines) }
    for line in lines {
        line.item.left -= line.qty
    }
}
step buyer[keep(order: Order) { changed: Kept.few != OrderState.lines }] { Kept.few := OrderState.lines }
step buyer[add(order: Order, item: Item, qty: int, note: text?)] {
    OrderState.lines += { item: item, qty: qty, note: note, size: M }
}
step buyer[tell(order: Order, item: Item, n: int)] {
    send buyer.heard(order, [{ item: item, qty: n, size: S }])
}
step buyer[heard(order: Order, lines: list { item: Item, qty: int 1..9, note: text?, size: S | M } max 3)] {
    OrderState.lines := lines
}
read buyer[small(order: Order)] = {
    lines: OrderState.lines,
    small: count(line in OrderState.lines where line.size = S),
    noted: any line in OrderState.lines: line.note present,
}
"#;

fn orders() -> Bench {
    bench(compile("orders", ORDERS))
}

fn on(operation: &str, order: &str) -> Request {
    ask("buyer", operation, "ann").with("order", order)
}

fn place(order: &str, lines: Value) -> Request {
    on("place", order).with("lines", lines)
}

fn lines(bench: &Bench, order: &str) -> Value {
    bench.truth("Order", order)["OrderState"]["lines"].clone()
}

#[test]
fn what_callers_give_is_kept_and_answered_field_by_field() {
    let bench = orders();
    let given = json!([
        { "item": "a", "qty": 2, "size": "S" },
        { "qty": 3, "item": "b", "size": "M", "note": "wrap" },
    ]);
    bench.call(place("o", given)).unwrap();
    let kept = json!([
        { "item": "a", "qty": 2, "note": null, "size": "S" },
        { "item": "b", "qty": 3, "note": "wrap", "size": "M" },
    ]);
    assert_eq!(lines(&bench, "o"), kept);
    assert_eq!(bench.truth("Order", "o")["OrderState"]["total"], json!(5));
    assert_eq!(bench.truth("Item", "a")["StockState"]["left"], json!(8));
    assert_eq!(bench.truth("Item", "b")["StockState"]["left"], json!(7));
    let small = bench.call(on("small", "o")).unwrap();
    assert_eq!(small.result, json!({ "lines": kept, "small": 1, "noted": true }));
    bench.call(place("none", json!([]))).unwrap();
    assert_eq!(lines(&bench, "none"), json!([]));
}

#[test]
fn what_is_wrong_is_told_with_the_field_of_the_record_and_changes_nothing() {
    let bench = orders();
    let good = || json!({ "item": "a", "qty": 1, "size": "S" });
    let with = |name: &str, value: Value| {
        let mut line = good();
        line[name] = value;
        line
    };
    for (given, pointer, message) in [
        (json!({}), "/params/lines", "expected a list, found an object"),
        (json!([good(), 7]), "/params/lines/1", "expected an object, found 7"),
        (
            json!([good(), good(), with("qty", json!(10))]),
            "/params/lines/2/qty",
            "expected a value in 1..9, found 10",
        ),
        (
            json!([with("qty", json!("x"))]),
            "/params/lines/0/qty",
            "expected a whole number, found \"x\"",
        ),
        (
            json!([with("qty", Value::Null)]),
            "/params/lines/0/qty",
            "expected a whole number, found null",
        ),
        (
            json!([with("size", json!("L"))]),
            "/params/lines/0/size",
            "expected one of S, M, found \"L\"",
        ),
        (json!([with("item", json!(""))]), "/params/lines/0/item", "a part of a key is not empty"),
        (
            json!([with("price", json!(1))]),
            "/params/lines/0/price",
            "no such field; there are item, qty, note, size",
        ),
        (json!([{ "item": "a", "size": "S" }]), "/params/lines/0/qty", "is missing"),
        (json!([good(), good(), good(), good()]), "/params/lines", "at most 3 elements fit"),
    ] {
        match bench.call(place("o", given)) {
            Err(CallError::Bad(bad)) => {
                assert_eq!((bad.pointer.as_str(), bad.message.as_str()), (pointer, message));
            }
            other => panic!("{pointer}: {other:?}"),
        }
    }
    assert_eq!(lines(&bench, "o"), json!([]));
}

#[test]
fn guards_go_through_them_and_ranges_hold_where_they_are_written() {
    let bench = orders();
    let refused = |request: Request| match bench.call(request) {
        Err(CallError::Refused(refused)) => (refused.clause, refused.why),
        other => panic!("{other:?}"),
    };
    let many = json!([
        { "item": "a", "qty": 9, "size": "S" },
        { "item": "b", "qty": 9, "size": "S" },
    ]);
    assert_eq!(refused(place("o", many)).0, "no_more");
    bench.call(place("o", json!([{ "item": "a", "qty": 9, "size": "S" }]))).unwrap();
    let again = json!([{ "item": "a", "qty": 2, "size": "S" }]);
    assert_eq!(refused(place("p", again)).0, "in_stock");
    // what is copied is held to the range of where it is written
    let why = "`Order.Kept.few[0].qty` would be 9, and it takes 1..5; nothing was changed";
    assert_eq!(refused(on("keep", "o")), ("range".into(), Some(why.into())));
    // so is what is put together
    let add = |qty: i64| on("add", "q").with("item", "c").with("qty", qty);
    let why = "`Order.OrderState.lines[0].qty` would be 0, and it takes 1..9; nothing was changed";
    assert_eq!(refused(add(0)), ("range".into(), Some(why.into())));
    for _ in 0..3 {
        bench.call(add(1)).unwrap();
    }
    assert_eq!(refused(add(1)).0, "collection_full");
    assert_eq!(refused(on("keep", "q")).0, "collection_full");
    assert_eq!(lines(&bench, "q").as_array().map(Vec::len), Some(3));
    // equal lists are equal
    let two =
        json!([{ "item": "d", "qty": 1, "size": "S" }, { "item": "d", "qty": 1, "size": "M" }]);
    bench.call(place("r", two)).unwrap();
    bench.call(on("keep", "r")).unwrap();
    assert_eq!(refused(on("keep", "r")).0, "changed");
}

#[test]
fn a_message_with_a_field_outside_its_range_is_refused_where_it_arrives() {
    let bench = orders();
    for (order, n) in [("o", 10), ("p", 9)] {
        bench.call(on("tell", order).with("item", "a").with("n", n)).unwrap();
    }
    support::deliver(&bench);
    assert_eq!(lines(&bench, "p")[0]["qty"], json!(9));
    assert_eq!(lines(&bench, "o"), json!([]));
}

fn replaced(bench: &Bench, text: &str) -> Result<Bench, String> {
    let runtime = match bench.runtime.replace(compile("orders", text), &[]) {
        Ok(runtime) => runtime,
        Err(error @ ReplaceError::Unsafe(_)) => return Err(error.to_string()),
        Err(error) => panic!("{error}"),
    };
    let (clock, store) = (bench.clock.clone(), bench.store.clone());
    Ok(Bench { runtime: Arc::new(runtime), clock, store })
}

const SMALL: &str = "
design Orders
actor buyer
subject Order(order: text) { truth OrderState { lines: list { sku: text, qty: int 1..9, size: S | M } max 3 } }
step buyer[put(order: Order, lines: list { sku: text, qty: int 1..9, size: S | M } max 3)] { OrderState.lines := lines }
";

#[test]
fn fields_follow_by_name_into_another_version() {
    let stored = || {
        let bench = bench(compile("orders", SMALL));
        let given =
            json!([{ "sku": "a", "qty": 7, "size": "M" }, { "sku": "b", "qty": 1, "size": "S" }]);
        bench.call(on("put", "o").with("lines", given)).unwrap();
        bench
    };
    let fields = "sku: text, qty: int 1..9, size: S | M";
    let with = |other: &str| SMALL.replace(fields, other);
    // in another order, with more sizes and a field that may be empty
    let other = with("size: S | M | L, note: text?, sku: text, qty: int 1..9");
    let later = replaced(&stored(), &other).unwrap();
    let kept = json!([
        { "size": "M", "note": null, "sku": "a", "qty": 7 },
        { "size": "S", "note": null, "sku": "b", "qty": 1 },
    ]);
    assert_eq!(lines(&later, "o"), kept);
    // a narrower range is a matter of what is stored
    let narrow = replaced(&stored(), &with("sku: text, qty: int 1..7, size: S | M")).unwrap();
    assert_eq!(lines(&narrow, "o")[0]["qty"], json!(7));
    for refused in [
        "sku: text, qty: int 1..6, size: S | M",
        "sku: text, qty: int 1..9",
        "sku: text, qty: int 1..9, size: S | M, price: int",
        "sku: int, qty: int 1..9, size: S | M",
    ] {
        let bench = stored();
        let why = replaced(&bench, &with(refused)).err().unwrap_or_else(|| panic!("{refused}"));
        assert!(why.contains("lines"), "{why}");
        // the old version goes on
        assert_eq!(lines(&bench, "o")[1]["sku"], json!("b"));
    }
}
