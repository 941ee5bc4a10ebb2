//! What a store keeps of a design: its newest version with its text, and the verdict on it.

use crate::support;

use std::sync::Arc;

use runtime::{Kept, Runtime, Settings, SystemClock, alike, designs_of, kept};
use store::{Memory, Store};
use support::compile;

const DOOR: &str = "design Door
actor keeper
subject Door(door: text) { truth DoorState { opened: int = 0, note: text = \"\" } }
step keeper[open(door: Door) { few: DoorState.opened < 3 }] { DoorState.opened += 1 }
";

fn open(store: &Arc<dyn Store>, text: &str) -> Runtime {
    let design = compile("door", text);
    let clock = Arc::new(SystemClock::default());
    Runtime::open_with_text(design, text, Arc::clone(store), Settings::default(), clock).unwrap()
}

fn memory() -> Arc<dyn Store> {
    Arc::new(Memory::new())
}

fn held(store: &Arc<dyn Store>) -> Kept {
    kept(store.as_ref(), "Door", &Settings::default()).unwrap().expect("the store holds it")
}

#[track_caller]
fn holds(store: &Arc<dyn Store>, text: &str) {
    let found = held(store);
    assert_eq!(found.text.as_deref(), Some(text));
    assert_eq!(found.design, Some(compile("door", text)));
}

#[test]
fn a_store_holds_the_newest_version_with_its_text() {
    let store = memory();
    let settings = Settings::default();
    assert_eq!(kept(store.as_ref(), "Door", &settings).unwrap(), None);
    let first = open(&store, DOOR);
    holds(&store, DOOR);
    assert_eq!(designs_of(store.as_ref(), &settings).unwrap(), ["Door"]);
    // a guard: nothing is copied
    let guard = DOOR.replace("< 3", "< 9");
    let second = first.replace_with(compile("door", &guard), Some(&guard), &[]).unwrap();
    holds(&store, &guard);
    // a layout: everything is
    let wider = guard.replace("note: text", "width: int = 1, note: text");
    second.replace_with(compile("door", &wider), Some(&wider), &[]).unwrap();
    holds(&store, &wider);
    assert_eq!(designs_of(store.as_ref(), &settings).unwrap(), ["Door"]);
}

/// Whoever opens it with another guard or another comment, that is the version from then on.
#[test]
fn what_is_opened_is_what_is_held() {
    let store = memory();
    open(&store, DOOR);
    for text in [DOOR.replace("< 3", "< 9"), format!("// a comment\n{DOOR}"), DOOR.to_string()] {
        open(&store, &text);
        holds(&store, &text);
    }
    // a program without a text does not leave another one's
    let design = compile("door", &DOOR.replace("< 3", "< 4"));
    Runtime::open(design.clone(), Arc::clone(&store), Settings::default()).unwrap();
    assert_eq!(held(&store), Kept { design: Some(design), text: None, flat: None, verdict: None });
}

#[test]
fn a_verdict_is_kept_by_the_version_that_counts() {
    let store = memory();
    let first = open(&store, DOOR);
    first.keep_verdict("proved, says somebody").unwrap();
    assert_eq!(held(&store).verdict.as_deref(), Some("proved, says somebody"));
    let wider = DOOR.replace("note: text", "width: int = 1, note: text");
    let second = first.replace_with(compile("door", &wider), Some(&wider), &[]).unwrap();
    assert_eq!(held(&store).verdict, None, "it was about another layout");
    assert!(first.keep_verdict("too late").is_err());
    second.keep_verdict("again").unwrap();
    assert_eq!(held(&store).verdict.as_deref(), Some("again"));
}

#[test]
fn comments_and_layout_make_no_difference() {
    let same = |text: &str| alike(&compile("door", DOOR), &compile("other name", text));
    assert!(same(DOOR));
    assert!(same(&format!("// why\n\n{}", DOOR.replace("actor", "// who\n  actor"))));
    assert!(same(&DOOR.replace("{ few", "{\n    few")));
    for (from, to) in [
        ("< 3", "< 4"),
        ("few:", "several:"),
        ("+= 1", "+= 2"),
        ("opened: int = 0", "opened: int = 1"),
        ("design Door", "design Door \"A door\""),
        ("actor keeper", "actor keeper\nactor guest"),
    ] {
        let text = DOOR.replace(from, to);
        assert_ne!(text, DOOR);
        assert!(!same(&text), "{to}");
    }
    assert!(!same(&format!("{DOOR}invariant few: all d in Door: d.opened <= 3\n")));
    assert!(!same(&format!("{DOOR}check {{ door: 1 keeper: 1 }}\n")));
}
