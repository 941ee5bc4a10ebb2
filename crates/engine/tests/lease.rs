//! The lease, step by step.

use crate::support;

use design::model::{ClauseRef, Goal, MemoryUseId, OperationId, Protection, SubjectId};
use engine::{Command, NULL, Outcome, Program, Reason, Scratch, Word, holds, legal_steps, step};
use support::lease::{CLAIM, COMMIT, RECLAIM, RELEASE, RENEW, lease};
use support::{MapTruth, outcome};

fn call<'a>(
    operation: u32,
    params: &'a [Word],
    memory: &'a [Word],
    me: Word,
    now: Word,
) -> Command<'a> {
    Command { operation: OperationId(operation), params, memory, me, now, answer: None }
}

#[test]
fn a_claim_hands_out_the_epoch_and_fences_the_one_before() {
    let program = Program::new(&lease());
    let mut truth = MapTruth::default();
    let mut scratch = Scratch::new();
    let claimed = step(&program, &truth, &call(CLAIM, &[7, 50], &[NULL], 1, 100), &mut scratch);
    assert_eq!(claimed, Outcome::Done);
    assert_eq!(scratch.memory().collect::<Vec<_>>(), [(MemoryUseId(0), 1)]);
    assert_eq!(scratch.writes().next().unwrap().before, None);
    truth.commit(&scratch);
    assert_eq!(truth.at(0, 7), Some(&[1, 150, 1, 0, 0][..]));

    let taken = step(&program, &truth, &call(CLAIM, &[7, 50], &[NULL], 2, 150), &mut scratch);
    let Outcome::Refused(refusal) = taken else { panic!("{taken:?}") };
    assert_eq!(refusal.reason, Reason::Clause(0));
    assert_eq!(refusal.clause, Some(ClauseRef::Named(0)));
    assert_eq!(scratch.reads().next().unwrap().record, truth.at(0, 7));

    let late = step(&program, &truth, &call(CLAIM, &[7, 50], &[NULL], 2, 151), &mut scratch);
    assert_eq!(late, Outcome::Done);
    truth.commit(&scratch);
    for operation in [RENEW, COMMIT] {
        let stale = step(&program, &truth, &call(operation, &[7, 3], &[1], 1, 152), &mut scratch);
        assert_eq!(outcome(stale), "clause");
    }
    let good = step(&program, &truth, &call(COMMIT, &[7, 3], &[2], 2, 152), &mut scratch);
    assert_eq!(good, Outcome::Done);
    truth.commit(&scratch);
    assert_eq!(truth.at(0, 7), Some(&[2, 201, 2, 3, 2][..]));
}

#[test]
fn time_does_not_run_backwards_along_a_record() {
    let program = Program::new(&lease());
    let mut truth = MapTruth::default().with(0, 7, &[1, 150, 1, 0, 0]);
    truth.times.insert((SubjectId(0), 7), 151);
    let mut scratch = Scratch::new();
    // the clock of this server says 120, the record was written at 151
    let claimed = step(&program, &truth, &call(CLAIM, &[7, 50], &[NULL], 2, 120), &mut scratch);
    assert_eq!(claimed, Outcome::Done);
    assert_eq!(scratch.now(), 151);
    truth.commit(&scratch);
    assert_eq!(truth.at(0, 7).unwrap()[1], 201);
}

#[test]
fn a_clause_taken_away_lets_the_stale_holder_through() {
    let design = lease();
    let fenced = Protection::Clause { operation: OperationId(COMMIT), clause: ClauseRef::Named(0) };
    let program = Program::without(&design, &[fenced]);
    let mut before = MapTruth::default().with(0, 7, &[2, 150, 2, 0, 2]);
    before.keys.insert(SubjectId(0), vec![7, 8]);
    let mut after = before.clone();
    let mut scratch = Scratch::new();
    let stale = step(&program, &after, &call(COMMIT, &[7, 3], &[1], 1, 100), &mut scratch);
    assert_eq!(stale, Outcome::Done);
    after.commit(&scratch);
    let goal = |index| Goal::Invariant(index);
    let mut check = |index| holds(&program, goal(index), &after, Some(&before), &mut scratch);
    assert_eq!(check(0), Ok(false));
    assert_eq!(check(1), Ok(true));
    assert_eq!(check(2), Ok(true));
    assert_eq!(holds(&program, goal(0), &after, None, &mut scratch), Ok(true));
}

#[test]
fn the_goal_of_recovery_is_looked_at_over_the_whole_world() {
    let program = Program::new(&lease());
    let mut world = MapTruth::default().with(0, 7, &[1, 150, 1, 0, 0]);
    world.keys.insert(SubjectId(0), vec![7, 8]);
    world.now = 150;
    let mut scratch = Scratch::new();
    assert_eq!(holds(&program, Goal::Recovery(0), &world, None, &mut scratch), Ok(true));
    world.now = 151;
    assert_eq!(holds(&program, Goal::Recovery(0), &world, None, &mut scratch), Ok(false));
    let repaired = step(&program, &world, &call(RECLAIM, &[7], &[], 9, 151), &mut scratch);
    assert_eq!(repaired, Outcome::Done);
    world.commit(&scratch);
    assert_eq!(holds(&program, Goal::Recovery(0), &world, None, &mut scratch), Ok(true));
}

#[test]
fn a_refusal_lists_what_is_legal_instead() {
    let program = Program::new(&lease());
    let truth = MapTruth::default().with(0, 7, &[2, 150, 2, 0, 0]);
    let (mut scratch, mut other) = (Scratch::new(), Scratch::new());
    let legal = |memory: &[Word], now, scratch: &mut Scratch, other: &mut Scratch| {
        let stale = call(COMMIT, &[7, 3], memory, 1, now);
        step(&program, &truth, &stale, scratch);
        let steps = legal_steps(&program, &truth, &stale, scratch, other);
        steps.into_iter().map(|step| (step.operation.0, step.params)).collect::<Vec<_>>()
    };
    assert_eq!(legal(&[1], 151, &mut scratch, &mut other), [(CLAIM, vec![Some(7), None])]);
    assert_eq!(legal(&[1], 150, &mut scratch, &mut other), []);
    assert_eq!(
        legal(&[2], 150, &mut scratch, &mut other),
        [(RENEW, vec![Some(7), None]), (COMMIT, vec![Some(7), None]), (RELEASE, vec![Some(7)]),]
    );
}
