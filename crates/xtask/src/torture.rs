//! `cargo xtask torture`: `kill -9` under load, as often as one likes. `cargo xtask torture crowd`: a server
//! among clients that are slow, silent or greedy. `cargo xtask torture fanout`: 100,000 records are told by `send each`
//! through three kills. `cargo xtask torture postgres`: two servers on one PostgreSQL, and each kind of fault 50 times.
//!
//! The tests are those that run at a small size with all others. Here they run in release, with
//! more kills, and what they print at the end is shown.

use std::process::Stdio;

use crate::{cargo, repo};

pub const KILLS: u64 = 300;
const CROWD: u64 = 2_000;
const FOLLOWERS: u64 = 100_000;
const FAULTS: u64 = 50;

/// Packages with tests `torture` that read how often to kill from `STEADFAST_KILLS`.
const TORTURED: &[(&str, &str)] = &[("store-embedded", "the store"), ("runtime", "the runtime")];

pub fn run(arguments: &[&str]) -> crate::Answer {
    let root = repo::root()?;
    if let ["crowd", rest @ ..] = arguments {
        let mut test = cargo::command(&root);
        test.args(["test", "--quiet", "--release", "--package", "steadfast", "--test", "it"]);
        test.args(["--", "--nocapture", "--exact", "crowd::honest_clients_do_not_notice_a_crowd"]);
        test.env("STEADFAST_CROWD", crowd(rest)?.to_string());
        return cargo::succeeds(&mut test);
    }
    if let ["fanout", rest @ ..] = arguments {
        let mut test = cargo::command(&root);
        test.args(["test", "--quiet", "--release", "--package", "runtime", "--test", "it"]);
        let name = "sending_each::followers_are_told_once_under_their_keys_through_three_kills";
        test.args(["--", "--nocapture", "--exact", name]);
        test.env("STEADFAST_FOLLOWERS", followers(rest)?.to_string());
        return cargo::succeeds(&mut test);
    }
    if let ["postgres", rest @ ..] = arguments {
        let mut test = cargo::command(&root);
        test.args(["test", "--quiet", "--release", "--package", "steadfast", "--test", "it"]);
        test.args(["--", "--nocapture", "--test-threads", "1", "cli::postgres::faults::"]);
        test.env("STEADFAST_FAULTS", faults(rest)?.to_string());
        return cargo::succeeds(&mut test);
    }
    let kills = kills(arguments)?;
    let mut held = true;
    for (package, name) in TORTURED {
        let mut test = cargo::command(&root);
        test.args(["test", "--quiet", "--release", "--package", package, "--test", "it"]);
        test.args(["--", "--nocapture", "--test-threads", "1", "torture::"]);
        test.env("STEADFAST_KILLS", kills.to_string()).stderr(Stdio::inherit());
        eprintln!("{name}: {kills} kills under load");
        let output = test.output().map_err(|e| format!("cannot start cargo: {e}"))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let passed = output.status.success();
        held &= passed;
        if passed {
            closing(&printed).for_each(|line| println!("{name}: {line}"));
        } else {
            println!("{printed}\n{name}: FAILED");
        }
    }
    Ok(held)
}

fn kills(arguments: &[&str]) -> Result<u64, String> {
    match arguments {
        [] => Ok(KILLS),
        ["--kills", kills] => kills.parse().map_err(|_| format!("`{kills}` is no number of kills")),
        _ => Err("`torture` takes `--kills N`, `crowd`, `fanout`, `postgres`, or nothing".into()),
    }
}

/// How many slow, silent and greedy clients come.
fn crowd(arguments: &[&str]) -> Result<u64, String> {
    match arguments {
        [] => Ok(CROWD),
        ["--clients", clients] => {
            clients.parse().map_err(|_| format!("`{clients}` is no number of clients"))
        }
        _ => Err("`torture crowd` takes `--clients N` or nothing".into()),
    }
}

/// How many records are told.
fn followers(arguments: &[&str]) -> Result<u64, String> {
    match arguments {
        [] => Ok(FOLLOWERS),
        ["--followers", count] => {
            count.parse().map_err(|_| format!("`{count}` is no number of followers"))
        }
        _ => Err("`torture fanout` takes `--followers N` or nothing".into()),
    }
}

/// How often each kind of fault comes.
fn faults(arguments: &[&str]) -> Result<u64, String> {
    match arguments {
        [] => Ok(FAULTS),
        ["--faults", count] => {
            count.parse().map_err(|_| format!("`{count}` is no number of faults"))
        }
        _ => Err("`torture postgres` takes `--faults N` or nothing".into()),
    }
}

/// The lines that tell the seed and the figures, without those of the test harness.
fn closing(printed: &str) -> impl Iterator<Item = &str> {
    // the harness begins a line with its own marks
    let own = printed.lines().map(|line| line.trim().trim_start_matches('.'));
    own.filter(|line| line.contains("kills") || line.starts_with("seed "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_are_given_or_three_hundred() {
        assert_eq!(kills(&[]), Ok(300));
        assert_eq!(kills(&["--kills", "7"]), Ok(7));
        assert!(kills(&["--kills", "many"]).unwrap_err().contains("`many`"));
        assert!(kills(&["7"]).is_err());
        assert_eq!((crowd(&[]), crowd(&["--clients", "9"])), (Ok(2_000), Ok(9)));
        assert!(crowd(&["9"]).is_err());
        assert_eq!((followers(&[]), followers(&["--followers", "9"])), (Ok(100_000), Ok(9)));
        assert!(followers(&["many"]).is_err());
        assert_eq!((faults(&[]), faults(&["--faults", "9"])), (Ok(50), Ok(9)));
        assert!(faults(&["many"]).is_err());
    }

    #[test]
    fn figures_are_shown_and_the_harness_is_not() {
        let printed =
            "\nrunning 3 tests\n.seed 17\n.6 kills, 90 tried, 80 acknowledged\n\ntest result: ok\n";
        let lines: Vec<&str> = closing(printed).collect();
        assert_eq!(lines, ["seed 17", "6 kills, 90 tried, 80 acknowledged"]);
    }
}
