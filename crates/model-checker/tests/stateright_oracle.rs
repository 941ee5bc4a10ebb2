//! State counts and verdicts equal to those of an independent implementation: the same models,
//! written by hand against stateright.

use crate::oracle;

use oracle::append_log::AppendLog;
use oracle::claim::Claim;
use oracle::lease::Lease;
use oracle::lease_faults::FaultyLease;
use oracle::replicated::Replicated;
use oracle::seats::Seats;
use oracle::three_members::ThreeMembers;
use oracle::two_phase::TwoPhase;
use oracle::{Broken, Found, by_checker, by_checker_ranked, by_hand, by_hand_once};

/// The text with its `check` in another size; each must stand there.
fn sized(text: &str, sizes: &[(&str, &str)]) -> String {
    let mut text = text.to_string();
    for (from, to) in sizes {
        assert_eq!(text.matches(from).count(), 1, "`{from}` stands once");
        text = text.replace(from, to);
    }
    text
}

fn two_phase(participants: usize) -> Found {
    let text = include_str!("oracle/two_phase.design");
    let count = format!("participant: {participants} }}");
    let found = by_checker(&sized(text, &[("participant: 3 }", &count)]));
    if participants < 7 {
        let expected = by_hand(TwoPhase { participants }, &Broken::default());
        assert_eq!(found, expected, "{participants} participants");
    } else {
        let expected = by_hand_once(TwoPhase { participants }, &Broken::default());
        assert_eq!(found.states, expected.states, "{participants} participants");
    }
    // Everyone aborts by choice; to commit, each prepares and is heard, then the decision, then
    // each hears of it.
    let lengths =
        [("never_all_aborted", participants), ("never_all_committed", 3 * participants + 1)];
    assert_eq!(found.violated, lengths.map(|(name, length)| (name.to_string(), Some(length))));
    found
}

#[test]
fn two_phase_commit_with_three_participants() {
    assert_eq!(two_phase(3).states, 288);
}

#[test]
fn two_phase_commit_with_five_participants() {
    assert_eq!(two_phase(5).states, 8_832);
}

#[test]
fn two_phase_commit_with_seven_participants() {
    assert_eq!(two_phase(7).states, 296_448);
}

fn lease(resources: usize, claimants: usize, epoch_max: u8) -> Found {
    let text = include_str!("oracle/lease.design");
    let sizes = [
        ("resource: 1 ", &*format!("resource: {resources} ")),
        ("claimant: 2 ", &format!("claimant: {claimants} ")),
        ("0..4", &format!("0..{epoch_max}")),
    ];
    let found = by_checker(&sized(text, &sizes));
    let broken = Broken::default();
    let model = Lease { resources, claimants, epoch_max, broken: broken.clone() };
    assert_eq!(found, by_hand(model, &broken), "{resources} resources, {claimants} claimants");
    found
}

#[test]
fn the_lease_without_faults() {
    let found = lease(1, 2, 4);
    assert_eq!(found.states, 361);
    assert_eq!(found.violated, [("never_third_write".to_string(), Some(4))]);
    lease(1, 3, 4);
    lease(2, 2, 3);
}

fn faulty_lease(resources: usize, claimants: usize, epoch_max: u8) -> Found {
    let text = include_str!("oracle/lease.design");
    let faults = format!("0..{epoch_max}  faults: crash, pause, lost_reply, duplicate");
    let sizes = [
        ("resource: 1 ", &*format!("resource: {resources} ")),
        ("claimant: 2 ", &format!("claimant: {claimants} ")),
        ("0..4", &faults),
    ];
    let found = by_checker(&sized(text, &sizes));
    let broken = Broken::default();
    let model = FaultyLease { resources, claimants, epoch_max, broken: broken.clone() };
    assert_eq!(found, by_hand(model, &broken), "{resources} resources, {claimants} claimants");
    found
}

#[test]
fn the_lease_with_the_printed_fault_model() {
    let found = faulty_lease(1, 2, 4);
    assert_eq!(found.states, 23_180);
    assert_eq!(found.violated, [("never_third_write".to_string(), Some(4))]);
    faulty_lease(1, 1, 4);
    faulty_lease(2, 1, 3);
}

fn seats(seats: usize, bookings: usize, buyers: usize) -> Found {
    let text = include_str!("oracle/seats.design");
    let sizes = [
        ("seat: 2 ", &*format!("seat: {seats} ")),
        ("booking: 3 ", &format!("booking: {bookings} ")),
        ("buyer: 2 ", &format!("buyer: {buyers} ")),
    ];
    let found = by_checker(&sized(text, &sizes));
    let broken = Broken::default();
    let model = Seats { seats, bookings, buyers, broken: broken.clone() };
    assert_eq!(found, by_hand(model, &broken), "{seats} seats, {bookings} bookings");
    found
}

#[test]
fn seats_with_timed_holds() {
    let found = seats(1, 2, 2);
    assert_eq!(found.states, 106);
    // Added, held, three ticks beyond the time to live, held again, confirmed.
    let lengths = [("never_expired_and_sold", 1 + 1 + 3 + 1 + 1), ("never_sold", 3)];
    let lengths = lengths.map(|(name, length)| (name.to_string(), Some(length)));
    assert_eq!(found.violated, lengths);
    seats(2, 3, 2);
}

/// A design of the catalog in another size, as it is explored whole and without symmetry.
fn catalog<M>(text: &str, sizes: &[(&str, &str)], model: M) -> u64
where
    M: stateright::Model + Clone + Send + Sync + 'static,
    M::State: std::hash::Hash + Send + Sync + std::fmt::Debug + PartialEq + Clone,
    M::Action: std::fmt::Debug + Clone + PartialEq,
{
    let found = by_checker_ranked(&sized(text, sizes));
    assert_eq!(found, by_hand_once(model, &Broken::default()), "{sizes:?}");
    assert_eq!(found.violated, []);
    found.states
}

#[test]
fn the_claim_of_the_catalog() {
    let text = include_str!("../../../designs/infra/I02.design");
    let claim = |claimants: usize, writes: usize| {
        let sizes = [
            ("    claimant: 2\n", &*format!("    claimant: {claimants}\n")),
            ("    write: 2\n", &*format!("    write: {writes}\n")),
        ];
        catalog(text, &sizes, Claim { claimants, writes })
    };
    assert_eq!([claim(1, 1), claim(1, 2), claim(2, 1)], [731, 9_093, 9_914]);
}

#[test]
fn the_append_log() {
    let text = include_str!("oracle/append_log.design");
    let log = |partitions: usize, offsets: usize| {
        let sizes = [
            ("    partition: 2\n", &*format!("    partition: {partitions}\n")),
            ("    offset: 0..1\n", &*format!("    offset: 0..{}\n", offsets - 1)),
        ];
        catalog(text, &sizes, AppendLog { partitions, offsets })
    };
    assert_eq!([log(1, 1), log(1, 2), log(2, 1)], [192, 1_256, 8_640]);
}

#[test]
fn the_replicated_key_of_the_catalog() {
    let text = include_str!("../../../designs/infra/I16.design");
    let key = |messages: usize, term_max: u8| {
        let sizes = [
            ("    messages: 2\n", &*format!("    messages: {messages}\n")),
            ("    GroupState.term: 0..2\n", &*format!("    GroupState.term: 0..{term_max}\n")),
        ];
        catalog(text, &sizes, Replicated { messages, term_max })
    };
    assert_eq!([key(1, 1), key(1, 2), key(2, 1)], [2_882, 11_914, 15_598]);
}

/// Without symmetry there are as many sets of messages, with as many states of the members.
#[test]
fn three_members_whose_messages_are_kept_as_a_set() {
    let found = by_checker(include_str!("network/three-members.design"));
    assert_eq!(found, by_hand_once(ThreeMembers, &Broken::default()));
    assert_eq!(found.violated, Vec::new());
}
