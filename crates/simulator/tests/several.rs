//! Several servers on a store that is far away.

use simulator::{Facts, Simulator, Size};

use crate::catalog::{of_every_design, worlds};
use crate::plants::{SEATS, compile};
use crate::replaced::stricter;

fn size() -> Size {
    Size { calls: 120, servers: 2, ..Size::default() }
}

fn go_well(name: &str, simulator: &Simulator, few: u64) -> Facts {
    let mut facts = Facts::default();
    for seed in 0..worlds(few) {
        let outcome = simulator.draw(seed);
        facts.add(&outcome.facts);
        let story: Vec<String> = outcome.story.iter().map(|event| event.text.clone()).collect();
        assert_eq!(outcome.trouble, None, "{name}, seed {seed}:\n{}", story.join("\n"));
    }
    facts
}

#[test]
fn two_servers_do_what_one_does() {
    let simulator = Simulator::new(compile(SEATS), size()).unwrap();
    let facts = go_well("seats", &simulator, 40);
    assert!(facts.kills > 10 && facts.lost_requests > 10 && facts.asked_again > 10, "{facts:?}");
    // a server was killed between its commit and its answer, and another one gave the answer
    assert!(facts.replayed > 0, "{facts:?}");
    assert!(facts.transitions > facts.calls / 10, "{facts:?}");
}

#[test]
fn a_script_comes_to_the_same_with_several_servers() {
    let simulator = Simulator::new(compile(SEATS), Size { servers: 3, ..size() }).unwrap();
    for seed in 0..worlds(10) {
        let drawn = simulator.draw(seed);
        let again = simulator.again(&drawn.script);
        assert_eq!(drawn.digest, again.digest, "seed {seed}");
    }
}

#[test]
fn servers_are_upgraded_one_after_the_other() {
    let simulator =
        Simulator::new(compile(SEATS), size()).unwrap().replaced_by(compile(&stricter())).unwrap();
    let facts = go_well("seats, stricter", &simulator, 40);
    assert!(facts.replacements > 10, "{facts:?}");
    assert!(facts.refused.keys().any(|(_, clause)| clause == "few"), "{facts:?}");
}

/// The commit that begins the next version may fail, and others of its process know of it before: a server that took it for
/// done answered for ever that it was replaced.
#[test]
fn a_replacement_that_is_sent_again_replaces_nobody_before() {
    let size = Size { calls: 150, ..size() };
    let simulator =
        Simulator::new(compile(SEATS), size).unwrap().replaced_by(compile(&stricter())).unwrap();
    for seed in [567, 808] {
        assert_eq!(simulator.draw(seed).trouble, None, "seed {seed}");
    }
}

/// In the tests two worlds of each; more with `STEADFAST_WORLDS=100`, of one design alone with `STEADFAST_DESIGN=tickets`.
#[test]
fn every_design_goes_well_with_two_servers() {
    let (_, wrong) = of_every_design(Size { calls: 80, ..size() }, 2);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
