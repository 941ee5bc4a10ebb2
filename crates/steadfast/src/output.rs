//! Where everything printed goes: colours on a terminal only, and no fuss when a reader leaves.

use std::io::{self, ErrorKind, Write};

use anstream::{AutoStream, ColorChoice};
use clap::builder::styling::{AnsiColor, Style};

use crate::exit::Exit;

/// The colours of what is printed here; a stream that is no terminal loses them on the way.
pub const ERROR: Style = AnsiColor::BrightRed.on_default().bold();
pub const HELP: Style = AnsiColor::BrightCyan.on_default().bold();
pub const GOOD: Style = AnsiColor::Green.on_default().bold();
pub const ODD: Style = AnsiColor::Yellow.on_default().bold();
pub const STRONG: Style = Style::new().bold();

pub struct Output {
    out: AutoStream<io::Stdout>,
    err: AutoStream<io::Stderr>,
    /// nobody reads any more
    left: bool,
    failed: Option<io::Error>,
}

impl Output {
    pub fn new() -> Output {
        Output {
            out: AutoStream::auto(io::stdout()),
            err: AutoStream::auto(io::stderr()),
            left: false,
            failed: None,
        }
    }

    /// Results: what a script would read.
    pub fn print(&mut self, text: &str) {
        if self.left || self.failed.is_some() {
            return;
        }
        match self.out.write_all(text.as_bytes()) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.left = true,
            Err(error) => self.failed = Some(error),
        }
    }

    /// Everything else: diagnostics, problems, hints. If nobody can read these, nobody is told.
    pub fn tell(&mut self, text: &str) {
        let _ = self.out.flush();
        let _ = self.err.write_all(text.as_bytes());
    }

    /// Shows what was printed so far, before something that takes long.
    pub fn flush(&mut self) {
        let _ = self.out.flush();
    }

    /// Whoever read the output has left, or it cannot be written.
    pub fn nobody_reads(&self) -> bool {
        self.left || self.failed.is_some()
    }

    /// May what is told have colours?
    pub fn err_is_coloured(&self) -> bool {
        self.err.current_choice() != ColorChoice::Never
    }

    /// Writes what is left; a result that could not be written is no result.
    pub fn finish(mut self, exit: Exit) -> Exit {
        if !self.left
            && let Err(error) = self.out.flush()
            && error.kind() != ErrorKind::BrokenPipe
        {
            self.failed.get_or_insert(error);
        }
        let Some(error) = self.failed.take() else { return exit };
        let reason = crate::problem::reason(&error);
        self.tell(&format!("{ERROR}error{ERROR:#}: cannot write the output: {reason}\n"));
        Exit::Wrong
    }
}
