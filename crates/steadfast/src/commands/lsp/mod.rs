//! `steadfast lsp`

mod judge;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use language_server::{Ended, Settings};

use super::Answer;
use crate::catalog::{self, Embedded};
use crate::exit::Exit;
use crate::heap;
use crate::output::Output;
use crate::problem::Problem;
use crate::size;
use crate::verdicts::{VerdictOptions, cache_folder};
use judge::Judge;

/// States of one search, if nothing else is said: an editor is open beside it.
const STATES_MAX: usize = 1_000_000;
const MEMORY_MAX: usize = 1 << 30;

/// Serve an editor, over standard input and output
///
/// The language server. Editors start it by themselves; nobody types this. Diagnostics as you type,
/// hover, definitions (also into archetypes), references, rename, completion, formatting, quick fixes,
/// the outline, and the verdict on each goal beside it: a file is checked when it is saved. The folder
/// `editors` of the repository has settings for VS Code, Neovim and Helix.
///
/// Exits 0 when the editor says goodbye, 2 when it is gone without a word or does not speak the protocol.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast lsp                       what an editor is told to start
  steadfast lsp --no-check            verdicts that are kept are shown, but nothing is checked")]
pub struct Lsp {
    /// For editors that insist on saying so: standard input and output are used anyway
    #[arg(long, hide = true)]
    stdio: bool,
    /// Check nothing when a file is saved
    #[arg(long)]
    no_check: bool,
    /// Give up a check beyond so many states in one search; 1,000,000 if not given
    #[arg(long, value_name = "N", value_parser = size::count)]
    max_states: Option<usize>,
    /// Give up a check beyond so much memory: 512MB, 4GB; 1GB if not given
    #[arg(long, value_name = "SIZE", value_parser = size::bytes)]
    max_memory: Option<usize>,
    /// Where archetypes and pages of errors are written for the editor to open; by default `steadfast/editor` in the
    /// user's cache directory
    #[arg(long, value_name = "DIR", env = "STEADFAST_EDITOR")]
    texts: Option<PathBuf>,
    #[command(flatten)]
    verdicts: VerdictOptions,
}

impl Lsp {
    pub fn run(self, _output: &mut Output) -> Answer {
        heap::share();
        let options = model_checker::Options {
            max_states: self.max_states.unwrap_or(STATES_MAX),
            max_memory: self.max_memory.unwrap_or(MEMORY_MAX),
            // the editor needs the others
            threads: (model_checker::Options::default().threads / 2).max(1),
            ..model_checker::Options::default()
        };
        let verdicts = Judge { verdicts: self.verdicts.open(), options, checks: !self.no_check };
        let ended = language_server::stdio(Settings {
            version: env!("CARGO_PKG_VERSION"),
            catalog: Box::new(Embedded),
            error_page,
            shelf: self.texts.or_else(|| Some(cache_folder()?.join("editor"))),
            verdicts: Arc::new(verdicts),
        });
        match ended {
            Ended::AsItShould => Ok(Exit::Yes),
            Ended::Otherwise(why) => Err(Problem::new(format!("the language server ends: {why}"))
                .help("an editor starts this by itself; see docs/editor.md for its settings")),
        }
    }
}

fn error_page(code: &str) -> Option<&'static str> {
    catalog::error_pages().find(|(known, _)| *known == code).map(|(_, page)| page)
}
