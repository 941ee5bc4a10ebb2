//! The feed from its end.

use crate::support;

use serde_json::{Value, json};
use store::block_on;
use support::{Bench, ask, bench, design};

use crate::versions::{SHOP, on, replaced, shop, with_block};

fn seats(count: usize) -> Bench {
    let bench = bench(design("systems/tickets"));
    for n in 0..count {
        let add = ask("organizer", "add_seat", "olga");
        bench.call(add.with("seat", format!("S{n}")).with("section", "A")).unwrap();
    }
    bench
}

fn keys(past: &runtime::Past) -> Vec<Value> {
    past.transitions.iter().map(|(_, one)| one.changes[0].key[0].clone()).collect()
}

#[test]
fn the_last_come_first_and_pages_join_without_a_gap() {
    let bench = seats(7);
    let first = block_on(bench.runtime.past(None, None, 3)).unwrap();
    assert_eq!(keys(&first), [json!("S6"), json!("S5"), json!("S4")]);
    let second = block_on(bench.runtime.past(None, first.older.as_deref(), 3)).unwrap();
    assert_eq!(keys(&second), [json!("S3"), json!("S2"), json!("S1")]);
    let third = block_on(bench.runtime.past(None, second.older.as_deref(), 3)).unwrap();
    assert_eq!(keys(&third), [json!("S0")]);
    assert_eq!(third.older, None);
}

#[test]
fn the_past_of_a_record_is_what_changed_it_and_nothing_else() {
    let bench = seats(3);
    let hold = ask("buyer", "hold", "ann").with("seat", "S1").with("booking", "b1");
    bench.call(hold).unwrap();
    bench.call(ask("buyer", "confirm", "ann").with("booking", "b1")).unwrap();
    let past = block_on(bench.runtime.past(Some(("Seat", &[json!("S1")])), None, 10)).unwrap();
    let steps: Vec<&str> = past.transitions.iter().map(|(_, one)| &one.operation[..]).collect();
    assert_eq!(steps, ["confirm", "hold", "add_seat"]);
    assert_eq!(past.older, None);
    let none = block_on(bench.runtime.past(Some(("Seat", &[json!("S9")])), None, 10)).unwrap();
    assert_eq!(none.transitions, []);
}

#[test]
fn what_is_rare_is_found_piece_by_piece() {
    let bench = seats(1);
    let section = |n: usize| ask("organizer", "add_seat", "olga").with("seat", format!("T{n}"));
    // more commits than one answer looks at
    for n in 0..70_000 {
        bench.call(section(n).with("section", "B").brief()).unwrap();
    }
    let key = [json!("S0")];
    let first = block_on(bench.runtime.past(Some(("Seat", &key)), None, 10)).unwrap();
    assert_eq!(first.transitions, []);
    assert!(first.older.is_some());
    let older = first.older.as_deref();
    let second = block_on(bench.runtime.past(Some(("Seat", &key)), older, 10)).unwrap();
    assert_eq!(second.transitions.len(), 1);
    assert_eq!(second.older, None);
}

#[test]
fn what_is_forgotten_is_no_error() {
    let bench = seats(5);
    let head = block_on(bench.store.head(store::Partition::default())).unwrap();
    block_on(bench.store.trim(head)).unwrap();
    let add = ask("organizer", "add_seat", "olga").with("seat", "new").with("section", "A");
    bench.call(add).unwrap();
    let past = block_on(bench.runtime.past(None, None, 10)).unwrap();
    assert_eq!(keys(&past), [json!("new")]);
    assert_eq!(past.older, None);
}

#[test]
fn a_record_keeps_its_past_across_versions_and_names() {
    let old = shop();
    let text = SHOP
        .replace("Item(item: text)", "Product(item: text)")
        .replace("item: Item", "item: Product")
        .replace("item: new Item", "item: new Product")
        .replace("of Item", "of Product");
    let new = replaced(&old, with_block(&text, "rename Item as Product"));
    new.call(on("note", "a").with("note", "blue")).unwrap();
    new.call(on("note", "b").with("note", "green")).unwrap();
    let key = [json!("a")];
    let past = block_on(new.runtime.past(Some(("Product", &key)), None, 10)).unwrap();
    let told: Vec<(&str, &str)> = past
        .transitions
        .iter()
        .map(|(_, one)| (&one.operation[..], &one.changes[0].subject[..]))
        .collect();
    // each in the words of its time
    assert_eq!(told, [("note", "Product"), ("note", "Item"), ("show", "Item"), ("make", "Item")]);
    assert_eq!(past.older, None);
    assert_eq!(new.runtime.called_before("Product"), ["Item"]);
    // pages join where one version ends
    let first = block_on(new.runtime.past(Some(("Product", &key)), None, 2)).unwrap();
    assert_eq!(first.transitions, past.transitions[..2]);
    let older = first.older.as_deref();
    let second = block_on(new.runtime.past(Some(("Product", &key)), older, 2)).unwrap();
    assert_eq!(second.transitions, past.transitions[2..]);
    let all = block_on(new.runtime.past(None, None, 100)).unwrap();
    assert!(all.transitions.iter().any(|(_, one)| one.operation == "ship"), "{all:?}");
}
