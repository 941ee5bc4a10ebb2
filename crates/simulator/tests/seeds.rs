//! One seed, one history: also in another process.

use std::process::Command;

use crate::catalog::{named, worlds};

const CHILD: &str = "STEADFAST_SIMULATOR_CHILD";

fn digests() -> String {
    let mut all = String::new();
    let chosen = [("tickets", 1, 40), ("payments", 1, 40), ("A14", 1, 20), ("tickets", 2, 20)];
    for (name, servers, few) in chosen {
        let mut simulator = named(name);
        simulator.size.servers = servers;
        for seed in 0..worlds(few) {
            all += &format!("{name}/{servers} {seed} {}\n", simulator.draw(seed).digest);
        }
    }
    all
}

#[test]
fn the_same_seed_gives_the_same_history_in_two_processes() {
    if std::env::var(CHILD).is_ok() {
        println!("<<{}>>", digests());
        return;
    }
    let test = "seeds::the_same_seed_gives_the_same_history_in_two_processes";
    let child = Command::new(std::env::current_exe().expect("this program has a path"))
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, "1")
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&child.stdout).into_owned();
    let theirs = text.split("<<").nth(1).and_then(|rest| rest.split(">>").next());
    let ours = digests();
    assert_eq!(theirs, Some(ours.as_str()));
    let mut lines: Vec<&str> = ours.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    let count = lines.len();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), count, "two seeds gave one history");
}

#[test]
fn a_script_that_is_carried_out_again_comes_to_the_same() {
    for name in ["tickets", "payments", "A02"] {
        let simulator = named(name);
        for seed in 0..10 {
            let drawn = simulator.draw(seed);
            let again = simulator.again(&drawn.script);
            assert_eq!(drawn.digest, again.digest, "{name}, seed {seed}");
        }
    }
}
