//! `demo`: the promise holds as written, each guard that is named is missed when it is gone, and a seed decides the calls.

use std::fs;

use serde_json::Value;

use super::support::{folder, run, run_in};

/// Small, so that all of them take seconds, and large enough for each kind of damage to be seen.
const SIZES: [(&str, &str); 4] =
    [("tickets", "150"), ("auction", "200"), ("scheduler", "200"), ("payments", "200")];

fn played(words: &[&str], code: i32) -> Value {
    run(&[&["demo"], words, &["--json"]].concat()).exits(code).json()
}

/// The number of everything that went wrong, by name.
fn damage(played: &Value) -> Vec<(String, u64)> {
    let all = played["damage"].as_object().unwrap();
    let counted = all.iter().map(|(name, count)| (name.clone(), count.as_u64().unwrap()));
    counted.filter(|(_, count)| *count > 0).collect()
}

#[test]
fn as_written_nothing_is_damaged_and_a_seed_decides_the_calls() {
    for (name, size) in SIZES {
        let first = played(&[name, "--size", size], 0);
        assert_eq!(damage(&first), [], "{name}: {first:#}");
        assert_eq!((&first["kept"], &first["settled"]), (&true.into(), &true.into()), "{name}");
        assert!(first["refused"].as_object().unwrap().len() > 2, "{name} is hostile: {first:#}");
        let again = played(&[name, "--size", size, "--seed", "1"], 0);
        assert_eq!((&first["digest"], &first["calls"]), (&again["digest"], &again["calls"]));
        let other = played(&[name, "--size", size, "--seed", "2"], 0);
        assert_ne!(first["digest"], other["digest"], "{name}");
    }
}

#[test]
fn every_seat_is_sold_every_job_done_and_every_payment_settled() {
    let tickets = played(&["tickets", "--size", "40"], 0);
    assert_eq!((&tickets["found"]["sold"], &tickets["found"]["tickets"]), (&40.into(), &40.into()));
    assert!(tickets["given_again"].as_u64().unwrap() > 0, "{tickets:#}");
    let auction = played(&["auction", "--size", "200"], 0);
    assert_eq!(auction["found"]["sales"], 1);
    assert_eq!(auction["found"]["won"], auction["found"]["highest"]);
    let jobs = played(&["scheduler", "--size", "200"], 0);
    assert_eq!((&jobs["found"]["done"], &jobs["found"]["performed"]), (&200.into(), &200.into()));
    let payments = played(&["payments", "--size", "200"], 0);
    let found = |name: &str| payments["found"][name].as_u64().unwrap();
    let all = found("paid") + found("declined") + found("void") + found("called_off");
    assert_eq!(all, 200, "{payments:#}");
    assert!(found("provider_answers_lost") * 5 > found("provider_asked"), "{payments:#}");
}

/// What is printed when a clause is not there, first of all those that show damage.
fn damaging(name: &str) -> Vec<String> {
    let told = run(&["demo", name, "--without", "nothing.at_all"]).exits(2).err;
    let line = told.lines().find(|line| line.contains("the damage is seen without")).unwrap();
    line.split('`').skip(1).step_by(2).map(String::from).collect()
}

#[test]
fn without_each_clause_that_is_named_there_is_damage() {
    for (name, size) in SIZES {
        let clauses = damaging(name);
        assert!(clauses.len() >= 3, "{name}: {clauses:?}");
        let whole = played(&[name, "--size", size], 0);
        for clause in clauses {
            let without = played(&[name, "--size", size, "--without", &clause], 0);
            assert_ne!(damage(&without), [], "{name} without {clause}");
            assert_eq!(without["without"], clause.as_str());
            assert_eq!(without["digest"], whole["digest"], "the same calls: {name}, {clause}");
        }
    }
}

#[test]
fn the_plainest_damage_is_told_in_a_sentence() {
    for (name, size, clause, part) in [
        ("tickets", "40", "hold.free", "of 40 seats were sold more than once"),
        ("tickets", "40", "confirm.yours", "were taken by somebody who had not made them"),
        ("auction", "200", "close.open", "the lot was sold"),
        ("scheduler", "200", "claim_execution.ready", "of 200 jobs were done more than once"),
        ("payments", "200", "pay.open", "of 200 payments were charged more than once"),
    ] {
        run(&["demo", name, "--size", size, "--without", clause])
            .exits(0)
            .says(&format!("without {clause}"))
            .says(part);
    }
    run(&["demo", "tickets", "--size", "40"])
        .exits(0)
        .says("exactly 40 of 40 seats are sold, none twice")
        .says("digest");
}

#[test]
fn a_clause_that_prevents_something_else_shows_no_damage() {
    let told = run(&["demo", "tickets", "--size", "40", "--without", "browse_seat.free"]).exits(1);
    told.says("without `browse_seat.free` nothing that this demo counts went wrong");
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_left() {
    run(&["demo", "chess"]).exits(2).says("tickets, auction, scheduler, payments");
    run(&["demo", "tickets", "--size", "9"]).exits(2).says("10..=100000");
    run(&["demo", "tickets", "--without", "hold.fre"]).exits(2).says("did you mean `hold.free`?");
    run(&["demo", "tickets", "--without", "hold"]).exits(2).says("STEP.CLAUSE");
    run(&["demo", "auction", "--without", "place_bid.fresh"])
        .exits(2)
        .says("that a new record must not be there is not written anywhere");
    // the store is made among temporary files, and is gone afterwards
    let folder = folder("demo_leaves_nothing");
    let temporary = folder.join("temporary");
    fs::create_dir(&temporary).unwrap();
    let mut command = super::support::command(&folder, &["demo", "tickets", "--size", "10"]);
    let ran = command.env("TMPDIR", &temporary).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    assert_eq!(
        run_in(&folder, &["demo", "tickets", "--size", "10"]).exits(0).err.lines().count(),
        1
    );
}
