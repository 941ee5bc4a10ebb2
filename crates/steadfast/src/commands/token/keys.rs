//! `steadfast token keys`

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use identity::{KeyInfo, time_text};
use serde_json::{Value, json};

use super::{Directory, problem};
use crate::commands::Answer;
use crate::exit::Exit;
use crate::output::Output;

/// List, rotate and retire the keys that sign tokens and seal memory
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast token keys list
  steadfast token keys rotate
  steadfast token keys retire 3f2a9c0d11e45b67")]
pub struct Keys {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the keys, with what others need to verify a token
    #[command(after_help = "Examples:\n  steadfast token keys list --json")]
    List(Common),
    /// Make a new key; the old ones stay good until they are retired
    #[command(after_help = "Examples:\n  steadfast token keys rotate")]
    Rotate(Common),
    /// End a key: what it signed or sealed is no longer good
    #[command(after_help = "Examples:\n  steadfast token keys retire 3f2a9c0d11e45b67")]
    Retire {
        /// The id of the key, as `token keys list` shows it
        id: String,
        #[command(flatten)]
        common: Common,
    },
}

#[derive(Args)]
struct Common {
    #[command(flatten)]
    directory: Directory,
    /// For a script: one object
    #[arg(long)]
    json: bool,
}

impl Keys {
    pub fn run(self, output: &mut Output) -> Answer {
        let (text, object) = match &self.command {
            Command::List(common) => {
                let keys = common.directory.open()?.keys().map_err(problem)?;
                let list: Vec<Value> = keys.iter().map(as_json).collect();
                (as_text(&keys), json!({ "format": "steadfast-keys/1", "keys": list }))
            }
            Command::Rotate(common) => {
                let id = common.directory.open()?.rotate().map_err(problem)?;
                let text =
                    format!("key {id} signs from now on; the others are good until retired\n");
                (text, json!({ "format": "steadfast-keys/1", "made": id }))
            }
            Command::Retire { id, common } => {
                common.directory.open()?.retire(id).map_err(problem)?;
                let text = format!("key {id} is retired; what it signed or sealed is not good\n");
                (text, json!({ "format": "steadfast-keys/1", "retired": id }))
            }
        };
        let (Command::List(common) | Command::Rotate(common) | Command::Retire { common, .. }) =
            &self.command;
        output.print(&if common.json { format!("{object:#}\n") } else { text });
        Ok(Exit::Yes)
    }
}

fn state(key: &KeyInfo) -> &'static str {
    match key {
        key if key.current => "in use",
        key if key.retired_at.is_some() => "retired",
        _ => "good",
    }
}

fn as_json(key: &KeyInfo) -> Value {
    json!({
        "id": key.id,
        "state": state(key),
        "made": time_text(key.made_at),
        "retired": key.retired_at.map(time_text),
        // as RFC 8037 writes a public key
        "jwk": key.public.as_ref().map(|public| {
            json!({ "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "kid": key.id, "x": public })
        }),
    })
}

fn as_text(keys: &[KeyInfo]) -> String {
    let mut text = String::new();
    for key in keys {
        let made = time_text(key.made_at);
        let _ = write!(text, "{}  {:<7}  made {made}", key.id, state(key));
        if let Some(at) = key.retired_at {
            let _ = write!(text, "  retired {}", time_text(at));
        }
        text.push('\n');
    }
    text
}
