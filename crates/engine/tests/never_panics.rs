//! Random designs over random words: every evaluation ends with an outcome.

use crate::support;

use design::model::*;
use engine::{AnswerKind, Command, Outcome, Program, Scratch, Word};
use support::anything::{Anything, SUBJECTS};
use support::*;

fn exercise(seed: u64, counts: &mut [u32; 6]) {
    let mut random = Random::new(seed);
    let (attributes, locals) = (Vec::new(), Vec::new());
    let mut anything = Anything { random: &mut random, invariant: false, attributes, locals };
    let design = anything.design();
    let program = Program::new(&design);
    let mut truth = MapTruth::default();
    for subject in 0..SUBJECTS as u32 {
        for key in 0..3 {
            if !anything.random.chance(4) {
                let width = program.layout(SubjectId(subject)).width;
                let words: Vec<Word> = (0..width).map(|_| anything.word()).collect();
                truth = truth.with(subject, key, &words);
            }
        }
        truth.keys.insert(SubjectId(subject), vec![0, 1, 2]);
    }
    truth.done.insert(OperationId(1), vec![vec![1; program.params(OperationId(1)).width as usize]]);
    truth.stored.extend([(0, true), (1, false), (2, true)]);
    let (mut scratch, mut other) = (Scratch::new(), Scratch::new());
    for operation in 0..3 {
        let width = program.params(OperationId(operation)).width;
        for _ in 0..4 {
            let mut params: Vec<Word> = (0..width).map(|_| anything.word()).collect();
            params[0] = anything.random.below(4) as Word;
            let memory = [anything.word()];
            let now = anything.word();
            let command = Command {
                operation: OperationId(operation),
                params: &params,
                memory: &memory,
                me: 1,
                now,
                answer: Some((AnswerKind::Ok, 1)),
            };
            let no = engine::refuses(&program, &truth, &command, &mut scratch);
            let ended = engine::step(&program, &truth, &command, &mut scratch);
            if let Some(refusal) = no {
                assert_eq!(ended, Outcome::Refused(refusal));
                counts[5] += 1;
            }
            match ended {
                Outcome::Done => {
                    counts[0] += 1;
                    counts[1] += scratch.writes().count() as u32;
                    counts[1] += scratch.cache_writes().count() as u32;
                    counts[1] += scratch.sends().count() as u32;
                    let mut after = truth.clone();
                    after.commit(&scratch);
                    let goal = Goal::Invariant(0);
                    let held = engine::holds(&program, goal, &after, Some(&truth), &mut scratch);
                    counts[2] += u32::from(held.is_ok());
                }
                Outcome::Refused(_) => {
                    counts[3] += 1;
                    engine::legal_steps(&program, &truth, &command, &scratch, &mut other);
                }
                Outcome::Need => counts[4] += 1,
            }
            engine::call(&program, &truth, &command, &mut scratch);
            engine::due(&program, &truth, OperationId(2), params[0], 1, now, &mut scratch);
        }
    }
}

#[test]
fn random_designs_over_random_words() {
    let mut counts = [0; 6];
    for seed in 0..10_000 {
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            exercise(seed, &mut counts);
        }));
        assert!(ended.is_ok(), "seed {seed}");
    }
    assert!(counts.iter().all(|count| *count > 400), "{counts:?}");
}
