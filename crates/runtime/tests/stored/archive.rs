//! A store with something of every kind that is stored.

use runtime::Fired;
use serde_json::json;
use store::Decision;
use telemetry::Trace;

use super::support::{Bench, ask, bench, compile};

pub const DESIGN: &str = include_str!("Archive.design");

/// Records with all types of values, log entries, due repairs, effects and
/// messages that wait, an outcome that is kept, content, a follower, an entry that was set aside.
pub fn archive() -> Bench {
    let bench = bench(compile("archive", DESIGN));
    let runtime = &bench.runtime;
    let picture = store::block_on(runtime.put_blob(b"a picture")).unwrap();
    let book = json!([7, "upper", "ATLAS", "ann"]);
    let trace = Trace::of_parent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    assert!(trace.is_some());
    let mut write = ask("author", "write", "ann")
        .with("shelf", json!([7, "upper"]))
        .with("book", book.clone())
        .with("title", "a\0b")
        .with("cover", picture);
    write.trace = trace.clone();
    bench.call(write).unwrap();
    let on_book = |actor: &str, operation: &str, who: &str| {
        ask(actor, operation, who).with("book", book.clone())
    };
    bench.call(on_book("author", "remark", "ann").with("remark", "good")).unwrap();
    bench.call(on_book("author", "remark", "ann").with("remark", "better")).unwrap();
    bench.call(on_book("approver", "approve", "bob").keyed("k1")).unwrap();
    let mut print = on_book("author", "print", "ann");
    print.trace = trace.clone();
    bench.call(print).unwrap();
    bench.call(ask("editor", "tell", "eve").with("box", "h")).unwrap();
    let mut make =
        ask("author", "make", "ann").with("copy", json!([7, "upper", "ATLAS", "ann", 1]));
    make.trace = trace;
    bench.call(make).unwrap();
    runtime.follower("webhook").unwrap();
    runtime.keep_verdict("proved").unwrap();
    // a due time without the rest of its key
    let local = bench.store.local().unwrap();
    let put = local.transact(&mut |transaction| {
        transaction.put(b"\0\0t\x7f", b"");
        Decision::Commit
    });
    put.unwrap().wait().unwrap();
    assert_eq!(runtime.fire_one().unwrap(), Fired::SetAside);
    bench
}
