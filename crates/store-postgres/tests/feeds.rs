//! A commit that becomes visible late is not passed by the feed.

use std::thread;
use std::time::Duration;

use store::{Commit, Cursor, Partition, Store, block_on};
use store_postgres::Postgres;

use crate::support::shared;

/// What a reader is given who goes on from where it was.
struct Follower<'a> {
    store: &'a Postgres,
    next: Cursor,
    given: Vec<String>,
}

impl Follower<'_> {
    fn follow(&mut self) {
        let page = block_on(self.store.feed(self.next, 10)).unwrap();
        let entries = page.commits.iter().flat_map(|commit| &commit.entries);
        self.given.extend(entries.map(|entry| String::from_utf8_lossy(entry).into_owned()));
        self.next = page.next;
    }
}

#[test]
fn the_feed_waits_for_a_commit_that_has_a_place_and_is_not_visible() {
    let server = shared();
    let schema = server.schema();
    let store = crate::support::open(&server.address(&schema));
    let start = Cursor::start(Partition::default());
    let mut follower = Follower { store: &store, next: start, given: Vec::new() };
    thread::scope(|scope| {
        // another server, whose commit takes long from its place in the order to the disk
        let slow = scope.spawn(|| {
            let entry = r"'\x00000004736c6f77'::bytea";
            let none = "'{}', '{}', '{}'";
            server.sql(&format!(
                "BEGIN; SELECT {schema}.commit_1(ARRAY[NULL]::uuid[], '{{t}}', ARRAY[{entry}], {none}, {none}, {none}, '{{}}'); \
                 SELECT pg_sleep(2); COMMIT"
            ))
        });
        server.wait_for_sleeper(&schema);
        let fast = scope.spawn(|| block_on(store.commit(Commit::new().put("a", "x").feed("fast"))));
        while !slow.is_finished() {
            follower.follow();
            thread::sleep(Duration::from_millis(10));
        }
        slow.join().unwrap();
        fast.join().unwrap().unwrap();
    });
    follower.follow();
    assert_eq!(follower.given, ["slow", "fast"]);
}
