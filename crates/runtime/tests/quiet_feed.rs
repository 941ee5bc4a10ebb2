//! Where little is fed, a page of the feed may be empty and not its end.

use std::sync::Arc;

use runtime::{Runtime, Settings, ViewQuery};
use serde_json::json;
use store::{Decision, LocalStore, Store};
use store_embedded::disk::SimulatedDisk;
use store_embedded::{Embedded, Options};

use crate::support::{ask, compile};

const DESIGN: &str = r#"design Notes
actor writer
subject Note(note: text) { truth NoteState { open: bool = true } }
step writer[write(note: new Note)] { NoteState.open := true }
view Open = count Note where open
check { note: 1 writer: 1 }
"#;

/// More than the store looks through for one page.
const QUIET_BYTES: usize = 9 << 20;
const COMMIT_BYTES: usize = 1 << 20;

#[test]
fn views_and_histories_go_on_behind_a_long_stretch_that_feeds_nothing() {
    let options = Options { snapshot_after_bytes: 1 << 30, ..Options::default() };
    let disk = Arc::new(SimulatedDisk::new());
    let embedded = Arc::new(Embedded::open_on(disk, "store", options).unwrap());
    let store: Arc<dyn Store> = Arc::<Embedded>::clone(&embedded);
    let runtime = Runtime::open(compile("notes", DESIGN), store, Settings::default()).unwrap();
    let open = || {
        let query = ViewQuery { view: "Open".into(), ..ViewQuery::default() };
        runtime.view(&query).unwrap()["count"].clone()
    };
    runtime.call(&ask("writer", "write", "ann").with("note", "a")).unwrap();
    assert_eq!(open(), json!(1));
    let value = vec![7; COMMIT_BYTES];
    for _ in 0..QUIET_BYTES.div_ceil(COMMIT_BYTES) {
        let ticket = embedded.transact(&mut |transaction| {
            transaction.put(b"\xffquiet", &value);
            Decision::Commit
        });
        ticket.unwrap().wait().unwrap();
    }
    runtime.call(&ask("writer", "write", "ann").with("note", "b")).unwrap();
    assert_eq!(open(), json!(2));
    let entries = store::block_on(runtime.history()).unwrap();
    assert_eq!(entries.len(), 2);
    let past = store::block_on(runtime.past(None, None, 10)).unwrap();
    assert_eq!(past.transitions.len(), 2);
    let verified = runtime.verify_history().unwrap();
    assert!(verified.is_sound() && verified.transitions == 2, "{verified:?}");
}
