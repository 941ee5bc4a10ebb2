//! `steadfast new`

use std::fs;

use crate::cli::support::{folder, run_in};

#[test]
fn a_new_design_is_ready_to_check() {
    let folder = folder("new");
    run_in(&folder, &["new", "shop", "--from", "A08", "--as", "Ticket"])
        .exits(0)
        .says("wrote shop.design")
        .says("next: steadfast check shop.design");
    let text = fs::read_to_string(folder.join("shop.design")).unwrap();
    assert!(
        text.contains("design Shop \"Time-bounded exclusive allocation of a ticket\""),
        "{text}"
    );
    assert!(text.contains("use A08 as Ticket {"), "{text}");
    assert!(text.lines().count() < 20, "{text}");
    run_in(&folder, &["fmt", "--check", "shop.design"]).exits(0);
    run_in(&folder, &["check", "shop.design"]).exits(0).says("shop.design: proved");
}

#[test]
fn nothing_is_written_over() {
    let folder = folder("new-twice");
    fs::write(folder.join("shop.design"), "mine").unwrap();
    run_in(&folder, &["new", "shop", "--from", "A08", "--as", "Ticket"])
        .exits(2)
        .says("error: `shop.design` is there already")
        .says("help: choose another name");
    assert_eq!(fs::read_to_string(folder.join("shop.design")).unwrap(), "mine");
}

#[test]
fn what_cannot_be_made_says_what_to_write_instead() {
    let folder = folder("new-wrong");
    let new = |name: &str, from: &str, noun: &str| {
        run_in(&folder, &["new", name, "--from", from, "--as", noun]).exits(2)
    };
    new("shop", "A80", "Ticket")
        .says("error: no archetype `A80` in the catalog")
        .says("help: did you mean `A08`?");
    new("shop", "tickets", "Ticket").says("`tickets` is a design, not an archetype");
    new("shop", "A08", "ticket").says("write `--as Ticket`");
    new("../shop", "A08", "Ticket").says("`../shop` is not a name for a design");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_noun_is_asked_for_only_where_there_is_a_placeholder() {
    let folder = folder("new-noun");
    run_in(&folder, &["new", "shop", "--from", "A08"])
        .exits(2)
        .says("error: `A08` is written for any noun `X`")
        .says("help: say what takes its place, such as `--as Ticket`");
    run_in(&folder, &["new", "lease", "--from", "I02"])
        .exits(0)
        .says("steadfast dev lease.design")
        .says("steadfast show lease.design --flat");
    let text = fs::read_to_string(folder.join("lease.design")).unwrap();
    assert!(text.contains("use I02 as Lease {"), "{text}");
    run_in(&folder, &["check", "lease.design", "--compile-only"]).exits(0);
}
