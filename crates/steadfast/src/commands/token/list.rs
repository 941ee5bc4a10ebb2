//! `steadfast token list`

use std::fmt::Write as _;

use clap::Args;
use identity::{Roles, TokenInfo, now_s, time_text};
use serde_json::json;

use super::{Directory, problem};
use crate::commands::Answer;
use crate::exit::Exit;
use crate::output::{Output, STRONG};

/// List the tokens that were issued
///
/// Those that expired or were revoked are shown with `--all`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast token list
  steadfast token list --all --json")]
pub struct List {
    /// Also those that are no longer good
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    directory: Directory,
    /// For a script: one object with every token
    #[arg(long)]
    json: bool,
}

impl List {
    pub fn run(self, output: &mut Output) -> Answer {
        let now = now_s();
        let mut tokens = self.directory.open()?.tokens().map_err(problem)?;
        tokens.retain(|token| self.all || state(token, now) == "good");
        output.print(&if self.json { as_json(&tokens, now) } else { as_text(&tokens, now) });
        Ok(Exit::Yes)
    }
}

fn state(token: &TokenInfo, now: i64) -> &'static str {
    match token {
        token if token.revoked => "revoked",
        token if token.expires_at <= now => "expired",
        _ => "good",
    }
}

/// As a person reads them.
pub fn roles_text(roles: &Roles) -> String {
    match roles {
        Roles::All(_) => "all roles".into(),
        Roles::Some(names) => names.join(", "),
    }
}

fn as_json(tokens: &[TokenInfo], now: i64) -> String {
    let tokens: Vec<_> = tokens
        .iter()
        .map(|token| {
            json!({
                "id": token.id,
                "principal": token.principal,
                "roles": token.roles,
                "service": token.service,
                "issued": time_text(token.issued_at),
                "expires": time_text(token.expires_at),
                "state": state(token, now),
            })
        })
        .collect();
    format!("{:#}\n", json!({ "format": "steadfast-tokens/1", "tokens": tokens }))
}

fn as_text(tokens: &[TokenInfo], now: i64) -> String {
    if tokens.is_empty() {
        return "no token is good now; `steadfast token new PRINCIPAL --role ROLE` issues one\n"
            .into();
    }
    let width = tokens.iter().map(|token| token.principal.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for token in tokens {
        let _ = writeln!(
            text,
            "{}  {STRONG}{:<width$}{STRONG:#}  {:<7}  until {}  {}",
            token.id,
            token.principal,
            state(token, now),
            time_text(token.expires_at),
            roles_text(&token.roles),
        );
    }
    text
}
