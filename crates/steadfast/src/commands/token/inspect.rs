//! `steadfast token inspect TOKEN`

use std::io::Read as _;

use clap::Args;
use identity::{now_s, time_text};
use serde_json::json;

use super::Directory;
use super::list::roles_text;
use crate::commands::Answer;
use crate::exit::Exit;
use crate::output::{ERROR, GOOD, Output};
use crate::problem::Problem;

/// Show what a token says, and whether it is good
///
/// Exits with 0 if it is good here and now, and with 1 if it is not.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast token inspect eyJhbGciOi…
  steadfast token inspect - < token.txt
  steadfast token inspect \"$TOKEN\" --json")]
pub struct Inspect {
    /// The token; `-` reads it from the standard input
    token: String,
    #[command(flatten)]
    directory: Directory,
    /// For a script: one object
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub fn run(self, output: &mut Output) -> Answer {
        let mut text = self.token;
        if text == "-" {
            text.clear();
            let read = std::io::stdin().take(64 * 1024).read_to_string(&mut text);
            read.map_err(|_| Problem::new("the standard input is not a text"))?;
        }
        let text = text.trim();
        let identity = self.directory.open()?;
        let verdict = identity.verify(text, now_s());
        let said = identity::inspect(text);
        let why = verdict.as_ref().err().map(|denied| denied.name());
        if self.json {
            let claims = said.map(|(claims, key)| {
                json!({
                    "id": claims.jti, "principal": claims.sub, "roles": claims.roles,
                    "service": claims.aud, "key": key,
                    "issued": time_text(claims.iat), "expires": time_text(claims.exp),
                })
            });
            let object = json!({
                "format": "steadfast-inspect/1", "good": why.is_none(), "why": why, "says": claims,
            });
            output.print(&format!("{object:#}\n"));
        } else {
            match why {
                None => output.print(&format!("{GOOD}good{GOOD:#}\n")),
                Some(why) => output.print(&format!("{ERROR}not good{ERROR:#}: {why}\n")),
            }
            if let Some((claims, key)) = said {
                output.print(&format!(
                    "  id         {}\n  principal  {}\n  roles      {}\n  service    {}\n  issued     \
                     {}\n  expires    {}\n  key        {key}\n",
                    claims.jti,
                    claims.sub,
                    roles_text(&claims.roles),
                    claims.aud,
                    time_text(claims.iat),
                    time_text(claims.exp),
                ));
            }
        }
        Ok(if why.is_none() { Exit::Yes } else { Exit::No })
    }
}
