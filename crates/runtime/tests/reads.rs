//! Reads: truth, logs and views, and what they let their actor remember.

use crate::support;

use serde_json::json;
use support::{ask, bench, compile, design};

const LOG: &str = r#"
design Journal
actor producer
actor consumer { my_offset: int? of Partition }
subject Partition(partition: text) {
    truth State { leader: actor?, size: int = 0 }
    log Entries { value: text, by: actor } retain 3
}
step producer[append_entry(partition: Partition, value: text)] {
    State.size += 1
    append Entries { value: value, by: me }
}
read consumer[fetch(partition: Partition, from: int)] = slice(Entries, from, 2) { my_offset := Entries.end }
read consumer[span(partition: Partition)] = { first: Entries.start, last: Entries.end, state: State }
read consumer[sizes] = Sizes()
view Sizes = sum size of Partition
check { partition: 1 consumer: 1 producer: 1 from: 0..1 State.size: 0..3 }
"#;

#[test]
fn a_log_is_read_from_an_offset_and_keeps_what_it_promises() {
    let bench = bench(compile("journal", LOG));
    for n in 0..5 {
        let append = ask("producer", "append_entry", "pat")
            .with("partition", "p")
            .with("value", format!("v{n}"));
        bench.call(append).unwrap();
    }
    let fetch = |from: i64| {
        bench
            .call(ask("consumer", "fetch", "cat").with("partition", "p").with("from", from))
            .unwrap()
    };
    let page = fetch(3);
    assert_eq!(
        page.result,
        json!([
            { "offset": 3, "value": "v3", "by": "pat" },
            { "offset": 4, "value": "v4", "by": "pat" },
        ])
    );
    assert_eq!(page.memory["my_offset"], 5);
    // the first two are forgotten
    assert_eq!(fetch(0).result[0]["offset"], 2);
    assert_eq!(fetch(5).result, json!([]));
    let span = bench.call(ask("consumer", "span", "cat").with("partition", "p")).unwrap();
    assert_eq!(
        span.result,
        json!({ "first": 2, "last": 5, "state": { "leader": null, "size": 5 } })
    );
    let sizes = bench.call(ask("consumer", "sizes", "cat")).unwrap();
    assert_eq!(sizes.result["sum"], 5);
}

#[test]
fn a_read_answers_with_a_whole_state() {
    let bench = bench(design("infra/I02"));
    let read = ask("claimant", "ownership", "ann").with("resource", "r");
    assert_eq!(bench.call(read.clone()).unwrap().result, json!({ "owner_id": null }));
    let claim = ask("claimant", "claim", "bob").with("resource", "r").with("ttl", "10s");
    bench.call(claim).unwrap();
    assert_eq!(bench.call(read).unwrap().result, json!({ "owner_id": "bob" }));
}
