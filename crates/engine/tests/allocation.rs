//! In the steady state a step allocates nothing.

#![expect(unsafe_code, reason = "an allocator is an unsafe trait; it lives in this test alone")]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use design::model::{Goal, OperationId, SubjectId};
use engine::{Command, NULL, Program, Scratch, Word, due, guard, holds, step};
use support::lease::{CLAIM, COMMIT, RECLAIM, lease};
use support::{MapTruth, outcome};

/// operation, arguments, memory, now, how it ends
type Call<'a> = (u32, &'a [Word], &'a [Word], Word, &'a str);

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is handed to the system's allocator as it is
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn the_second_round_allocates_nothing() {
    let program = Program::new(&lease());
    let mut truth = MapTruth::default().with(0, 7, &[1, 150, 1, 0, 0]);
    truth.keys.insert(SubjectId(0), vec![7, 8]);
    let mut scratch = Scratch::new();
    let mut round = || {
        let calls: [Call<'_>; 6] = [
            (CLAIM, &[8, 50], &[NULL], 100, "done"),
            (CLAIM, &[7, 50], &[NULL], 100, "clause"),
            (CLAIM, &[7, 50], &[NULL], 200, "done"),
            (COMMIT, &[7, 3], &[1], 100, "done"),
            (COMMIT, &[7, 3], &[2], 100, "clause"),
            (RECLAIM, &[7], &[], 200, "done"),
        ];
        for (operation, params, memory, now, expected) in calls {
            let operation = OperationId(operation);
            let command = Command { operation, params, memory, me: 1, now, answer: None };
            assert_eq!(outcome(step(&program, &truth, &command, &mut scratch)), expected);
            assert!(scratch.writes().count() <= 1);
            guard(&program, &truth, &command, &mut scratch);
        }
        for index in 0..3 {
            let goal = Goal::Invariant(index);
            assert!(holds(&program, goal, &truth, Some(&truth), &mut scratch).is_ok());
        }
        due(&program, &truth, OperationId(RECLAIM), 7, 0, 100, &mut scratch);
    };
    round();
    let before = ALLOCATIONS.get();
    for _ in 0..100 {
        round();
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
}
