//! What every store must pass.

use store::linearizability::{self, Recording, Registers};
use store::{Store, conformance};

use crate::support::{fresh, open, shared};

#[test]
fn it_passes_the_suite() {
    let server = shared();
    let names = conformance::run(&mut || Box::new(fresh(&server)));
    assert!(names.len() > 40, "{names:?}");
}

/// Through a pooler nothing is heard: the head is asked for instead.
#[test]
fn it_passes_the_suite_without_listening() {
    let server = shared();
    conformance::run(&mut || {
        Box::new(open(&format!("{}&listen=off&pool_max=3", server.address(&server.schema()))))
    });
}

#[test]
fn it_holds_what_it_held_when_it_is_opened_again() {
    let server = shared();
    let address = server.address(&server.schema());
    conformance::run_reopen(&mut || Box::new(open(&address)));
}

#[test]
fn histories_of_many_clients_are_linearizable() {
    let server = shared();
    for seed in 0..4 {
        let recording = Recording { seed, clients: 16, operations: 3_000 };
        let history = linearizability::record(&fresh(&server), recording).unwrap();
        let judged = linearizability::check(&Registers, &history);
        judged.unwrap_or_else(|impossible| {
            panic!("seed {seed}: after {} operations: {}", impossible.ordered, impossible.stuck)
        });
    }
}

/// A key at the limit that cannot be compressed fits into the index.
#[test]
fn the_longest_key_is_taken_whatever_it_holds() {
    let server = shared();
    let store = fresh(&server);
    let longest = store.limits().key_bytes_max as usize;
    let mut chance = 88_172_645_463_325_252_u64;
    let key: Vec<u8> = std::iter::repeat_with(|| {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        chance as u8
    })
    .take(longest)
    .collect();
    let key = store::Key::from(key);
    store::block_on(store.commit(store::Commit::new().put(key.clone(), "x"))).unwrap();
    assert!(store::block_on(store.read(&[key], None)).unwrap().records[0].is_some());
}
