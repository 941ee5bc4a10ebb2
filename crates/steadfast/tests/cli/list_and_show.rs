//! `steadfast list` and `steadfast show`

use crate::cli::support::run;

#[test]
fn the_catalog_is_listed() {
    run(&["list"]).exits(0).says("  I02").says("Seat booking with timed holds");
    let value = run(&["list", "--json"]).exits(0).json();
    assert_eq!(value["format"], "steadfast-list/1");
    let names: Vec<_> = value["designs"].as_array().unwrap().iter().map(|d| &d["name"]).collect();
    for name in ["I02", "A08", "tickets", "payments"] {
        assert!(names.iter().any(|held| **held == name), "{name}");
    }
}

#[test]
fn an_archetype_is_shown_with_its_families_spelled_out() {
    run(&["show", "i02"])
        .exits(0)
        .says("archetype I02 Claim")
        .says("// at_most_one_current_valid_owner(Resource, owner_id, expiry_at): ")
        .says("or old(r.expiry_at) < now");
    let value = run(&["show", "I02", "--json"]).exits(0).json();
    assert_eq!(value["id"], "I02");
    assert_eq!(value["compiled"]["format"], "steadfast-design/1");
    assert!(value["text"].as_str().unwrap().contains("at_most_one_current_valid_owner("));
}
