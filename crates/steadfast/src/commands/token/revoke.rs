//! `steadfast token revoke`

use clap::Args;
use identity::{Target, now_s};
use serde_json::json;

use super::{Directory, problem};
use crate::commands::Answer;
use crate::exit::Exit;
use crate::output::Output;

/// Take a token back, or all tokens of a principal
///
/// Takes effect at once, also in servers that run and on connections that are open.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast token revoke 5gYh3kq0ZrXc2w1p
  steadfast token revoke --principal ann")]
pub struct Revoke {
    /// The id of a token, as `token list` shows it
    // an id is any base64url text: it may begin with a hyphen
    #[arg(value_name = "ID", required_unless_present = "principal", allow_hyphen_values = true)]
    id: Option<String>,
    /// Everything that this principal has been given so far
    #[arg(long, value_name = "NAME", conflicts_with = "id")]
    principal: Option<String>,
    #[command(flatten)]
    directory: Directory,
    /// For a script: one object that says what was revoked
    #[arg(long)]
    json: bool,
}

impl Revoke {
    pub fn run(self, output: &mut Output) -> Answer {
        let identity = self.directory.open()?;
        let known = identity.tokens().map_err(problem)?;
        let target = match (&self.id, &self.principal) {
            (_, Some(principal)) => Target::Principal(principal),
            (id, None) => Target::Token(id.as_deref().unwrap_or_default()),
        };
        let hit = known.iter().filter(|token| match target {
            Target::Token(id) => token.id == id,
            Target::Principal(principal) => token.principal == principal,
        });
        let hit = hit.count();
        identity.revoke(target, now_s()).map_err(problem)?;
        if self.json {
            let object = json!({
                "format": "steadfast-revoked/1",
                "token": self.id,
                "principal": self.principal,
                "known": hit,
            });
            output.print(&format!("{object:#}\n"));
            return Ok(Exit::Yes);
        }
        match target {
            Target::Token(id) => output.print(&format!("token {id} is revoked\n")),
            Target::Principal(name) => {
                output.print(&format!("all tokens of `{name}` are revoked: {hit}\n"));
            }
        }
        if hit == 0 {
            output.tell("note: none was issued with these keys\n");
        }
        Ok(Exit::Yes)
    }
}
