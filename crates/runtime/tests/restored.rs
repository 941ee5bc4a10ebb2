//! What is restored from a backup serves: with content, timers, outbox, keys and feed.

use crate::support;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use runtime::{Delivered, Delivery, ManualClock, Outside};
use serde_json::Value;
use store::{Store, block_on};
use store_embedded::{Embedded, Options, Restore, restore};
use support::{Bench, START, ask, bench_on, compile, design};

const SHELF: &str = r#"
design Shelf
blob Content
actor publisher
subject Book(book: text) { truth BookState { digest: Content? } }
step publisher[publish(book: Book, digest: Content) { uploaded: stored(digest) }] {
    BookState.digest := digest
}
check { book: 1 digest: 1 }
"#;

#[derive(Default)]
struct Asked(Mutex<Vec<Delivery>>);

impl Outside for Asked {
    fn deliver(&self, delivery: &Delivery) -> Delivered {
        self.0.lock().unwrap().push(delivery.clone());
        Delivered::Ok(Value::Null)
    }
}

struct All {
    tickets: Bench,
    payments: Bench,
    shelf: Bench,
}

fn open(directory: &Path, clock: &Arc<ManualClock>) -> (Arc<Embedded>, All) {
    let options = Options { commit_bytes_max: 1 << 20, ..Options::small() };
    let embedded = Arc::new(Embedded::open(directory, options).unwrap());
    let store = || Arc::clone(&embedded) as Arc<dyn Store>;
    let tickets = bench_on(design("systems/tickets"), store(), Arc::clone(clock));
    let payments = bench_on(design("systems/payments"), store(), Arc::clone(clock));
    let shelf = bench_on(compile("shelf", SHELF), store(), Arc::clone(clock));
    (embedded, All { tickets, payments, shelf })
}

fn folder() -> PathBuf {
    let name = format!("steadfast-restored-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    // What an earlier process of the same number left.
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn add(seat: &str) -> runtime::Request {
    let mut add = ask("organizer", "add_seat", "olga").with("seat", seat).with("section", "A");
    add.idempotency_key = Some(format!("add {seat}"));
    add
}

#[test]
fn a_restored_store_serves_with_content_timers_outbox_keys_and_feed() {
    let folder = folder();
    let clock = Arc::new(ManualClock::new(START));
    let (embedded, all) = open(&folder.join("store"), &clock);
    let first = all.tickets.call(add("A1")).unwrap();
    let hold = ask("buyer", "hold", "ann").with("seat", "A1").with("booking", "b1");
    all.tickets.call(hold).unwrap();
    let create = ask("merchant", "create_intent", "shop").with("intent", "i1");
    all.payments.call(create.with("amount", "12.50").with("currency", "EUR")).unwrap();
    let pay = ask("merchant", "pay", "shop").with("intent", "i1").with("charge", "c1");
    all.payments.call(pay).unwrap();
    let digest = block_on(all.shelf.runtime.put_blob(b"the content")).unwrap();
    let publish = ask("publisher", "publish", "pia").with("book", "one");
    all.shelf.call(publish.with("digest", digest.as_str())).unwrap();
    let feed = |bench: &Bench| block_on(bench.runtime.feed(None, 100)).unwrap().0;
    let fed = feed(&all.tickets);
    embedded.backup(folder.join("backup")).unwrap();
    let asked = Asked::default();
    all.payments.runtime.deliver_one(&asked).unwrap();
    all.tickets.call(add("A2")).unwrap();
    drop((embedded, all));

    restore(folder.join("backup"), folder.join("restored"), Restore::default()).unwrap();
    let (embedded, all) = open(&folder.join("restored"), &clock);
    assert_eq!(feed(&all.tickets).len(), fed.len());
    assert_eq!(all.tickets.truth("Seat", "A2"), Value::Null);
    // The same key gives the first answer.
    assert_eq!(all.tickets.call(add("A1")).unwrap().revision, first.revision);
    // The call goes out once more, under the key that it had.
    all.payments.runtime.deliver_one(&asked).unwrap();
    let keys: Vec<String> = asked.0.lock().unwrap().iter().map(|it| it.key.clone()).collect();
    assert_eq!((keys.len(), &keys[0]), (2, &keys[1]));
    assert_eq!(all.payments.truth("Intent", "i1")["PaymentIntentState"]["status"], "SUCCEEDED");
    clock.advance(601_000);
    assert_eq!(all.tickets.runtime.fire_due().unwrap().0, 1);
    assert_eq!(all.tickets.truth("Seat", "A1")["SeatInventoryState"]["status"], "AVAILABLE");
    let content = || block_on(all.shelf.runtime.get_blob(&digest));
    assert_eq!(content().unwrap().as_deref(), Some(&b"the content"[..]));
    // Content that was acknowledged and is not there is damage, and not what was never stored.
    let file = folder.join("restored/blobs").join(&digest[..2]).join(&digest);
    std::fs::remove_file(file).unwrap();
    let missing = content().unwrap_err().to_string();
    assert!(missing.contains(&digest) && missing.contains("missing"), "{missing}");
    assert_eq!(block_on(all.shelf.runtime.get_blob(&"0".repeat(64))).unwrap(), None);
    drop((embedded, all));
    std::fs::remove_dir_all(&folder).unwrap();
}
