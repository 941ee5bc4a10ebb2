//! `explain --against` gives the answer that `replace` gives: both are asked about many pairs of versions, with
//! everything in the store that could stand in the way.

use std::sync::Arc;

use design::model::Design;
use explain::{Difference, Follows, against};
use runtime::{Obstacle, ReplaceError, Runtime};

use crate::support::{Bench, Catalog, compile, compile_with};
use crate::versions::{SHOP, shop, with_block};

/// What `replace` says; none: it was put in place.
fn obstacles(bench: &Bench, design: &Design) -> Option<Vec<Obstacle>> {
    match bench.runtime.replace(design.clone(), &[]) {
        Ok(_) => None,
        Err(ReplaceError::Unsafe(found)) => Some(found),
        Err(ReplaceError::Design(why)) => {
            let records = Vec::new();
            Some(vec![Obstacle { on: why, why: String::new(), records, count: 0, mend: None }])
        }
        Err(other) => panic!("{other}"),
    }
}

/// `porter.carry(item)` and `porter[carry]` are the same.
fn plain(on: &str) -> String {
    let on = on.split('(').next().unwrap_or_default();
    on.replace('[', ".").replace(']', "")
}

fn is_about(change: &explain::Change, obstacle: &Obstacle) -> bool {
    let (change, obstacle) = (plain(&change.on), plain(&obstacle.on));
    change.starts_with(&obstacle) || obstacle.starts_with(&change)
}

#[track_caller]
fn agree(name: &str, told: &Difference, found: Option<&[Obstacle]>) {
    let asks: Vec<&explain::Change> = told.truth.iter().chain(&told.in_flight).collect();
    match (told.follows, found) {
        (Follows::AsItIs | Follows::ByRewriting, Some(found)) => {
            panic!("{name}: told to follow, and refused: {found:#?}");
        }
        (Follows::Never, None) => {
            panic!("{name}: told never to follow, and put in place: {told:#?}")
        }
        _ => {}
    }
    for obstacle in found.into_iter().flatten().filter(|obstacle| !obstacle.why.is_empty()) {
        let named = asks
            .iter()
            .any(|change| change.follows >= Follows::IfUnused && is_about(change, obstacle));
        assert!(named, "{name}: nothing was told of {obstacle:#?} in {told:#?}");
    }
    for change in asks.iter().filter(|change| change.follows == Follows::Never) {
        let named = found.into_iter().flatten().any(|obstacle| is_about(change, obstacle));
        // another key or another design ends the list of reasons
        let ends = found.is_some_and(|found| found.iter().any(|it| it.why.contains("another key")))
            || found.is_some_and(|found| found.iter().any(|it| it.why.is_empty()))
            || told.truth.iter().any(|it| it.text.starts_with("does not fit"));
        assert!(named || ends, "{name}: {change:#?} is not in the way: {found:#?}");
    }
}

/// Changes of the text, each of them one way to be in the way or not to be.
const CHANGES: &[(&str, &str)] = &[
    ("price: int = 0", "price: int = 1"),
    ("price: int = 0", "price: int 0..9 = 0"),
    ("price: int = 0", "price: int 0..8 = 0"),
    ("note: text = \"\"", "note: text? = \"\""),
    ("NEW | SHOWN | HELD | SOLD", "NEW | SHOWN | HELD | SOLD | LOST"),
    ("NEW | SHOWN | HELD | SOLD", "LOST | NEW | SHOWN | HELD | SOLD"),
    ("round: int = 0,", "round: int = 0,\n        size: int = 4,"),
    ("round: int = 0,", "round: int = 0,\n        size: int?,"),
    ("round: int = 0,", "round: int = 0,\n        tags: set text max 3,"),
    ("truth HoldState { until: time? }", "truth HoldState { until: time?, by: text = \"\" }"),
    ("log Trail { what: text, size: int }", "log Trail { what: text, size: int, by: text? }"),
    ("log Trail { what: text, size: int }", "log Trail { what: text, size: int } retain 100"),
    ("{ ItemState.price += 0 }", "{ ItemState.price += 1 }"),
    ("over: HoldState.until < now", "over: HoldState.until + 20s < now"),
    ("subject Shelf(shelf: text)", "subject Shelf(board: text)"),
    ("truth ShelfState { room: int = 3 }", "truth ShelfState { room: int = 3, name: text = \"\" }"),
    ("actor auditor apart from keeper", "actor auditor"),
    ("    shelf: Shelf?,\n", "    shelf: Shelf?,\n        other: Item?,\n"),
    ("call POST \"{porter.url}/carry\"", "call PUT \"{porter.url}/carried\""),
    ("carry(item: Item)]", "carry(item: Item, kind: int = 1)]"),
    ("design Shop", "design Other"),
];

#[test]
fn one_change_of_the_text() {
    for (from, to) in CHANGES {
        assert!(SHOP.contains(from), "{from}");
        let text = SHOP.replace(from, to);
        let sent = text.replace("send porter.carry(item)", "send porter.carry(item, 1)");
        let text = if to.contains("kind: int") { sent } else { text };
        both(&format!("{from} -> {to}"), &shop(), &compile("shop", &text));
    }
}

#[track_caller]
fn both(name: &str, bench: &Bench, new: &Design) -> bool {
    let told = against(bench.runtime.design(), new);
    let found = obstacles(bench, new);
    agree(name, &told, found.as_deref());
    found.is_none()
}

/// Two changes at a time, in both directions: what is added is taken away again.
#[test]
fn pairs_of_changes_there_and_back() {
    let mut followed = 0;
    let mut refused = 0;
    let plain = |(_, to): &&(&str, &str)| !to.contains("kind: int") && !to.contains("design Other");
    let changes: Vec<&(&str, &str)> = CHANGES.iter().filter(plain).collect();
    for (at, (from, to)) in changes.iter().enumerate() {
        for (more, with) in &changes[at + 1..] {
            let one = SHOP.replace(from, to);
            if !one.contains(more) {
                continue;
            }
            let text = one.replace(more, with);
            let compiled = design::compile("shop", &text, &design::NoCatalog);
            let Some(new) = compiled.design else { continue };
            let name = format!("{to} and {with}");
            let bench = shop();
            if !both(&name, &bench, &new) {
                refused += 1;
                continue;
            }
            followed += 1;
            let opened = Runtime::open_with_clock(
                new,
                bench.store.clone(),
                runtime::Settings::default(),
                bench.clock.clone(),
            );
            let runtime = Arc::new(opened.unwrap());
            let back = Bench { runtime, clock: bench.clock.clone(), store: bench.store.clone() };
            match both(&format!("{name}, back"), &back, &compile("shop", SHOP)) {
                true => followed += 1,
                false => refused += 1,
            }
        }
    }
    assert!(followed > 150 && refused > 20, "{followed} followed, {refused} refused");
}

#[test]
fn whatever_is_taken_away() {
    let cases = [
        SHOP.replace("        note: text = \"\",\n", "")
            .replace("    ItemState.note := note\n", ""),
        SHOP.replace("NEW | SHOWN | HELD | SOLD", "NEW | HELD | SOLD").replace("SHOWN", "NEW"),
        SHOP.replace("price: int", "price: text")
            .replace("price: text = 0", "price: text = \"\"")
            .replace("ItemState.price += 1", "ItemState.price := \"\"")
            .replace("ItemState.price += 0", "ItemState.price := \"\""),
        SHOP.replace("Item(item: text)", "Item(item: int)"),
        SHOP.replace("Shelf(shelf: text)", "Shelf(shelf: int)"),
        SHOP.replace("log Trail", "log Steps")
            .replace("append Trail", "append Steps")
            .replace("slice(Trail", "slice(Steps"),
        SHOP.replace("porter[carry", "porter[haul").replace("porter.carry", "porter.haul"),
        SHOP.replace("key item body", "key ItemState.price body"),
    ];
    let mut refused = 0;
    for text in cases {
        let Some(new) = design::compile("shop", &text, &design::NoCatalog).design else {
            panic!("it does not compile: {text}");
        };
        refused += u32::from(!both(&text, &shop(), &new));
    }
    assert_eq!(refused, 8);
}

#[test]
fn blocks_that_fit_and_blocks_that_do_not() {
    let wider = SHOP
        .replace("round: int = 0,", "round: int = 0,\n        size: int,")
        .replace("{ ItemState.price := price }", "{ ItemState := { price: price, size: 1 } }");
    let remark = SHOP
        .replace("note: text = \"\"", "remark: text = \"\"")
        .replace("ItemState.note", "ItemState.remark");
    let cases = [
        (&wider, "default ItemState.size = 1", true),
        (&wider, "convert ItemState.size(price: int) = price + 1", true),
        (&wider, "convert ItemState.size(price: int) = 1 / (price - 5)", false),
        (&wider, "rename Nothing as Item", false),
        (&remark, "rename ItemState.note as remark", true),
        (&remark, "rename ItemState.note as words", false),
    ];
    for (text, line, follows) in cases {
        let version = layout::version(&compile("shop", SHOP));
        let text_with = format!("{text}\nfrom \"{version}\" {{ {line} }}\n");
        let Some(new) = design::compile("shop", &text_with, &design::NoCatalog).design else {
            assert!(!follows, "{line}");
            continue;
        };
        assert_eq!(both(line, &shop(), &new), follows, "{line}");
    }
    assert!(both(
        "nothing stands there",
        &shop(),
        &with_block(&wider, "default ItemState.size = 2")
    ));
}

/// Every design of the catalog against every other, and against a use of it.
#[test]
fn designs_with_nothing_stored_always_follow_themselves() {
    for id in ["A08", "A07", "I02"] {
        let text = format!("design D\nuse {id} as Thing\n");
        let design = compile_with("d", &text, &Catalog);
        let told = against(&design, &design);
        assert!(told.is_empty() && told.follows == Follows::AsItIs, "{id}: {told:#?}");
    }
}
