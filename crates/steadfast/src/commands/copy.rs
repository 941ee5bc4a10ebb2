//! `steadfast copy FROM TO`

use std::path::PathBuf;

use clap::Args;
use identity::Act;
use serde_json::json;
use store_postgres::Begun;

use super::places::Place;
use super::{Answer, audit};
use crate::exit::Exit;
use crate::output::{GOOD, ODD, Output};
use crate::problem::Problem;
use crate::removed::Removed;

/// Copy all of a store into another one, also of another kind
///
/// Truth, feed, timers, outbox, idempotency keys and content are in the copy, under the same revisions. It is read back
/// before it can be served. A copy that is cut short cannot be served, and the same command finishes it. Keys and tokens
/// are in a directory of their own: give it to whoever serves the copy.
///
/// An embedded store must not be open; a backup of it may be copied while it serves. What is in PostgreSQL is copied as of
/// one moment, and may be served meanwhile.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast copy ./steadfast-data postgres://shop@db.example/shop
  steadfast copy postgres://shop@db.example/shop ./steadfast-data
A move with a short stop, where most is copied while the server goes on:
  steadfast backup ./ahead
  steadfast copy ./ahead postgres://shop@db.example/shop --ahead
  steadfast copy ./steadfast-data postgres://shop@db.example/shop    when the server was stopped
Exit codes: 0 copied, 2 not copied, 5 TO or FROM is damaged, foreign or unfinished")]
pub struct Copy {
    /// A store: `embedded:PATH`, a path, or `postgres://USER@HOST/DATABASE`. Or the directory of a backup
    #[arg(value_name = "FROM")]
    from: String,
    /// An empty directory, or one that is to be made. Or `postgres://USER@HOST/DATABASE`, where the schema is empty or is
    /// to be made
    #[arg(value_name = "TO")]
    to: String,
    /// Copy now, and do not let TO be served before another copy of the same store has brought what is new
    #[arg(long)]
    ahead: bool,
    /// The directory of keys, whose log says that this was done; `./steadfast-keys` if it is there
    #[arg(long, value_name = "DIR")]
    keys: Option<PathBuf>,
    #[arg(long)]
    json: bool,
}

impl Copy {
    pub fn run(self, output: &mut Output) -> Answer {
        let (from, to) = (Place::read(&self.from)?, Place::read(&self.to)?);
        if self.ahead && matches!(to, Place::Directory(_)) {
            return Err(Problem::new("a copy is made ahead into PostgreSQL only")
                .help("leave out `--ahead`, or name an address `postgres://…` as TO"));
        }
        if self.ahead && matches!(from, Place::Postgres(_)) {
            return Err(Problem::new("a copy is made ahead of an embedded store only").help(
                "leave out `--ahead`; what is in PostgreSQL may be copied while it is served",
            ));
        }
        let folder = Removed::new("copy");
        let mut source = from.open(&folder)?;
        let revision = format!("0-{}", source.outline().position);
        let (copied, begun) = source.copy_to(&from.shown(), &to, self.ahead)?;
        let behind = source.moved_on()?;
        let of = json!({ "from": from.shown(), "to": to.shown(), "revision": revision });
        audit::note(self.keys.as_deref(), Act::StoreCopied, of)?;
        if self.json {
            let said = json!({
                "revision": revision,
                "records": copied.records, "records_written": copied.records_written,
                "commits": copied.feed, "commits_written": copied.feed_written,
                "blobs": copied.blobs, "blobs_written": copied.blobs_written,
                "ahead": self.ahead, "commits_after": behind,
            });
            output.print(&format!("{said}\n"));
            return Ok(Exit::Yes);
        }
        if begun == Begun::Anew {
            output.tell("note: an unfinished copy of something else was taken away first\n");
        }
        let mut text = format!(
            "{GOOD}copied{GOOD:#} {} records, {} commits of the feed and {} blobs, up to revision {revision}, and read back\n",
            copied.records, copied.feed, copied.blobs
        );
        if begun == Begun::GoesOn {
            text += &format!(
                "  {} records, {} commits and {} blobs were new, the others were there\n",
                copied.records_written, copied.feed_written, copied.blobs_written
            );
        }
        if behind > 0 {
            text += &format!(
                "{ODD}not in it{ODD:#}: {behind} commits that came meanwhile; to move, stop the servers first\n"
            );
        }
        text += &match self.ahead {
            true => "not served yet: stop the server, and copy its store to the same place without --ahead\n".into(),
            false => format!(
                "serve it with the same keys: steadfast serve DESIGN --store '{}'\n",
                to.served()
            ),
        };
        output.print(&text);
        Ok(Exit::Yes)
    }
}
