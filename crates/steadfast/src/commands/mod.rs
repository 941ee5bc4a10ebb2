//! One file for each command: its options, its help, and what it does.

mod check;
mod error;
mod explain;
mod fmt;
mod list;
mod new;
mod serve;
mod show;

use clap::Subcommand;

use crate::exit::Exit;
use crate::output::Output;
use crate::problem::Problem;

#[derive(Subcommand)]
pub enum Command {
    Check(check::Check),
    Explain(explain::Explain),
    Serve(serve::Serve),
    New(new::New),
    List(list::List),
    Show(show::Show),
    Fmt(fmt::Fmt),
    Error(error::ErrorPage),
}

/// What a command answers, or why it could not be carried out.
pub type Answer = Result<Exit, Problem>;

impl Command {
    pub fn run(self, output: &mut Output) -> Answer {
        match self {
            Command::Check(command) => command.run(output),
            Command::Explain(command) => command.run(output),
            Command::Serve(command) => command.run(output),
            Command::New(command) => command.run(output),
            Command::List(command) => command.run(output),
            Command::Show(command) => command.run(output),
            Command::Fmt(command) => command.run(output),
            Command::Error(command) => command.run(output),
        }
    }
}
