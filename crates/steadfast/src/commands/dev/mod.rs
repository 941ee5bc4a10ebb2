//! `steadfast dev DESIGN…`

mod file;
mod teller;
mod watcher;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use gateway::Admin;

use super::Answer;
use super::outgoing_options::OutgoingOptions;
use super::serve::{Development, Serve};
use crate::client::design_name;
use crate::exit::Exit;
use crate::load::load;
use crate::output::Output;
use crate::problem::{Problem, reason};
use crate::verdicts::VerdictOptions;
use file::DesignFile;
use teller::Teller;
use watcher::{Watched, Watcher};

/// Serve designs while you write them
///
/// Serves at once, and checks in the background: the verdict is printed when it is known, with the
/// trace of whatever is broken. A file that is saved is compiled, put in the place of the version
/// that is served, and checked again. A text that does not compile, or that stored truth cannot
/// follow, is told with the reason, and the version before it is served on. A design whose verdict is
/// `violated` is served too: the console says so on every page.
///
/// Whoever a design calls and `--outside` does not name is away: calls to it are tried again and again, and can be seen
/// in the console.
///
/// Serves this machine alone. What was stored is there again at the next start. Ends with Ctrl-C.
/// Exits 1 when stored truth cannot follow the text at the start, 2 when it does not compile then.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast dev tickets
  steadfast dev shop.design
  steadfast dev shop.design --listen 127.0.0.1:8080 --data ./shop-dev
  steadfast dev shop.design --forget              an empty store at every start
  steadfast dev payments --outside network=http://127.0.0.1:9000")]
pub struct Dev {
    /// Paths, or names of designs in the catalog
    #[arg(value_name = "DESIGN", required = true)]
    designs: Vec<String>,
    /// Where truth and keys are kept from one start to the next
    #[arg(long, value_name = "DIR", default_value = "./steadfast-dev")]
    data: PathBuf,
    /// Keep nothing: truth is in memory, and gone at the end
    #[arg(long, conflicts_with = "data")]
    forget: bool,
    /// Where to listen on this machine; port 0 is any that is free
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7070")]
    listen: SocketAddr,
    #[command(flatten)]
    outgoing: OutgoingOptions,
    /// For a script: one object a line for each thing that happens
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    verdicts: VerdictOptions,
}

impl Dev {
    pub fn run(self, output: &mut Output) -> Answer {
        if !self.listen.ip().is_loopback() {
            return Err(Problem::new(format!(
                "`{}` can be reached from elsewhere, and `dev` asks nobody for a token",
                self.listen
            ))
            .help("`steadfast serve --listen` serves beyond this machine, with tokens"));
        }
        let mut files = Vec::new();
        for word in &self.designs {
            let loaded = load(word)?;
            files.push((design_name(&loaded.name), word.clone(), loaded.path));
        }
        let outgoing = self.outgoing;
        let kept_in = (!self.forget).then_some(self.data.as_path());
        let serve = Serve::for_development(Development {
            designs: self.designs.clone(),
            store: store(kept_in)?,
            keys: kept_in.map(|data| data.join("keys")),
            listen: self.listen,
            outgoing: outgoing.clone().with_others_away(),
            verdicts: self.verdicts,
        });
        let up = serve.start(output).map_err(|problem| match kept_in {
            // the one thing that stands in the way here is what earlier runs stored
            Some(data) if problem.exits_with() == Exit::No => problem.help(format!(
                "to begin with an empty store, remove `{}`, or name another with `--data`",
                data.display()
            )),
            _ => problem,
        })?;
        let Some(up) = up else { return Ok(Exit::Wrong) };
        let gateway = Arc::clone(up.gateway());
        let watched = files.into_iter().filter_map(|(name, word, path)| {
            let service = gateway.service(&name).ok()?;
            let file = path.map(|path| DesignFile::new(path, &service.text));
            Some(Watched::new(service, word, file))
        });
        let watched: Vec<Watched> = watched.collect();
        let mut teller = Teller::new(output, up.url(), self.json);
        let away = outgoing.not_named(watched.iter().map(|one| one.service.design()));
        teller.serving(&watched, kept_in, &away);
        let admin = Arc::clone(&up.host) as Arc<dyn Admin>;
        let watcher = Watcher::new(gateway, admin, watched, teller);
        up.until_signal(|stopped| watcher.run(stopped));
        Teller::stopped(output, kept_in, self.json);
        Ok(Exit::Yes)
    }
}

/// The address of the store in this directory, which is made if it is not there.
fn store(kept_in: Option<&Path>) -> Result<String, Problem> {
    let Some(data) = kept_in else { return Ok("memory:".into()) };
    fs::create_dir_all(data).map_err(|error| {
        let why = reason(&error);
        Problem::new(format!("cannot make the directory `{}`: {why}", data.display()))
            .help("`--data` names another, `--forget` takes none")
    })?;
    Ok(format!("embedded:{}", data.join("store").display()))
}
