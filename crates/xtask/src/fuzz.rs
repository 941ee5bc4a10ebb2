//! `cargo xtask fuzz checker`, `slices` and `uses`: random designs, as many as one likes, held against the naive
//! interpreter. `cargo xtask fuzz doors`: inputs to every door of a server. `cargo xtask fuzz calendar`: random
//! schedules beside croniter. `cargo xtask fuzz tokens`: every design without each of its tokens. `cargo xtask fuzz editor`:
//! random edits, as an editor sends them. `cargo xtask fuzz spoiled`: texts of designs with something wrong in them.
//!
//! The tests are the ones that run with a small number among all others. Here one of them runs with a night's
//! worth, from any seed, and prints what it found.

use crate::{cargo, repo};

/// A test with random designs, or other inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Hunt {
    name: &'static str,
    package: &'static str,
    test: &'static str,
    /// what there are many of
    of: &'static str,
    /// the variable that says how many
    variable: &'static str,
    seeds: u64,
}

const HUNTS: [Hunt; 8] = [
    Hunt {
        name: "checker",
        package: "model-checker",
        of: "random designs",
        test: "random_designs::the_checker_agrees_with_a_naive_interpreter",
        variable: "STEADFAST_DESIGNS",
        seeds: 10_000,
    },
    Hunt {
        name: "slices",
        package: "model-checker",
        of: "random designs",
        test: "random_designs::slices_agree_with_a_naive_interpreter_of_the_whole_design",
        variable: "STEADFAST_PARTS",
        seeds: 5_000,
    },
    Hunt {
        name: "uses",
        package: "model-checker",
        of: "random designs",
        test: "random_uses::used_and_changed_designs_have_the_verdicts_of_the_same_designs_by_hand",
        variable: "STEADFAST_USES",
        seeds: 2_000,
    },
    Hunt {
        name: "doors",
        package: "steadfast",
        of: "inputs",
        test: "doors::nothing_that_comes_through_a_door_is_the_server_s_fault",
        variable: "STEADFAST_INPUTS",
        seeds: 10_000_000,
    },
    Hunt {
        name: "calendar",
        package: "calendar",
        of: "schedules",
        test: "croniter::schedules_are_those_of_croniter_except_where_a_clock_changes",
        variable: "STEADFAST_SCHEDULES",
        seeds: 100_000,
    },
    Hunt {
        name: "tokens",
        package: "design",
        of: "tokens left out at most",
        test: "one_mistake::a_missing_token_is_hardly_ever_more_than_one_error",
        variable: "STEADFAST_TOKENS",
        seeds: 10_000_000,
    },
    Hunt {
        name: "editor",
        package: "language-server",
        of: "random edits",
        test: "random_edits::random_edits_are_told_as_a_fresh_compilation_tells_them",
        variable: "STEADFAST_EDITS",
        seeds: 100_000,
    },
    Hunt {
        name: "spoiled",
        package: "design",
        of: "spoiled texts",
        test: "robustness::spoiled_texts_compile_or_say_why_not",
        variable: "STEADFAST_SPOILED",
        seeds: 1_000_000,
    },
];

pub fn run(arguments: &[&str]) -> crate::Answer {
    let (hunt, seeds, from) = extent(arguments)?;
    let root = repo::root()?;
    let mut test = cargo::command(&root);
    test.args(["test", "--quiet", "--release", "--package", hunt.package, "--test", "it"]);
    test.args(["--", "--nocapture", "--exact", hunt.test]);
    test.env(hunt.variable, seeds.to_string()).env("STEADFAST_SEED", from.to_string());
    eprintln!("{}: {seeds} {} from seed {from}", hunt.name, hunt.of);
    cargo::succeeds(&mut test)
}

/// Which hunt, how many seeds, and from which one.
fn extent(arguments: &[&str]) -> Result<(Hunt, u64, u64), String> {
    let usage = "`fuzz` takes `checker`, `slices`, `uses`, `doors`, `calendar`, `tokens`, `editor` or `spoiled`, and then `--seeds N` and `--from S` or nothing";
    let [name, rest @ ..] = arguments else { return Err(usage.into()) };
    let hunt = HUNTS.iter().find(|hunt| hunt.name == *name).copied().ok_or(usage)?;
    let (mut seeds, mut from) = (hunt.seeds, 1);
    let mut rest = rest;
    while let [name, value, more @ ..] = rest {
        let number = value.parse().map_err(|_| format!("`{value}` is no number"))?;
        match *name {
            "--seeds" | "--inputs" => seeds = number,
            "--from" => from = number,
            _ => return Err(format!("`fuzz {}` has no option `{name}`", hunt.name)),
        }
        rest = more;
    }
    match rest {
        [] => Ok((hunt, seeds, from)),
        [name, ..] => Err(format!("`{name}` takes a number")),
    }
}

#[cfg(test)]
mod tests {
    use super::{HUNTS, extent};

    #[test]
    fn seeds_are_given_or_a_night_s_worth_from_the_first() {
        assert_eq!(extent(&["checker"]), Ok((HUNTS[0], 10_000, 1)));
        assert_eq!(extent(&["slices"]), Ok((HUNTS[1], 5_000, 1)));
        assert_eq!(extent(&["uses"]), Ok((HUNTS[2], 2_000, 1)));
        assert_eq!(extent(&["doors", "--inputs", "9"]), Ok((HUNTS[3], 9, 1)));
        assert_eq!(extent(&["calendar"]), Ok((HUNTS[4], 100_000, 1)));
        assert_eq!(extent(&["editor"]), Ok((HUNTS[6], 100_000, 1)));
        assert_eq!(extent(&["spoiled"]), Ok((HUNTS[7], 1_000_000, 1)));
        let given = extent(&["slices", "--from", "7", "--seeds", "20"]);
        assert_eq!(given, Ok((HUNTS[1], 20, 7)));
    }

    #[test]
    fn what_cannot_be_meant_is_an_error() {
        assert!(extent(&[]).is_err());
        assert!(extent(&["parser"]).is_err());
        assert!(extent(&["checker", "--seeds", "many"]).unwrap_err().contains("`many`"));
        assert!(extent(&["checker", "--seeds"]).unwrap_err().contains("`--seeds`"));
        assert!(extent(&["slices", "--night", "1"]).unwrap_err().contains("`--night`"));
    }
}
