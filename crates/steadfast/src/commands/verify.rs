//! `steadfast verify`

use std::sync::Arc;

use clap::Args;
use runtime::{OpenError, Runtime, Settings, Verified};
use serde_json::{Value, json};

use super::Answer;
use super::backup::{ask, directory, open_backup, open_copy};
use super::places::{is_postgres, open_postgres};
use crate::client::ServerOptions;
use crate::exit::Exit;
use crate::output::{ERROR, GOOD, ODD, Output};
use crate::problem::Problem;
use crate::removed::Removed;

/// Walk the history of a store through its designs
///
/// Every transition in the feed is performed again: the design must allow it from the truth that the
/// ones before left, it must leave what was recorded, and it must break no invariant. Time must not go
/// back on a record, and the records must be what the history leaves. Reads a copy: of a store, of a backup, or of what is
/// in PostgreSQL, which may be served meanwhile; otherwise of what the server has open on this machine.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast verify                       what the server on this machine serves
  steadfast verify ./copy                a backup, or a store that no server has open
  steadfast verify postgres://shop@db.example/shop
  steadfast verify ./copy --json
Exit codes: 0 sound, 1 not sound, 3 nothing could be walked")]
pub struct Verify {
    /// The directory of a backup or of a store that no server has open, or `postgres://USER@HOST/DATABASE`
    #[arg(value_name = "STORE", conflicts_with = "from")]
    store: Option<String>,
    /// The same as STORE
    #[arg(long, value_name = "STORE")]
    from: Option<String>,
    #[command(flatten)]
    server: ServerOptions,
}

impl Verify {
    pub fn run(self, output: &mut Output) -> Answer {
        let folder = Removed::new("verify");
        let store = match self.store.as_ref().or(self.from.as_ref()) {
            Some(from) if is_postgres(from) => open_postgres(from, &folder.0.join("store"))?,
            Some(from) => open_copy(&directory(from)?, &folder)?,
            None => {
                let copy = folder.0.join("copy");
                ask(&self.server, &copy)?;
                open_backup(&copy, &folder)?
            }
        };
        let settings = Settings::default();
        let cannot = |error: OpenError| Problem::new(format!("cannot read the designs: {error}"));
        let names = runtime::designs_of(store.as_ref(), &settings).map_err(cannot)?;
        if names.is_empty() {
            return Err(Problem::new("the store holds no design")
                .help("give a store that was served: `steadfast verify ./steadfast-data`"));
        }
        let (mut exit, mut all) = (Exit::Yes, Vec::new());
        for name in names {
            let kept = runtime::kept(store.as_ref(), &name, &settings).map_err(cannot)?;
            let Some(design) = kept.and_then(|kept| kept.design) else {
                let message = format!("`{name}` was stored by another version of this program");
                return Err(Problem::new(message));
            };
            let opened = Runtime::open(design, Arc::clone(&store), settings.clone());
            let verified = opened.map_err(cannot)?.verify_history();
            let verified = verified.map_err(|error| Problem::new(format!("`{name}`: {error}")))?;
            exit = exit.max(match &verified {
                verified if !verified.is_sound() => Exit::No,
                verified if verified.not_walked.is_some() => Exit::Unknown,
                _ => Exit::Yes,
            });
            if self.server.json {
                all.push(told(&name, &verified));
            } else {
                output.print(&text(&name, &verified));
            }
        }
        if self.server.json {
            output.print(&format!("{}\n", json!({ "designs": all })));
        }
        Ok(exit)
    }
}

fn text(name: &str, verified: &Verified) -> String {
    let mut out = String::new();
    if let Some(why) = &verified.not_walked {
        return format!("{ODD}not walked{ODD:#} {name}: {why}\n");
    }
    let Verified { transitions, from, to, .. } = verified;
    let range = match transitions {
        0 => String::new(),
        _ => format!(", revisions {from} to {to}"),
    };
    out += &match verified.is_sound() {
        true => format!("{GOOD}sound{GOOD:#} {name}: {transitions} transitions{range}\n"),
        false => format!("{ERROR}not sound{ERROR:#} {name}: {transitions} transitions{range}\n"),
    };
    if let Some((revision, departure)) = &verified.departed {
        out += &format!(
            "  {revision}: `{}`: {}\n  what comes after it was not walked\n",
            departure.operation, departure.what
        );
        out += "  if the guards were changed since, an earlier version may have allowed it\n";
    }
    for (revision, broken) in &verified.broken {
        let why = broken.trouble.map_or_else(String::new, |why| format!(" ({why})"));
        out += &format!("  the invariant `{}` does not hold after {revision}{why}\n", broken.goal);
    }
    for record in &verified.differ {
        out += &format!("  {record} is not what the history leaves\n");
    }
    if verified.trusted > 0 {
        out += &format!(
            "  {} rest on what was before the feed begins, and are taken as recorded\n",
            verified.trusted
        );
    }
    if verified.earlier > 0 {
        out += &format!("  {} of earlier versions were not walked\n", verified.earlier);
    }
    if verified.versions > 0 {
        let versions = verified.versions;
        let s = if versions == 1 { "" } else { "s" };
        out += &format!(
            "  {versions} earlier version{s} walked, and what was carried over from one to the next\n"
        );
    }
    if let Some(why) = &verified.not_followed {
        out += &format!("  {why}\n");
    }
    for watched in &verified.watched {
        let often = match watched.always {
            true => "after every transition that could break it".to_string(),
            false if watched.each => {
                "after every transition for what it changed, and now and then for all".to_string()
            }
            false => format!("after {} of {transitions} transitions, and the last", watched.looks),
        };
        out += &format!("  watched `{}` {often}\n", watched.goal);
    }
    for unwatched in &verified.unwatched {
        out += &format!("  not watched `{}`: {}\n", unwatched.goal, unwatched.why);
    }
    out
}

fn told(name: &str, verified: &Verified) -> Value {
    let departed = verified.departed.as_ref().map(|(revision, departure)| {
        json!({ "revision": revision, "operation": departure.operation, "what": departure.what })
    });
    let broken = verified.broken.iter().map(|(revision, broken)| {
        json!({ "invariant": broken.goal, "revision": revision, "trouble": broken.trouble })
    });
    let watched = verified.watched.iter().map(|watched| {
        json!({ "invariant": watched.goal, "looks": watched.looks, "always": watched.always, "each": watched.each })
    });
    let unwatched = verified
        .unwatched
        .iter()
        .map(|unwatched| json!({ "goal": unwatched.goal, "why": unwatched.why }));
    json!({
        "design": name,
        "sound": verified.is_sound(),
        "transitions": verified.transitions,
        "trusted": verified.trusted,
        "earlier": verified.earlier,
        "versions": verified.versions,
        "not_followed": verified.not_followed,
        "from": verified.from,
        "to": verified.to,
        "departed": departed,
        "broken": broken.collect::<Vec<_>>(),
        "differ": verified.differ,
        "watched": watched.collect::<Vec<_>>(),
        "unwatched": unwatched.collect::<Vec<_>>(),
        "not_walked": verified.not_walked,
    })
}
