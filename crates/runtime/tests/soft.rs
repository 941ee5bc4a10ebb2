//! Blobs and ephemerals.

use crate::support;

use serde_json::{Value, json};
use support::{ask, bench, compile};

const DESIGN: &str = r#"
design Library
blob Content
actor publisher
actor reader
subject Book(book: text) { truth BookState { digest: Content?, version: int = 0 } }
subject Desk(desk: text) {
    truth DeskState { n: int = 0 }
    ephemeral Presence ttl 5s { who: actor?, page: int = 0 }
}
step publisher[publish(book: Book, digest: Content) { uploaded: stored(digest) }] {
    BookState.digest := digest
    BookState.version += 1
}
step reader[turn(desk: Desk, page: int)] {
    Presence.who := me
    Presence.page := page
}
check { book: 1 digest: 1 desk: 1 page: 0..1 reader: 1 BookState.version: 0..2 }
"#;

#[test]
fn a_guard_asks_whether_content_is_stored_and_what_nobody_refers_to_is_collected() {
    let bench = bench(compile("library", DESIGN));
    let runtime = &bench.runtime;
    let publish =
        |digest: &str| ask("publisher", "publish", "pia").with("book", "b").with("digest", digest);
    let missing = store::Hash::of(b"never uploaded").to_string();
    assert_eq!(bench.refused_by(publish(&missing)), "uploaded");
    let content = vec![7_u8; 600_000];
    let used = store::block_on(runtime.put_blob(&content)).unwrap();
    let unused = store::block_on(runtime.put_blob(b"a draft")).unwrap();
    bench.call(publish(&used)).unwrap();
    assert_eq!(store::block_on(runtime.get_blob(&used)).unwrap(), Some(content));
    // within the grace nothing goes, afterwards only what nobody refers to
    assert_eq!(store::block_on(runtime.collect_blobs(60_000)).unwrap().taken, 0);
    bench.clock.advance(60_000);
    assert_eq!(store::block_on(runtime.collect_blobs(60_000)).unwrap().taken, 1);
    assert_eq!(store::block_on(runtime.get_blob(&unused)).unwrap(), None);
    assert!(store::block_on(runtime.get_blob(&used)).unwrap().is_some());
    assert_eq!(bench.refused_by(publish(&unused)), "uploaded");
    assert_eq!(store::block_on(runtime.get_blob("no digest")).unwrap(), None);
}

#[test]
fn soft_state_is_seen_for_a_while_and_never_committed() {
    let bench = bench(compile("library", DESIGN));
    let turn = ask("reader", "turn", "ron").with("desk", "d").with("page", 7);
    bench.call(turn).unwrap();
    let soft = || bench.runtime.ephemeral("Desk", &[json!("d")], "Presence").unwrap();
    assert_eq!(soft(), Some(json!({ "who": "ron", "page": 7 })));
    bench.clock.advance(5_000);
    assert_eq!(soft(), None);
    assert!(store::block_on(bench.runtime.feed(None, 10)).unwrap().0.is_empty());
    assert_eq!(bench.truth("Desk", "d"), json!({ "DeskState": { "n": 0 } }));
    let _ = Value::Null;
}
