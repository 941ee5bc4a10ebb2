//! The power is cut before every single operation of the disk.

use simulator::{Script, Size};
use store_embedded::disk::Faults;

use crate::catalog::{named, worlds};

/// So many commits, at least.
const COMMITS: u64 = 200;

#[test]
fn nothing_is_lost_wherever_the_power_is_cut() {
    let mut simulator = named("tickets");
    simulator.size = Size { calls: 500, lives: 1, servers: 1, sound_disk: true };
    let script = simulator.draw(1).script;
    let whole = simulator.again(&script);
    assert_eq!(whole.trouble, None);
    assert!(whole.facts.transitions >= COMMITS, "{:?}", whole.facts);
    let operations = whole.facts.disk_operations;
    assert!(operations > COMMITS, "{operations}");
    // every one of them with `STEADFAST_WORLDS=100000`
    let step = (operations / worlds(40)).max(1);
    for at in (1..=operations).step_by(step as usize) {
        let mut script: Script = script.clone();
        script.lives[0].faults = Faults { crash_at: Some(at), ..Faults::default() };
        let cut = simulator.again(&script);
        assert_eq!(cut.trouble, None, "before operation {at} of {operations}");
        assert_eq!(cut.facts.power_cuts, 1, "before operation {at} of {operations}");
    }
}
