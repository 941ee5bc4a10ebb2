//! One seed, one outcome: a thousand small worlds of a store on a disk that fails, each in two processes. With one
//! thing put back that a seed does not decide, the comparison fails.

mod world;

use std::process::{Child, Command, Stdio};

use self::world::{Facts, Plant, world};

const WORLDS: u64 = 1_000;

/// Set for the process that runs the worlds, which is this test once more: what is planted.
const PLANTED: &str = "STEADFAST_SEEDS_PLANTED";

const NAME: &str = "seeds::one_seed_gives_one_outcome_in_two_processes";

/// Runs the worlds and prints what came of each.
fn run(plant: Plant) {
    let mut facts = Facts::default();
    for seed in 0..plant.worlds(WORLDS) {
        println!("\nworld {seed} {}", world(seed, plant, &mut facts));
    }
    println!("\nfacts {facts:?}");
    if plant == Plant::Nothing {
        // The comparison means something only if these happened.
        let Facts { lives, crashes, poisoned, snapshots, scrubs, reopened } = facts;
        assert!(lives >= 2 * WORLDS && crashes >= WORLDS / 2, "{facts:?}");
        assert!(poisoned >= 50 && snapshots >= WORLDS / 2, "{facts:?}");
        assert!(scrubs >= WORLDS / 2 && reopened == WORLDS, "{facts:?}");
    }
}

fn start(plant: Plant) -> Child {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.args(["--exact", NAME, "--nocapture"]).env(PLANTED, plant.name());
    command.stdout(Stdio::piped()).spawn().expect("this program starts")
}

/// What two processes said of each world.
fn both(plant: Plant) -> [Vec<String>; 2] {
    let outputs = [start(plant), start(plant)].map(|child| child.wait_with_output());
    outputs.map(|output| {
        let output = output.expect("it ends");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}");
        said.lines().filter(|line| line.starts_with("world ")).map(str::to_owned).collect()
    })
}

/// The worlds that came out differently.
fn different([one, other]: &[Vec<String>; 2]) -> Vec<String> {
    let pairs = one.iter().zip(other).filter(|(one, other)| one != other);
    pairs.map(|(one, other)| format!("{one} and {other}")).collect()
}

#[test]
fn one_seed_gives_one_outcome_in_two_processes() {
    if let Some(planted) = std::env::var_os(PLANTED) {
        let planted = planted.into_string().expect("the name of a plant");
        return run(Plant::named(&planted));
    }
    let said = both(Plant::Nothing);
    assert_eq!(said[0].len() as u64, WORLDS);
    let different = different(&said);
    assert!(different.is_empty(), "{} of {WORLDS}: {}", different.len(), different.join("; "));
    let mut digests: Vec<&str> = said[0].iter().filter_map(|line| line.split(' ').nth(2)).collect();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len() as u64, WORLDS, "two seeds gave one outcome");
}

#[test]
fn what_a_seed_does_not_decide_is_noticed() {
    for plant in [Plant::HashOrder, Plant::Chance] {
        let said = both(plant);
        let worlds = plant.worlds(WORLDS) as usize;
        assert_eq!(said[0].len(), worlds);
        let different = different(&said);
        assert_eq!(different.len(), worlds, "{plant:?}: {different:?}");
    }
}
