//! Content that is uploaded while it is being collected.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use runtime::{CallError, ManualClock};
use serde_json::Value;
use store::{Memory, Store};
use support::{START, ask, bench, bench_on, compile};

const DESIGN: &str = r#"
design Shelf
blob Content
actor publisher
subject Book(book: text) { truth BookState { digest: Content? } }
step publisher[publish(book: Book, digest: Content) { uploaded: stored(digest) }] {
    BookState.digest := digest
}
step publisher[withdraw(book: Book)] { BookState.digest := null }
check { book: 1 digest: 1 }
"#;

/// Whoever was told that content is stored, and refers to it, finds it: also if it was unused before
/// and a collector is at work all the time.
#[test]
fn what_a_guard_saw_stored_is_there() {
    let bench = bench(compile("shelf", DESIGN));
    let over = AtomicBool::new(false);
    let published = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                store::block_on(bench.runtime.collect_blobs(0)).unwrap();
            }
        });
        let publish = |round: usize| {
            let digest = store::block_on(bench.runtime.put_blob(b"the same again")).unwrap();
            let book = ["even", "odd"][round % 2];
            let publish = ask("publisher", "publish", "pia").with("book", book);
            match bench.call(publish.with("digest", digest.as_str())) {
                Ok(_) => {
                    let content = store::block_on(bench.runtime.get_blob(&digest)).unwrap();
                    let withdraw = ask("publisher", "withdraw", "pia").with("book", book);
                    bench.call(withdraw).unwrap();
                    content.map(|_| true)
                }
                // nobody referred to it yet
                Err(CallError::Refused(_)) => Some(false),
                Err(error) => panic!("{error}"),
            }
        };
        let rounds: Vec<Option<bool>> = (0..3_000).map(publish).collect();
        over.store(true, Ordering::Relaxed);
        rounds
    });
    assert!(published.contains(&Some(true)), "never published");
    assert!(!published.contains(&None), "published, and its content is gone");
}

/// Designs of one store share the bytes.
#[test]
fn what_another_design_stored_is_not_collected() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let clock = Arc::new(ManualClock::new(START));
    let one = bench_on(compile("shelf", DESIGN), Arc::clone(&store), clock.clone());
    let other = DESIGN.replace("design Shelf", "design Attic");
    let other = bench_on(compile("attic", &other), Arc::clone(&store), clock);
    let digest = store::block_on(one.runtime.put_blob(b"shared")).unwrap();
    assert_eq!(store::block_on(other.runtime.put_blob(b"shared")).unwrap(), digest);
    let publish =
        ask("publisher", "publish", "pia").with("book", "b").with("digest", digest.as_str());
    other.call(publish).unwrap();
    assert_eq!(store::block_on(one.runtime.collect_blobs(0)).unwrap(), 0);
    assert!(store::block_on(other.runtime.get_blob(&digest)).unwrap().is_some());
    let withdraw = ask("publisher", "withdraw", "pia").with("book", "b");
    other.call(withdraw).unwrap();
    assert_eq!(store::block_on(other.runtime.collect_blobs(0)).unwrap(), 1);
    assert_eq!(store::block_on(other.runtime.get_blob(&digest)).unwrap(), None);
    assert_eq!(other.truth("Book", "b")["BookState"]["digest"], Value::Null);
}
