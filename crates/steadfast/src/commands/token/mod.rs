//! `steadfast token`

mod inspect;
mod issue;
mod keys;
mod lifetime;
mod list;
mod revoke;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use identity::{Error, Identity};

use super::Answer;
use crate::output::Output;
use crate::problem::Problem;

/// Issue, list and revoke the tokens by which callers are known
///
/// A token names a principal and the roles (actors) it may act as, is signed with a key of the
/// directory of keys, and is good for one service until it expires or is revoked. A running server
/// that uses the same directory notices at once.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast token new ann --role buyer               prints a token, for a day
  steadfast token new olga --all-roles --expires 1h  for whoever operates the service
  steadfast token list
  steadfast token revoke --principal ann
  steadfast token inspect eyJhbGciOi…
  steadfast token keys rotate

A call presents its token: curl -H \"Authorization: Bearer $TOKEN\" …")]
pub struct Token {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    New(issue::New),
    List(list::List),
    Revoke(revoke::Revoke),
    Inspect(inspect::Inspect),
    Keys(keys::Keys),
}

impl Token {
    pub fn run(self, output: &mut Output) -> Answer {
        match self.command {
            Command::New(command) => command.run(output),
            Command::List(command) => command.run(output),
            Command::Revoke(command) => command.run(output),
            Command::Inspect(command) => command.run(output),
            Command::Keys(command) => command.run(output),
        }
    }
}

/// Where keys are kept, if nothing else is said.
pub const USUAL_KEYS: &str = "./steadfast-keys";

/// Where keys are kept.
#[derive(Args)]
pub struct Directory {
    /// The directory of keys
    #[arg(long, value_name = "DIR", default_value = USUAL_KEYS)]
    keys: PathBuf,
}

impl Directory {
    /// The keys, made if there are none yet, which is told: a server that has other keys knows no
    /// token that these sign.
    pub fn make(&self, output: &mut Output) -> Result<Identity, Problem> {
        match Identity::open(&self.keys, false) {
            Err(Error::Missing { .. }) => {}
            opened => return opened.map_err(problem),
        }
        let identity = Identity::open(&self.keys, true).map_err(problem)?;
        let keys = self.keys.display();
        output.tell(&format!(
            "note: new keys were made in `{keys}`; only a server that is started with `--keys {keys}` \
             knows their tokens\n"
        ));
        Ok(identity)
    }

    /// The keys that are there.
    pub fn open(&self) -> Result<Identity, Problem> {
        Identity::open(&self.keys, false).map_err(problem)
    }
}

/// What is wrong with the keys, and what to do about it.
pub fn problem(error: Error) -> Problem {
    let said = Problem::new(error.to_string());
    match error {
        Error::Open { path } => {
            let mode = if path.is_dir() { "700" } else { "600" };
            said.help(format!("`chmod {mode} {}` makes it private again", path.display()))
        }
        Error::Missing { .. } => said
            .help("`steadfast token new PRINCIPAL --role ROLE` makes keys, `--keys` names others"),
        Error::Damaged { .. } => {
            said.help("put the file back from a copy; nobody is let in meanwhile")
        }
        Error::Io { .. } | Error::Wrong(_) => said,
    }
}
