//! `steadfast secrets`

use std::fmt::Write as _;

use clap::{Args, Subcommand};
use identity::{SecretKeyInfo, time_text};
use serde_json::{Value, json};

use super::Answer;
use super::token::{Directory, problem};
use crate::exit::Exit;
use crate::output::Output;

/// List, rotate and retire the keys that designs keep their secrets with
///
/// A secret is stored as a hash that nobody can compute without the key. The keys lie in the directory of keys,
/// beside those that sign tokens, and have a life of their own: to rotate the one kind says nothing of the other.
/// A copy of a store is of use for its secrets only together with them.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast secrets list
  steadfast secrets rotate
  steadfast secrets retire 3f2a9c0d11e45b67")]
pub struct Secrets {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the keys
    #[command(after_help = "Examples:\n  steadfast secrets list --json")]
    List(Common),
    /// Make a new key for what is stored from now on; the old ones stay good until they are retired
    #[command(after_help = "Examples:\n  steadfast secrets rotate")]
    Rotate(Common),
    /// End a key for good: secrets that are still stored under it must be set anew
    #[command(after_help = "Examples:\n  steadfast secrets retire 3f2a9c0d11e45b67")]
    Retire {
        /// The id of the key, as `secrets list` shows it
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

const FORMAT: &str = "steadfast-secrets/1";

impl Secrets {
    pub fn run(self, output: &mut Output) -> Answer {
        let (text, object) = match &self.command {
            Command::List(common) => {
                let keys = common.directory.open()?.secret_keys().map_err(problem)?;
                let list: Vec<Value> = keys.iter().map(as_json).collect();
                (as_text(&keys), json!({ "format": FORMAT, "keys": list }))
            }
            Command::Rotate(common) => {
                let id = common.directory.open()?.rotate_secrets().map_err(problem)?;
                let text = format!(
                    "key {id} is used for what is stored from now on; the others are good until \
                     retired\n"
                );
                (text, json!({ "format": FORMAT, "made": id }))
            }
            Command::Retire { id, common } => {
                common.directory.open()?.retire_secrets(id).map_err(problem)?;
                let text = format!(
                    "key {id} is retired; secrets that are still stored under it must be set anew\n"
                );
                (text, json!({ "format": FORMAT, "retired": id }))
            }
        };
        let (Command::List(common) | Command::Rotate(common) | Command::Retire { common, .. }) =
            &self.command;
        output.print(&if common.json { format!("{object:#}\n") } else { text });
        Ok(Exit::Yes)
    }
}

fn state(key: &SecretKeyInfo) -> &'static str {
    match key {
        key if key.current => "in use",
        key if key.retired_at.is_some() => "retired",
        _ => "good",
    }
}

fn as_json(key: &SecretKeyInfo) -> Value {
    json!({
        "id": key.id,
        "state": state(key),
        "made": time_text(key.made_at),
        "retired": key.retired_at.map(time_text),
    })
}

fn as_text(keys: &[SecretKeyInfo]) -> String {
    if keys.is_empty() {
        return "there are none yet: the first secret that is stored makes one\n".into();
    }
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
