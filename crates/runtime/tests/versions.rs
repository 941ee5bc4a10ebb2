//! `from VERSION { … }`: what an earlier version stored follows as the block says, or it is said which line or which
//! record stands in the way.

use crate::support;

use std::sync::Arc;
use std::sync::Mutex;

use design::model::Design;
use runtime::{CallError, Delivered, Delivery, Outside, ReplaceError, Request};
use serde_json::{Value, json};
use store::block_on;
use support::{Bench, ask, bench, bench_on, compile};

pub const SHOP: &str = r#"
design Shop
actor keeper { my_round: int? of Item }
actor porter
actor tidier
actor auditor apart from keeper
subject Item(item: text) {
    truth ItemState {
        status: NEW | SHOWN | HELD | SOLD = NEW,
        price: int = 0,
        note: text = "",
        shelf: Shelf?,
        round: int = 0,
    }
    truth HoldState { until: time? }
    log Trail { what: text, size: int }
}
subject Shelf(shelf: text) {
    truth ShelfState { room: int = 3 }
}
step keeper[make(item: new Item, price: int)] { ItemState.price := price }
step keeper[show(item: Item, shelf: Shelf)] {
    ItemState.status := SHOWN
    ItemState.shelf := shelf
    ShelfState.room := 2
}
step keeper[note(item: Item, note: text)] {
    ItemState.note := note
    append Trail { what: note, size: 7 }
}
step keeper[begin(item: Item)] {
    ItemState.round += 1
    my_round := ItemState.round
}
step keeper[finish(item: Item) { fenced: ItemState.round = my_round }] { ItemState.price += 1 }
step keeper[hold(item: Item, ttl: duration)] {
    ItemState.status := HELD
    HoldState.until := now + ttl
}
step keeper[ship(item: Item)] { send porter.carry(item) }
step auditor[stamp(item: Item)] { ItemState.price += 0 }
effect porter[carry(item: Item)] {
    call POST "{porter.url}/carry" key item body { item }
    on ok { ItemState.status := SOLD }
    on refused { }
    on unknown { }
}
repair tidier[lapse(item: Item) {
    held: ItemState.status = HELD
    over: HoldState.until < now
}] { ItemState.status := SHOWN }
read keeper[trail(item: Item)] = slice(Trail, 0, 100)
"#;

pub fn on(operation: &str, item: &str) -> Request {
    ask("keeper", operation, "kim").with("item", item)
}

/// A shop in which everything holds something.
pub fn shop() -> Bench {
    let bench = bench(compile("shop", SHOP));
    for (item, price) in [("a", 5), ("b", 7), ("c", 9)] {
        bench.call(on("make", item).with("price", price)).unwrap();
    }
    bench.call(on("show", "a").with("shelf", "s1")).unwrap();
    bench.call(on("note", "a").with("note", "red")).unwrap();
    bench.call(on("hold", "b").with("ttl", "10s")).unwrap();
    bench.call(on("ship", "c")).unwrap();
    bench
}

/// The text with its block for the version that is stored.
pub fn with_block(text: &str, lines: &str) -> Design {
    let version = layout::version(&compile("shop", SHOP));
    compile("shop", &format!("{text}\nfrom \"{version}\" {{\n{lines}\n}}\n"))
}

pub fn replaced(bench: &Bench, design: Design) -> Bench {
    let runtime = bench.runtime.replace(design, &[]).unwrap_or_else(|error| panic!("{error}"));
    Bench { runtime: Arc::new(runtime), clock: bench.clock.clone(), store: bench.store.clone() }
}

#[track_caller]
fn refused(bench: &Bench, design: Design) -> String {
    match bench.runtime.replace(design, &[]) {
        Err(error @ ReplaceError::Unsafe(_)) => {
            // nothing has changed, and it goes on
            bench.call(on("note", "b").with("note", "")).unwrap();
            error.to_string()
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was not refused"),
    }
}

/// Answers everything with yes, and notes what it was asked.
#[derive(Default)]
struct Carrier(Mutex<Vec<String>>);

impl Outside for Carrier {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        self.0.lock().unwrap().push(delivery.key.clone());
        Delivered::Ok(Value::Null)
    }
}

#[test]
fn everything_may_have_another_name() {
    let old = shop();
    let key = old.runtime.outbox(10).unwrap()[0].key.clone();
    let kept = old.call(on("begin", "a").keyed("k1")).unwrap();
    let text = SHOP
        .replace("Item(item: text)", "Product(item: text)")
        .replace("item: Item", "item: Product")
        .replace("item: new Item", "item: new Product")
        .replace("of Item", "of Product")
        .replace("ItemState", "ProductState")
        .replace("note: text = \"\"", "remark: text = \"\"")
        .replace("ProductState.note", "ProductState.remark")
        .replace("SHOWN", "VISIBLE")
        .replace("Trail", "History")
        .replace("what: text", "words: text")
        .replace("what: note", "words: note")
        .replace("keeper[begin", "keeper[start")
        .replace("carry", "haul")
        .replace("keeper", "owner")
        .replace("my_round", "my_turn")
        .replace("lapse", "expire");
    let lines = "rename Item as Product
        rename ItemState as ProductState
        rename ItemState.note as remark
        rename SHOWN as VISIBLE
        rename Trail as History
        rename Trail.what as words
        rename begin as start
        rename carry as haul
        rename keeper as owner
        rename keeper.my_round as my_turn
        rename lapse as expire";
    let new = replaced(&old, with_block(&text, lines));
    assert_eq!(
        new.truth("Product", "a")["ProductState"],
        json!({ "status": "VISIBLE", "price": 5, "remark": "red", "shelf": "s1", "round": 1 })
    );
    let by = |operation: &str, item: &str| ask("owner", operation, "kim").with("item", item);
    // entries of the log
    let trail = new.call(by("trail", "a")).unwrap().result;
    let said = trail.to_string();
    assert!(said.contains("\"words\":\"red\"") && said.contains("\"size\":7"), "{said}");
    // a call on its way, under the key that it had
    let carrier = Carrier::default();
    new.runtime.deliver_one(&carrier).unwrap();
    assert_eq!(*carrier.0.lock().unwrap(), [key]);
    assert_eq!(new.truth("Product", "c")["ProductState"]["status"], "SOLD");
    // an answer that was given under the old name
    let again = new.call(by("start", "a").keyed("k1")).unwrap();
    assert!(again.replayed && again.truth == kept.truth);
    // who acted as keeper never audits
    assert_eq!(new.refused_by(ask("auditor", "stamp", "kim").with("item", "a")), "apart");
    // what is due
    new.clock.advance(11_000);
    assert_eq!(new.runtime.fire_due().unwrap().0, 1);
    assert_eq!(new.truth("Product", "b")["ProductState"]["status"], "VISIBLE");
    // what happened before is told in the words of its time
    let (history, _) = block_on(new.runtime.feed(None, 100)).unwrap();
    let first = history[0].1.changes[0].truth.as_ref().unwrap();
    assert_eq!(first["ItemState"]["price"], 5);
    // and memory knows what it was handed out for
    let places = new.runtime.memory_places("owner", "finish", &by("finish", "a").params);
    assert!(places[0].former.contains(&("keeper".into(), "Item".into(), "my_round".into())));
}

#[test]
fn an_answer_under_an_older_name_is_given_again_after_two_versions_and_a_start() {
    let old = shop();
    old.call(on("begin", "a").keyed("k1")).unwrap();
    let second = SHOP.replace("keeper[begin", "keeper[start");
    let new = replaced(&old, with_block(&second, "rename begin as start"));
    let third = second.replace("keeper[start", "keeper[go");
    let version = layout::version(new.runtime.design());
    let third = format!("{third}\nfrom \"{version}\" {{ rename start as go }}\n");
    let newest = replaced(&new, compile("shop", &third));
    let go = || on("go", "a").keyed("k1");
    assert!(newest.call(go()).unwrap().replayed);
    let opened = bench_on(compile("shop", &third), old.store.clone(), old.clock.clone());
    assert!(opened.call(go()).unwrap().replayed);
    let other = on("go", "b").keyed("k1");
    assert_eq!(opened.call(other), Err(CallError::OtherPayload));
    assert_eq!(opened.truth("Item", "a")["ItemState"]["round"], 1);
}

#[test]
fn what_is_new_gets_what_the_block_gives() {
    let old = shop();
    let text = SHOP
        .replace(
            "round: int = 0,",
            "round: int = 0,\n        size: int,\n        tags: set text max 3,",
        )
        .replace("{ ItemState.price := price }", "{ ItemState := { price: price, size: 1 } }")
        .replace(
            "log Trail { what: text, size: int }",
            "log Trail { what: text, size: int, by: text }",
        )
        .replace("what: note, size: 7", "what: note, size: 7, by: \"kim\"");
    let said = refused(&old, compile("shop", &text));
    let version = layout::version(&compile("shop", SHOP));
    assert!(said.contains("`Item.ItemState.size` is new and has no default"), "{said}");
    assert!(
        said.contains(&format!("from \"{version}\" {{ default ItemState.size = … }}")),
        "{said}"
    );
    let lines = "default ItemState.size = 42\ndefault ItemState.tags = {\"old\"}\n\
                 default Trail.by = \"nobody\"";
    let new = replaced(&old, with_block(&text, lines));
    assert_eq!(new.truth("Item", "b")["ItemState"]["size"], 42);
    assert_eq!(new.truth("Item", "b")["ItemState"]["tags"], json!(["old"]));
    let trail = new.call(on("trail", "a")).unwrap().result.to_string();
    assert!(trail.contains("\"by\":\"nobody\""), "{trail}");
    // what is made from now on is made as the design says
    new.call(on("make", "d").with("price", 1)).unwrap();
    assert_eq!(new.truth("Item", "d")["ItemState"]["size"], 1);
}

#[test]
fn a_value_of_another_type_is_made_of_what_was_stored() {
    let old = shop();
    let text = SHOP
        .replace("price: int = 0", "cents: decimal = 0")
        .replace(
            "price: int)] { ItemState.price := price }",
            "price: decimal)] { ItemState.cents := price }",
        )
        .replace("ItemState.price += 1", "ItemState.cents += 1")
        .replace("ItemState.price += 0", "ItemState.cents += 0")
        .replace(
            "status: NEW | SHOWN | HELD | SOLD = NEW",
            "level: int = 0, status: NEW | HELD | SOLD = NEW",
        )
        .replace("SHOWN", "NEW");
    let lines = "convert ItemState.cents(price: decimal) = price + 0.25
        convert ItemState.level(status: NEW | SHOWN | HELD | SOLD) = if status = SHOWN then 2 else 1
        convert ItemState.status(status: NEW | SHOWN | HELD | SOLD) =
            if status = HELD then HELD else if status = SOLD then SOLD else NEW";
    let new = replaced(&old, with_block(&text, lines));
    let state = |item: &str| new.truth("Item", item)["ItemState"].clone();
    assert_eq!((&state("a")["cents"], &state("a")["level"]), (&json!("5.25"), &json!(2)));
    assert_eq!((&state("b")["cents"], &state("b")["status"]), (&json!("7.25"), &json!("HELD")));
    assert_eq!(state("a")["status"], "NEW");
}

/// Words that have another name and stand in another order, wherever a value holds them.
#[test]
fn words_have_another_name_in_every_kind_of_value() {
    let text = r#"
design Boards
actor clerk
actor porter
subject Board(board: text) {
    truth BoardState {
        light: RED | AMBER | GREEN = RED,
        last: (RED | AMBER | GREEN)?,
        seen: set (RED | AMBER | GREEN) max 3,
        all: list (RED | AMBER | GREEN) max 9,
        counts: map (RED | AMBER | GREEN) int max 3,
    }
}
step clerk[turn(board: Board, to: RED | AMBER | GREEN)] {
    BoardState.light := to
    BoardState.seen += to
    BoardState.all += to
    BoardState.counts[to] := 7
    send porter.hang(board, to)
}
effect porter[hang(board: Board, to: RED | AMBER | GREEN)] {
    call POST "{porter.url}/hang" key board body { to }
    on ok { BoardState.last := to }
    on refused { }
    on unknown { }
}
"#;
    let turned = || {
        let old = bench(compile("boards", text));
        for to in ["AMBER", "GREEN"] {
            let turn = ask("clerk", "turn", "kim").with("board", "b");
            old.call(turn.with("to", to)).unwrap();
            // the second call waits
            if to == "AMBER" {
                old.runtime.deliver_one(&Carrier::default()).unwrap();
            }
        }
        old
    };
    let old = turned();
    let version = layout::version(old.runtime.design());
    let text = text.replace("RED | AMBER | GREEN", "GO | SLOW | RED");
    let lines = "rename GREEN as GO  rename AMBER as SLOW";
    let new = format!("{text}\nfrom \"{version}\" {{ {lines} }}\n");
    let new = replaced(&old, compile("boards", &new));
    let all = |last: &str| {
        json!({ "light": "GO", "last": last, "seen": ["GO", "SLOW"], "all": ["SLOW", "GO"],
                "counts": { "GO": 7, "SLOW": 7 } })
    };
    assert_eq!(new.truth("Board", "b")["BoardState"], all("SLOW"));
    // the word of a call on its way
    new.runtime.deliver_one(&Carrier::default()).unwrap();
    assert_eq!(new.truth("Board", "b")["BoardState"], all("GO"));
    // and what a conversion is made of
    let twice = text.replace("light: GO | SLOW | RED = RED", "light: int = 0");
    let twice = twice.replace("BoardState.light := to", "BoardState.light := 5");
    let convert = "convert BoardState.light(light: GO | SLOW | RED) = if light = GO then 1 else 2";
    let twice = format!("{twice}\nfrom \"{version}\" {{ {lines}  {convert} }}\n");
    let new = replaced(&turned(), compile("boards", &twice));
    assert_eq!(new.truth("Board", "b")["BoardState"]["light"], 1);
}

#[test]
fn a_conversion_without_a_value_names_the_record() {
    let old = shop();
    old.call(on("make", "z").with("price", 0)).unwrap();
    let text = SHOP.replace("round: int = 0,", "round: int = 0,\n        share: int = 0,");
    let said =
        refused(&old, with_block(&text, "convert ItemState.share(price: int) = 100 / price"));
    assert!(said.contains("`Item.ItemState.share`") && said.contains("Item z"), "{said}");
    assert!(said.contains("division_by_zero") && !said.contains("Item a"), "{said}");
    let ranged = text.replace("share: int = 0", "share: int 0..60 = 0");
    let said =
        refused(&old, with_block(&ranged, "convert ItemState.share(price: int) = price * 10"));
    assert!(said.contains("(Item b)") && said.contains("(Item c)"), "{said}");
    assert!(!said.contains("Item a"), "{said}");
}

#[test]
fn a_line_that_does_not_fit_the_stored_version_stands_in_the_way() {
    let old = shop();
    let wider = SHOP.replace("round: int = 0,", "round: int = 0,\n        size: int = 1,");
    let cases = [
        ("rename Thing as Item", "has nothing of that name"),
        ("rename Item as ItemState", "that is a subject, and none that it could become"),
        ("default ItemState.price = 3", "stores it: `default` is for what is new"),
        ("convert ItemState.size(weight: int) = weight", "stores no `weight` there"),
        ("convert ItemState.size(note: int) = note", "stores `note` as text, not int"),
    ];
    for (line, expected) in cases {
        let said = refused(&old, with_block(&wider, line));
        assert!(said.contains(expected), "{line}: {said}");
    }
    // a text that is of the very version it speaks of would convert again and again
    let said = refused(&old, with_block(SHOP, "convert ItemState.price(price: int) = price * 100"));
    assert!(said.contains("is the version of this very text"), "{said}");
}

#[test]
fn a_block_about_another_version_is_left_alone() {
    let old = shop();
    let text = SHOP.replace("round: int = 0,", "round: int = 0,\n        size: int = 1,");
    let text = format!("{text}\nfrom \"00000000\" {{ default ItemState.size = 5 }}\n");
    let new = replaced(&old, compile("shop", &text));
    assert_eq!(new.truth("Item", "a")["ItemState"]["size"], 1);
}

/// From an older version than the last: each block leads straight to this text.
#[test]
fn a_text_knows_several_earlier_versions() {
    let second = SHOP.replace("note: text = \"\"", "remark: text = \"\"");
    let second = second.replace("ItemState.note", "ItemState.remark");
    let third = second.replace("remark: text = \"\"", "words: text = \"\"");
    let third = third.replace("ItemState.remark", "ItemState.words");
    let of = |text: &str| layout::version(&compile("shop", text));
    let third = format!(
        "{third}\nfrom \"{}\" {{ rename ItemState.note as words }}\n\
         from \"{}\" {{ rename ItemState.remark as words }}\n",
        of(SHOP),
        of(&second)
    );
    let straight = replaced(&shop(), compile("shop", &third));
    assert_eq!(straight.truth("Item", "a")["ItemState"]["words"], "red");
    let step = replaced(&shop(), with_block(&second, "rename ItemState.note as remark"));
    let step = replaced(&step, compile("shop", &third));
    assert_eq!(step.truth("Item", "a")["ItemState"]["words"], "red");
    // the same text again changes nothing
    let again = replaced(&step, compile("shop", &third));
    assert_eq!(again.truth("Item", "a")["ItemState"]["words"], "red");
}

#[test]
fn two_attributes_that_swap_their_names_swap_their_values() {
    let old = shop();
    let text = SHOP
        .replace("round: int = 0", "ROUND: int = 0")
        .replace("price: int = 0", "round: int = 0")
        .replace("ROUND: int = 0", "price: int = 0, extra: int = 0");
    let lines = "rename ItemState.price as round\nrename ItemState.round as price";
    let new = replaced(&old, with_block(&text, lines));
    let state = new.truth("Item", "a")["ItemState"].clone();
    assert_eq!((&state["round"], &state["price"]), (&json!(5), &json!(0)));
}

/// The other side knows a call by the value of its key: it follows under that key, or stands in the way.
#[test]
fn a_call_on_its_way_keeps_the_value_of_its_key() {
    let text = r#"
design Post
actor clerk
actor porter
subject Parcel(parcel: text) { truth ParcelState { sent: int = 0 } }
step clerk[ship(parcel: Parcel, slip: text, place: text)] {
    ParcelState.sent += 1
    send porter.carry(slip, place)
}
effect porter[carry(slip: text, place: text)] {
    call POST "{porter.url}/carry" key slip body { place }
    on ok { }
    on refused { }
    on unknown { }
}
"#;
    let waiting = || {
        let bench = bench(compile("post", text));
        let ship = ask("clerk", "ship", "kim").with("parcel", "p");
        bench.call(ship.with("slip", "s1").with("place", "north")).unwrap();
        bench
    };
    // another value of the same type
    let old = waiting();
    let other = text.replace("key slip", "key place");
    let said = match old.runtime.replace(compile("post", &other), &[]) {
        Err(error @ ReplaceError::Unsafe(_)) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("the call would be made twice, under two keys"),
    };
    assert!(said.contains("has another key or kind, and calls of it are on their way"), "{said}");
    let told = explain::against(&compile("post", text), &compile("post", &other));
    assert_eq!(told.follows, explain::Follows::IfUnused, "{told:#?}");
    // another name of the same value
    let key = old.runtime.outbox(10).unwrap()[0].key.clone();
    let version = layout::version(old.runtime.design());
    let renamed =
        text.replace("carry(slip: text", "carry(note: text").replace("key slip", "key note");
    let renamed = format!("{renamed}\nfrom \"{version}\" {{ rename carry.slip as note }}\n");
    let new = replaced(&old, compile("post", &renamed));
    let carrier = Carrier::default();
    new.runtime.deliver_one(&carrier).unwrap();
    assert_eq!(*carrier.0.lock().unwrap(), [key]);
    // once nothing waits, the key may be another
    let done = waiting();
    done.runtime.deliver_one(&carrier).unwrap();
    assert!(done.runtime.replace(compile("post", &other), &[]).is_ok());
}

/// Calls go on while it is replaced, under the old name or the new one, and none is lost.
#[test]
fn calls_go_on_while_records_are_renamed_and_converted() {
    use std::sync::RwLock;
    use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

    let old = shop();
    for n in 0..300 {
        old.call(on("make", &format!("i{n}")).with("price", 0)).unwrap();
    }
    let plus = |text: &str, attribute: &str| {
        format!("{text}\nstep keeper[raise(item: Item)] {{ ItemState.{attribute} += 1 }}\n")
    };
    let first = plus(SHOP, "price");
    let second = plus(
        &SHOP
            .replace("price: int = 0", "cost: int = 0, twice: int = 0")
            .replace("ItemState.price", "ItemState.cost"),
        "cost",
    );
    let of = |text: &str| layout::version(&compile("shop", text));
    let there = format!(
        "{second}\nfrom \"{}\" {{ rename ItemState.price as cost  convert ItemState.twice(price: int) = price * 2 }}\n",
        of(&first)
    );
    let back = format!("{first}\nfrom \"{}\" {{ rename ItemState.cost as price }}\n", of(&second));
    let start = replaced(&old, compile("shop", &first));
    let current = RwLock::new(start.runtime.clone());
    let (over, done) = (AtomicBool::new(false), AtomicI64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (current, over, done) = (&current, &over, &done);
            scope.spawn(move || {
                let mut n = thread * 100;
                while !over.load(Ordering::Relaxed) {
                    n += 7;
                    let raise = on("raise", &format!("i{}", n % 300));
                    loop {
                        let runtime = current.read().unwrap().clone();
                        match runtime.call(&raise) {
                            Ok(_) => break,
                            Err(CallError::Replaced) => std::thread::yield_now(),
                            Err(error) => panic!("{error}"),
                        }
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for n in 0..8 {
            let before = done.load(Ordering::Relaxed);
            while done.load(Ordering::Relaxed) < before + 50 {
                std::thread::yield_now();
            }
            let runtime = current.read().unwrap().clone();
            let text = if n % 2 == 0 { &there } else { &back };
            // `twice` holds something and is gone on the way back
            let drop = ["Item.ItemState.twice".to_string()];
            let next = runtime.replace(compile("shop", text), &drop).unwrap();
            *current.write().unwrap() = Arc::new(next);
            current.read().unwrap().remove_left_over().unwrap();
        }
        over.store(true, Ordering::Relaxed);
    });
    let runtime = current.into_inner().unwrap();
    let mut sum = 0;
    for n in 0..300 {
        let found = block_on(runtime.get("Item", &[json!(format!("i{n}"))])).unwrap().unwrap();
        sum += found.truth["ItemState"]["price"].as_i64().unwrap();
    }
    assert_eq!(sum, done.into_inner(), "every answered call counts once");
}
