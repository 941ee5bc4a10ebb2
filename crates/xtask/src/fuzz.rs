//! `cargo xtask fuzz checker`: random designs, as many as one likes, held against the naive
//! interpreter.
//!
//! The test is the one that runs with 500 designs among all others. Here it runs with a night's worth,
//! from any seed, and prints what it found.

use crate::{cargo, repo};

pub const SEEDS: u64 = 10_000;

pub fn run(arguments: &[&str]) -> crate::Answer {
    let (seeds, from) = extent(arguments)?;
    let root = repo::root()?;
    let mut test = cargo::command(&root);
    test.args(["test", "--quiet", "--release", "--package", "model-checker", "--test", "it"]);
    test.args(["--", "--nocapture", "--test-threads", "1", "random_designs::"]);
    test.env("STEADFAST_DESIGNS", seeds.to_string()).env("STEADFAST_SEED", from.to_string());
    eprintln!("checker: {seeds} random designs from seed {from}");
    cargo::succeeds(&mut test)
}

/// How many seeds, and from which one.
fn extent(arguments: &[&str]) -> Result<(u64, u64), String> {
    let ["checker", rest @ ..] = arguments else {
        return Err("`fuzz` takes `checker`, and then `--seeds N` and `--from S` or nothing".into());
    };
    let (mut seeds, mut from) = (SEEDS, 1);
    let mut rest = rest;
    while let [name, value, more @ ..] = rest {
        let number = value.parse().map_err(|_| format!("`{value}` is no number"))?;
        match *name {
            "--seeds" => seeds = number,
            "--from" => from = number,
            _ => return Err(format!("`fuzz checker` has no option `{name}`")),
        }
        rest = more;
    }
    match rest {
        [] => Ok((seeds, from)),
        [name, ..] => Err(format!("`{name}` takes a number")),
    }
}

#[cfg(test)]
mod tests {
    use super::extent;

    #[test]
    fn seeds_are_given_or_ten_thousand_from_the_first() {
        assert_eq!(extent(&["checker"]), Ok((10_000, 1)));
        assert_eq!(extent(&["checker", "--from", "7", "--seeds", "20"]), Ok((20, 7)));
    }

    #[test]
    fn what_cannot_be_meant_is_an_error() {
        assert!(extent(&[]).is_err());
        assert!(extent(&["checker", "--seeds", "many"]).unwrap_err().contains("`many`"));
        assert!(extent(&["checker", "--seeds"]).unwrap_err().contains("`--seeds`"));
        assert!(extent(&["checker", "--night", "1"]).unwrap_err().contains("`--night`"));
    }
}
