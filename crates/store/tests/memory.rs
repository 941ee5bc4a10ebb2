//! The store in memory passes what every store must pass.

use store::linearizability::{self, Recording, Registers};
use store::{Memory, conformance};

#[test]
fn conformance() {
    let names = conformance::run(&mut || Box::new(Memory::new()));
    assert!(names.len() >= 36, "only {} checks ran: {names:#?}", names.len());
}

#[test]
fn histories_of_ten_thousand_operations_are_linearizable() {
    for seed in 0..12 {
        let recording = Recording { seed, clients: 2 + seed % 6, operations: 10_080 };
        let history = linearizability::record(&Memory::new(), recording).unwrap();
        assert!(history.len() >= 10_000, "seed {seed}: {} operations", history.len());
        let judged = linearizability::check(&Registers, &history);
        assert!(judged.is_ok(), "seed {seed}: {judged:?}");
    }
}
