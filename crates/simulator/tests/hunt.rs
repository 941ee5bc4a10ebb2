//! For `cargo xtask plants`: is there something wrong with the store or the runtime that these worlds are made of?

use std::process::Command;

use simulator::{Simulator, Size, TRIES_MAX, Trouble, shrink};

use crate::catalog::named;
use crate::plants::{SEATS, compile};
use crate::replaced::{copied, stricter};

/// So little that a store comes to the end of a file after a few calls: the first one is as long as the design that is
/// registered in it.
const TALLY: &str = r#"design Tally
actor client
subject Count(count: text) { truth Total { total: int = 0 } }
step client[add(count: Count)] { Total.total += 1 }
read client[look(count: Count)] = Total
invariant grows: all c in Count: c.total >= old(c.total)
check { count: 1 client: 2 Total.total: 0..2 faults: lost_reply, crash }
"#;

/// Designs whose worlds go well.
fn simulators() -> Vec<(&'static str, Simulator)> {
    let size = Size { calls: 200, ..Size::default() };
    let several = Size { calls: 150, servers: 2, ..Size::default() };
    let seats = || Simulator::new(compile(SEATS), size).unwrap();
    let of_the_catalog = |name: &str| {
        let mut simulator = named(name);
        simulator.size = size;
        simulator
    };
    vec![
        ("tally", Simulator::new(compile(TALLY), size).unwrap()),
        ("seats", seats()),
        ("seats, copied", seats().replaced_by(compile(&copied())).unwrap()),
        ("seats, stricter", seats().replaced_by(compile(&stricter())).unwrap()),
        ("tickets", of_the_catalog("tickets")),
        ("payments", of_the_catalog("payments")),
        ("A13", of_the_catalog("A13")),
        ("seats, two servers", Simulator::new(compile(SEATS), several).unwrap()),
        (
            "seats, stricter, two servers",
            Simulator::new(compile(SEATS), several)
                .unwrap()
                .replaced_by(compile(&stricter()))
                .unwrap(),
        ),
        ("A13, two servers", {
            let mut simulator = of_the_catalog("A13");
            simulator.size = several;
            simulator
        }),
    ]
}

/// Seconds of the processor that this process has used.
fn used() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks =
        |at: usize| after_name.split_whitespace().nth(at).and_then(|it| it.parse::<f64>().ok());
    let ticks: f64 = [11, 12].into_iter().filter_map(ticks).sum();
    ticks / ticks_a_second()
}

fn ticks_a_second() -> f64 {
    let told = Command::new("getconf").arg("CLK_TCK").output().ok();
    let told = told.and_then(|told| String::from_utf8(told.stdout).ok());
    told.and_then(|told| told.trim().parse().ok()).unwrap_or(100.0)
}

/// In the tests nothing is planted, and a few worlds are enough; `cargo xtask plants` says for how many seconds to hunt.
#[test]
fn what_is_planted() {
    let Ok(seconds) = std::env::var("STEADFAST_HUNT") else {
        for (name, simulator) in simulators() {
            let trouble = (100..103).find_map(|seed| simulator.draw(seed).trouble);
            assert_eq!(trouble, None, "{name}");
        }
        return;
    };
    let seconds: f64 = seconds.parse().expect("a number of seconds");
    // a world that panics is caught, and told with its seed
    std::panic::set_hook(Box::new(|_| {}));
    let simulators = simulators();
    for seed in 0.. {
        for (name, simulator) in &simulators {
            let wrong = simulator.draw(seed);
            let Some(kind) = wrong.trouble.as_ref().map(Trouble::kind) else { continue };
            let (calls, after) = (wrong.script.calls(), used());
            let again = simulator.draw(seed);
            assert_eq!(again.digest, wrong.digest, "seed {seed} shows something else");
            let shrunk = shrink(simulator, wrong, TRIES_MAX);
            println!(
                "hunt: {name}, seed {seed}, {after:.1} s: {kind}; {calls} calls, {} after {} tries",
                shrunk.outcome.script.calls(),
                shrunk.tries
            );
            return;
        }
        if used() > seconds {
            println!("hunt: nothing");
            return;
        }
    }
}
