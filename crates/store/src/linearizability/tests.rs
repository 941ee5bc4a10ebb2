use super::*;

type Op = Operation<Request, Answer>;

fn read(begun: u64, ended: u64, value: u64) -> Op {
    let answer = Answer::Values(vec![value]);
    Op { request: Request::Read(vec![0]), begun, ended: Some((ended, answer)) }
}

fn swap(begun: u64, ended: Option<u64>, from: u64, to: u64, answer: Answer) -> Op {
    let request = Request::Commit { checks: vec![(0, from)], writes: vec![(0, to)] };
    Op { request, begun, ended: ended.map(|ended| (ended, answer)) }
}

fn possible(history: &[Op]) -> bool {
    check(&Registers, history).is_ok()
}

#[test]
fn one_after_the_other() {
    assert!(possible(&[]));
    assert!(possible(&[swap(0, Some(1), 0, 7, Answer::Done), read(2, 3, 7)]));
    assert!(!possible(&[swap(0, Some(1), 0, 7, Answer::Done), read(2, 3, 0)]), "a stale read");
}

#[test]
fn what_overlaps_may_be_in_either_order() {
    let write = || swap(0, Some(9), 0, 7, Answer::Done);
    assert!(possible(&[write(), read(1, 2, 0), read(3, 4, 7)]));
    assert!(possible(&[write(), read(1, 5, 7), read(2, 6, 0)]));
    assert!(!possible(&[write(), read(1, 2, 7), read(3, 4, 0)]), "time went back");
}

#[test]
fn two_swaps_from_one_value_cannot_both_succeed() {
    let first = swap(0, Some(9), 0, 7, Answer::Done);
    assert!(possible(&[first.clone(), swap(1, Some(8), 0, 8, Answer::Conflict)]));
    assert!(!possible(&[first, swap(1, Some(8), 0, 8, Answer::Done)]), "a lost update");
}

#[test]
fn a_conflict_needs_a_reason() {
    assert!(!possible(&[swap(0, Some(1), 0, 7, Answer::Conflict)]));
}

#[test]
fn what_was_never_answered_may_have_happened_or_not() {
    let unseen = || swap(0, None, 0, 7, Answer::Done);
    assert!(possible(&[unseen(), read(1, 2, 0)]));
    assert!(possible(&[unseen(), read(1, 2, 7)]));
    assert!(possible(&[unseen(), read(1, 2, 0), read(3, 4, 7)]));
    assert!(!possible(&[unseen(), read(1, 2, 7), read(3, 4, 0)]));
}

#[test]
fn the_first_operation_that_fits_nowhere_is_named() {
    let history = [swap(0, Some(1), 0, 7, Answer::Done), read(2, 3, 5)];
    let impossible = check(&Registers, &history).unwrap_err();
    assert_eq!(impossible.ordered, 1);
    assert!(impossible.stuck.contains("Values([5])"), "{impossible:?}");
}

/// Every history of a few operations, against trying every order.
#[test]
fn agrees_with_trying_every_order() {
    let mut seeded = crate::Seeded::new(11);
    let (mut yes, mut no) = (0, 0);
    for _ in 0..4000 {
        let history: Vec<Op> = (0..5)
            .map(|n| {
                let begun = seeded.below(10);
                let ended = begun + 1 + seeded.below(6);
                match seeded.below(3) {
                    0 => read(begun, ended, seeded.below(4)),
                    1 => swap(begun, Some(ended), seeded.below(3), n + 1, Answer::Done),
                    _ => swap(begun, Some(ended), seeded.below(3), n + 1, Answer::Conflict),
                }
            })
            .collect();
        let expected = exhaustive(&history, &mut Vec::new(), Registers.initial());
        assert_eq!(possible(&history), expected, "{history:?}");
        if expected { yes += 1 } else { no += 1 }
    }
    assert!(yes > 50 && no > 50, "{yes} possible, {no} not");
}

fn exhaustive(history: &[Op], taken: &mut Vec<usize>, state: [u64; registers::REGISTERS]) -> bool {
    if taken.len() == history.len() {
        return true;
    }
    let left = |n: &usize| !taken.contains(n);
    let ended = |n: usize| history[n].ended.as_ref().unwrap().0;
    let earliest = (0..history.len()).filter(left).map(ended).min().unwrap();
    let open: Vec<usize> =
        (0..history.len()).filter(left).filter(|n| history[*n].begun <= earliest).collect();
    open.into_iter().any(|n| {
        let answer = history[n].ended.as_ref().map(|(_, answer)| answer);
        let Some(after) = Registers.step(&state, &history[n].request, answer) else {
            return false;
        };
        taken.push(n);
        let found = exhaustive(history, taken, after);
        taken.pop();
        found
    })
}
