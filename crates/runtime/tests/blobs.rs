//! Content that is uploaded while it is being collected.

use crate::support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use runtime::{CallError, Collected, ManualClock};
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
    assert_eq!(store::block_on(one.runtime.collect_blobs(0)).unwrap().taken, 0);
    assert!(store::block_on(other.runtime.get_blob(&digest)).unwrap().is_some());
    let withdraw = ask("publisher", "withdraw", "pia").with("book", "b");
    other.call(withdraw).unwrap();
    assert_eq!(store::block_on(other.runtime.collect_blobs(0)).unwrap().taken, 1);
    assert_eq!(store::block_on(other.runtime.get_blob(&digest)).unwrap(), None);
    assert_eq!(other.truth("Book", "b")["BookState"]["digest"], Value::Null);
}

/// However a digest is mentioned, its content stays; and once nothing mentions it, it goes.
#[test]
fn content_stays_while_anything_mentions_it() {
    let library = r#"
design Library
blob Content
actor keeper
actor press
subject Chunk(digest: Content) { truth ChunkState { held: int } }
subject Folder(folder: text) {
    truth FolderState { first: Content?, all: set Content max 3 }
    log Pages { page: Content } retain 1
}
step keeper[hold(chunk: new Chunk)] { ChunkState.held := 1 }
step keeper[release(chunk: Chunk)] { delete chunk }
step keeper[put(folder: Folder, digest: Content)] { FolderState.all += digest }
step keeper[take(folder: Folder, digest: Content)] { FolderState.all -= digest }
step keeper[turn(folder: Folder, page: Content)] { append Pages { page: page } }
step keeper[order(page: Content)] { send press.print(page) }
effect press[print(page: Content)] {
    call POST "{press.url}" key page body { page }
    on ok {}
    on refused {}
    on unknown {}
}
"#;
    let bench = bench(compile("library", library));
    let put = |content: &str| store::block_on(bench.runtime.put_blob(content.as_bytes())).unwrap();
    let collect = || store::block_on(bench.runtime.collect_blobs(0)).unwrap();
    let call = |operation: &str, params: &[(&str, &str)]| {
        let request = ask("keeper", operation, "kim");
        let request =
            params.iter().fold(request, |request, (name, value)| request.with(name, *value));
        bench.call(request).unwrap();
    };
    let (key, held, old, new, sent) = (put("key"), put("set"), put("old"), put("new"), put("sent"));
    let loose = put("loose");
    call("hold", &[("chunk", &key)]);
    call("put", &[("folder", "f"), ("digest", &held)]);
    call("turn", &[("folder", "f"), ("page", &old)]);
    call("order", &[("page", &sent)]);
    assert_eq!(
        collect(),
        Collected { taken: 2, kept: 4 },
        "{new} and {loose} are mentioned nowhere"
    );
    for digest in [&key, &held, &old, &sent] {
        assert!(store::block_on(bench.runtime.get_blob(digest)).unwrap().is_some());
    }
    let new = put("new");
    call("turn", &[("folder", "f"), ("page", &new)]);
    assert_eq!(collect(), Collected { taken: 1, kept: 4 }, "the log forgot {old}");
    call("release", &[("chunk", &key)]);
    call("take", &[("folder", "f"), ("digest", &held)]);
    assert_eq!(collect(), Collected { taken: 2, kept: 2 });
    for digest in [&new, &sent] {
        assert!(store::block_on(bench.runtime.get_blob(digest)).unwrap().is_some());
    }
}

/// More records than one look takes.
#[test]
fn all_records_are_looked_through() {
    let bench = bench(compile("shelf", DESIGN));
    let mut digests = Vec::new();
    for n in 0..4_500 {
        if n % 900 == 0 {
            digests
                .push(store::block_on(bench.runtime.put_blob(format!("{n}").as_bytes())).unwrap());
        }
        let publish = ask("publisher", "publish", "pia").with("book", format!("{n:05}"));
        let digest = digests.last().unwrap().as_str();
        bench
            .call(publish.with("digest", if n % 900 == 899 { digest } else { &digests[0] }))
            .unwrap();
    }
    let loose = store::block_on(bench.runtime.put_blob(b"loose")).unwrap();
    let collected = store::block_on(bench.runtime.collect_blobs(0)).unwrap();
    assert_eq!(collected, Collected { taken: 1, kept: digests.len() });
    assert_eq!(store::block_on(bench.runtime.get_blob(&loose)).unwrap(), None);
}
