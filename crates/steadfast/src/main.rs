//! The command line: reads files, wires the rooms together, prints, and chooses the exit code.
//! Knows nothing of how anything is parsed, typed or explored.

mod client;
mod commands;
mod diagnostics;
mod exit;
mod heap;
mod load;
mod log;
mod output;
mod problem;
mod progress;
mod removed;
mod size;
mod verdicts;

use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use steadfast::catalog;

use output::{HELP, Output};

/// Say who may do what, and when; then see it proved, or broken.
#[derive(Parser)]
#[command(name = "steadfast", version, after_help = AFTER_HELP, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

const AFTER_HELP: &str = "\
Examples:
  steadfast dev tickets                       serve a design of the catalog, checked, to try it
  steadfast find double booking               which archetype is my problem?
  steadfast list                              the catalog
  steadfast check tickets                     check one of its designs
  steadfast new shop --from A08 --as Ticket   a design of your own from an archetype
  steadfast dev shop.design                   serve it, check it, and again whenever it is saved

DESIGN is a path, or the name of a design in the catalog (`tickets`, `I02`).
Exit codes: 0 yes, 1 no, 2 wrong usage or a design that does not compile, 3 not known within the budget.";

fn main() -> ExitCode {
    let arguments = Arguments::try_parse().unwrap_or_else(|error| wrong_usage(&error));
    let mut output = Output::new();
    let exit = match arguments.command.run(&mut output) {
        Ok(exit) => exit,
        Err(problem) => problem.show(&mut output),
    };
    output.finish(exit).into()
}

/// Says what is wrong as clap does, and what a design is where none was named.
fn wrong_usage(error: &clap::Error) -> ! {
    let _ = error.print();
    if error.kind() == ErrorKind::MissingRequiredArgument && missing(error).contains("<DESIGN>") {
        anstream::eprintln!(
            "\n{HELP}help{HELP:#}: DESIGN is a path (`shop.design`), or the name of a design in the \
             catalog (`tickets`); `steadfast list` prints the catalog"
        );
    }
    std::process::exit(error.exit_code())
}

/// The arguments that were not given, one after the other.
fn missing(error: &clap::Error) -> String {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(names)) => names.join(" "),
        Some(ContextValue::String(name)) => name.clone(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Arguments;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example() {
        for command in Arguments::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let example = format!("steadfast {}", command.get_name());
            assert!(help.contains(&example), "`{}` shows no example", command.get_name());
        }
    }
}
