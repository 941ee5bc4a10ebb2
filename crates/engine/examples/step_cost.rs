//! What one step of the lease costs, accepted and refused.

use std::hint::black_box;
use std::time::Instant;

use design::model::{BlobId, Goal, OperationId, StateId, SubjectId};
use engine::{
    Command, Fetch, NULL, Outcome, Program, Scratch, Truth, Word, World, holds, refuses, step,
};

#[path = "../tests/support/mod.rs"]
mod support;

/// One record, as close at hand as it can be.
struct One<'a>(&'a [Word]);

impl Truth for One<'_> {
    fn record(&self, _subject: SubjectId, _key: Word) -> Fetch<'_> {
        Fetch::Present(self.0)
    }

    fn cache(&self, _: SubjectId, _: StateId, _: Word, _: Word) -> Fetch<'_> {
        Fetch::Absent
    }

    fn key_part(&self, _subject: SubjectId, key: Word, _part: u32) -> Word {
        key
    }

    fn key_of(&self, _subject: SubjectId, parts: &[Word]) -> Word {
        parts[0]
    }

    fn stored(&self, _blob: BlobId, _digest: Word) -> Option<bool> {
        Some(true)
    }

    fn hash(&self, _: &[engine::HashPart], words: &[Word]) -> Word {
        words[0]
    }

    fn verified(&self, _signature: Word, _key: Word, _digest: Word) -> bool {
        true
    }

    fn included(&self, _leaf: Word, _root: Word, _proof: Word) -> bool {
        true
    }

    fn next_of(&self, _schedule: Word, after: Word) -> Option<Word> {
        Some(after + 1)
    }

    fn stored_time(&self, _subject: SubjectId, _key: Word) -> Word {
        NULL
    }
}

impl World for One<'_> {
    fn now(&self) -> Word {
        100
    }

    fn keys(&self, _subject: SubjectId) -> &[Word] {
        &[7, 8]
    }

    fn done(&self, _effect: OperationId, _row: usize) -> Option<&[Word]> {
        None
    }
}

const ROUNDS: u32 = 200_000;
const BATCHES: u32 = 25;

/// The quickest of several batches: the others were disturbed.
fn measure(name: &str, mut work: impl FnMut()) {
    let batch = |_| {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            work();
        }
        start.elapsed().as_nanos() as f64 / f64::from(ROUNDS)
    };
    let cost = (0..BATCHES).map(batch).fold(f64::INFINITY, f64::min);
    println!("{name:<28} {cost:>7.1} ns");
}

fn main() {
    let program = Program::new(&support::lease::lease());
    let mut scratch = Scratch::new();
    let free = One(&[NULL, NULL, 1, 0, 0]);
    let held = One(&[1, 150, 2, 0, 1]);
    let call = |operation, params, memory| Command {
        operation: OperationId(operation),
        params,
        memory,
        me: 1,
        now: 100,
        answer: None,
    };
    let cases = [
        ("claim, accepted", &free, call(support::lease::CLAIM, &[7, 50], &[NULL]), true),
        ("claim, refused", &held, call(support::lease::CLAIM, &[7, 50], &[NULL]), false),
        ("renew, accepted", &held, call(support::lease::RENEW, &[7, 50], &[2]), true),
        ("commit, accepted", &held, call(support::lease::COMMIT, &[7, 3], &[2]), true),
        ("commit, refused", &held, call(support::lease::COMMIT, &[7, 3], &[1]), false),
        ("reclaim, refused", &held, call(support::lease::RECLAIM, &[7], &[]), false),
    ];
    for (name, truth, command, accepted) in cases {
        measure(name, || {
            let outcome = step(&program, black_box(truth), black_box(&command), &mut scratch);
            assert_eq!(black_box(outcome) == Outcome::Done, accepted);
        });
    }
    for (name, truth, command, accepted) in cases {
        if !accepted {
            measure(&format!("{name} quickly"), || {
                let refusal =
                    refuses(&program, black_box(truth), black_box(&command), &mut scratch);
                assert!(black_box(refusal).is_some());
            });
        }
    }
    measure("3 invariants, 2 records", || {
        for index in 0..3 {
            let goal = Goal::Invariant(index);
            let held = holds(&program, goal, black_box(&held), Some(&free), &mut scratch);
            black_box(held.is_ok());
        }
    });
}
