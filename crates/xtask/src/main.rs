//! The project's own automation. `cargo xtask` lists what it can do.

mod bench;
mod cargo;
mod designs;
mod dist;
mod fuzz;
mod plants;
mod repo;
mod table;
mod test;
mod tidy;
mod tlc;
mod tools;
mod torture;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

commands:
  test [--quick]   everything that must pass: format, tidy, clippy, tests, dependencies
  tidy             the checks on the source itself
  designs [NAME]…  write the verdict beside each design, or these, the list of designs, the ledger
  designs --pages  the list and the ledger alone, from the verdicts that are there
  designs --larger [NAME]…
                   each number of each world one larger, in turn: takes a quarter of an hour
  dist             an archive with checksums, statically linked; `--dynamic`, `--to DIR`, `--binary FILE`
  bench [NAME]     one benchmark; without a name, the list of them
  tlc [NAME]…      hold the checker against TLC on every design of the list, or on these
  torture          kill -9 under load, 300 times or as often as `--kills N` says; `torture crowd`: a server
                   among 2,000 clients that are slow, silent or greedy; `torture fanout`: 100,000 records are
                   told by `send each` through three kills; `torture postgres`: two servers on one PostgreSQL,
                   each kind of fault 50 times or as often as `--faults N` says
  fuzz checker     10,000 random designs against the naive interpreter, or `--seeds N`, from seed 1
                   or `--from S`
  fuzz slices      the same for the slices of 5,000 random designs of two parts
  fuzz uses        the same for 2,000 random designs that use random archetypes and change them
  fuzz doors       10,000,000 inputs to every door of a server, or `--inputs N`, from seed 1
  fuzz tokens      every design without each of its tokens: one mistake is one error
  plants [NAME]…   bugs in the store and the runtime, planted one after the other: the simulator has to find each;
                   `--seconds N` of the processor for each, 600 unless said otherwise";

/// What a command answers: `Ok(true)` yes, `Ok(false)` no and already explained, `Err` could not run.
type Answer = Result<bool, String>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match dispatch(&words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}

fn dispatch(words: &[&str]) -> Answer {
    match words {
        ["test"] => test::run(test::Extent::Whole),
        ["test", "--quick"] => test::run(test::Extent::Quick),
        ["tidy"] => tidy::run(),
        ["designs", names @ ..] => designs::run(names),
        ["dist", rest @ ..] => dist::run(rest),
        ["bench"] => bench::list(),
        ["bench", name, rest @ ..] => bench::run(name, rest),
        ["tlc", names @ ..] => tlc::run(names),
        ["torture", rest @ ..] => torture::run(rest),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["plants", rest @ ..] => plants::run(rest),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(true)
        }
        [] => Err(format!("no command given\n\n{USAGE}")),
        _ => Err(format!("`{}` is not a command of xtask\n\n{USAGE}", words.join(" "))),
    }
}

#[cfg(test)]
mod tests {
    use super::dispatch;

    #[test]
    fn an_unknown_command_is_an_error_that_shows_the_usage() {
        let problem = dispatch(&["tset", "--quick"]).unwrap_err();
        assert!(problem.starts_with("`tset --quick` is not a command of xtask"), "{problem}");
        assert!(problem.contains("usage: cargo xtask COMMAND"), "{problem}");
    }

    #[test]
    fn no_command_is_an_error() {
        assert!(dispatch(&[]).unwrap_err().starts_with("no command given"));
    }

    #[test]
    fn an_unknown_benchmark_is_an_error_that_lists_the_known_ones() {
        let problem = dispatch(&["bench", "lexicon"]).unwrap_err();
        assert!(problem.contains("`lexicon`") && problem.contains("language"), "{problem}");
    }
}
