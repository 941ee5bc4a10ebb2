//! One file for each command: its options, its help, and what it does.

mod aside;
mod audit;
mod backup;
mod bench;
mod break_it;
mod call;
mod check;
mod client;
mod clock;
mod completions;
mod copy;
mod demo;
mod dev;
mod error;
mod explain;
mod export;
mod find;
mod fmt;
mod get;
mod host;
mod import;
mod list;
mod lsp;
mod man;
mod new;
mod outgoing_options;
mod places;
mod replace;
mod restore;
mod scaffold;
mod schedule;
mod secrets;
mod serve;
mod servers;
mod show;
mod simulate;
mod store_watch;
mod test;
mod tla;
mod token;
mod tries;
mod verify;
mod view;
mod watch;

use clap::Subcommand;

use crate::exit::Exit;
use crate::output::Output;
use crate::problem::Problem;

#[derive(Subcommand)]
pub enum Command {
    Check(check::Check),
    Test(test::Test),
    Explain(explain::Explain),
    Client(client::Client),
    Serve(serve::Serve),
    Dev(dev::Dev),
    New(new::New),
    Find(find::Find),
    List(list::List),
    Show(show::Show),
    Fmt(fmt::Fmt),
    Error(error::ErrorPage),
    Lsp(lsp::Lsp),
    Schedule(schedule::Schedule),
    Call(call::Call),
    Get(get::Get),
    View(view::View),
    Watch(watch::Watch),
    Bench(bench::Bench),
    Demo(demo::Demo),
    Break(break_it::Break),
    Simulate(simulate::Simulate),
    Replace(replace::Replace),
    Aside(aside::Aside),
    Servers(servers::Servers),
    Backup(backup::Backup),
    Verify(verify::Verify),
    Restore(restore::Restore),
    Copy(copy::Copy),
    Export(export::Export),
    Import(import::Import),
    Token(token::Token),
    Secrets(secrets::Secrets),
    Audit(audit::Audit),
    Completions(completions::Completions),
    Man(man::Man),
}

/// What a command answers, or why it could not be carried out.
pub type Answer = Result<Exit, Problem>;

impl Command {
    pub fn run(self, output: &mut Output) -> Answer {
        match self {
            Command::Check(command) => command.run(output),
            Command::Test(command) => command.run(output),
            Command::Explain(command) => command.run(output),
            Command::Client(command) => command.run(output),
            Command::Serve(command) => command.run(output),
            Command::Dev(command) => command.run(output),
            Command::New(command) => command.run(output),
            Command::Find(command) => command.run(output),
            Command::List(command) => command.run(output),
            Command::Show(command) => command.run(output),
            Command::Fmt(command) => command.run(output),
            Command::Error(command) => command.run(output),
            Command::Lsp(command) => command.run(output),
            Command::Schedule(command) => command.run(output),
            Command::Call(command) => command.run(output),
            Command::Get(command) => command.run(output),
            Command::View(command) => command.run(output),
            Command::Watch(command) => command.run(output),
            Command::Bench(command) => command.run(output),
            Command::Demo(command) => command.run(output),
            Command::Break(command) => command.run(output),
            Command::Simulate(command) => command.run(output),
            Command::Replace(command) => command.run(output),
            Command::Aside(command) => command.run(output),
            Command::Servers(command) => command.run(output),
            Command::Backup(command) => command.run(output),
            Command::Verify(command) => command.run(output),
            Command::Restore(command) => command.run(output),
            Command::Copy(command) => command.run(output),
            Command::Export(command) => command.run(output),
            Command::Import(command) => command.run(output),
            Command::Token(command) => command.run(output),
            Command::Secrets(command) => command.run(output),
            Command::Audit(command) => command.run(output),
            Command::Completions(command) => command.run(output),
            Command::Man(command) => command.run(output),
        }
    }
}
