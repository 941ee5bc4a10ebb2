//! The command line: reads files, wires the rooms together, prints, and chooses the exit code.
//! Knows nothing of how anything is parsed, typed or explored.

mod catalog;
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
mod size;
mod verdicts;

use std::process::ExitCode;

use clap::Parser;

use output::Output;

/// Say who may do what, and when; then see it proved, or broken.
#[derive(Parser)]
#[command(name = "steadfast", version, after_help = AFTER_HELP, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

const AFTER_HELP: &str = "\
Examples:
  steadfast list                              the catalog
  steadfast check tickets                     check one of its designs
  steadfast new shop --from A08 --as Ticket   a design of your own from an archetype
  steadfast check shop.design                 check it

DESIGN is a path, or the name of a design in the catalog (`tickets`, `I02`).
Exit codes: 0 yes, 1 no, 2 wrong usage or a design that does not compile, 3 not known within the budget.";

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut output = Output::new();
    let exit = match arguments.command.run(&mut output) {
        Ok(exit) => exit,
        Err(problem) => problem.show(&mut output),
    };
    output.finish(exit).into()
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
