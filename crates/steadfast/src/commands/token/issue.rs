//! `steadfast token new PRINCIPAL`

use clap::Args;
use identity::{NewToken, Roles, now_s, time_text};
use serde_json::json;

use super::{Directory, lifetime, problem};
use crate::commands::Answer;
use crate::exit::Exit;
use crate::output::Output;

/// Issue a token
///
/// The token is all that is printed to the standard output, so that a script can keep it. It is
/// shown once: what is kept is its id.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast token new ann --role buyer
  steadfast token new ann --role tickets/buyer --role shop/customer --expires 30d
  TOKEN=$(steadfast token new olga --all-roles --expires 1h)")]
pub struct New {
    /// Who presents it: `me` in the design
    principal: String,
    /// An actor that it may act as, `buyer` everywhere or `tickets/buyer` in one design
    #[arg(long = "role", value_name = "ACTOR", required_unless_present = "all_roles")]
    roles: Vec<String>,
    /// Every actor, every truth, and what only an operator may do
    #[arg(long, conflicts_with = "roles")]
    all_roles: bool,
    /// How long it is good: `90s`, `15m`, `12h`, `30d`
    #[arg(long, value_name = "TIME", default_value = "1d", value_parser = lifetime::parse)]
    expires: i64,
    /// The service that it is for, if not the one whose keys these are
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
    #[command(flatten)]
    directory: Directory,
    /// For a script: one object with the token and what it says
    #[arg(long)]
    json: bool,
}

impl New {
    pub fn run(self, output: &mut Output) -> Answer {
        let identity = self.directory.make(output)?;
        let roles = if self.all_roles { Roles::ALL } else { Roles::Some(self.roles) };
        let new = NewToken {
            principal: self.principal,
            roles,
            service: self.service,
            lifetime_s: self.expires,
        };
        let issued = identity.issue(&new, now_s()).map_err(problem)?;
        let claims = &issued.claims;
        if self.json {
            let object = json!({
                "format": "steadfast-token/1",
                "token": issued.text,
                "id": claims.jti,
                "principal": claims.sub,
                "roles": claims.roles,
                "service": claims.aud,
                "key": issued.key,
                "issued": time_text(claims.iat),
                "expires": time_text(claims.exp),
            });
            output.print(&format!("{object:#}\n"));
            return Ok(Exit::Yes);
        }
        output.print(&format!("{}\n", issued.text));
        output.tell(&format!(
            "token {} of `{}` is good until {}; `steadfast token revoke {}` takes it back\n",
            claims.jti,
            claims.sub,
            time_text(claims.exp),
            claims.jti
        ));
        Ok(Exit::Yes)
    }
}
