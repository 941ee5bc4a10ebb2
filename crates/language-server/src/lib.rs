//! The language server: what an editor asks about a design, over the protocol that editors speak.
//!
//! It answers from [`design::compile`] and its analysis, and from the formatter of `syntax`. It does not know how a
//! design is checked or run: verdicts come from whoever starts it, through [`Verdicts`].
//!
//! - `server.rs` reads messages and answers them; what panics is caught there.
//! - `documents.rs` keeps the open files; `snapshot.rs` is one of them as it was compiled.
//! - `asked/` has one file for each thing that an editor can ask for.
//! - `checks.rs` has designs checked beside the answers.

mod asked;
mod checks;
mod documents;
mod lines;
mod server;
mod shelf;
mod snapshot;
mod verdicts;

use std::path::PathBuf;
use std::sync::Arc;

use design::Catalog;

pub use server::{Ended, serve, stdio};
pub use verdicts::{Judged, Judgement, NoVerdicts, Verdicts};

/// What the server is given by the program that starts it.
pub struct Settings {
    /// how the program calls its version
    pub version: &'static str,
    /// where `use A08 as Ticket` finds A08
    pub catalog: Box<dyn Catalog + Send>,
    /// the page of an error code
    pub error_page: fn(&str) -> Option<&'static str>,
    /// Where texts of the catalog and pages of errors are written when an editor is to open them. None: they cannot be
    /// opened.
    pub shelf: Option<PathBuf>,
    pub verdicts: Arc<dyn Verdicts>,
}
