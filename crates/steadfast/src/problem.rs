//! A command that cannot be carried out, and what to do about it.

use std::fmt::Write as _;
use std::io;

use crate::exit::Exit;
use crate::output::{ERROR, HELP, Output};

/// Lowercase, no full stop, the user's text in backticks; each help line says what to do next.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    pub message: String,
    pub help: Vec<String>,
    exit: Exit,
}

impl Problem {
    pub fn new(message: impl Into<String>) -> Problem {
        Problem { message: message.into(), help: Vec::new(), exit: Exit::Wrong }
    }

    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Problem {
        self.help.push(text.into());
        self
    }

    #[must_use]
    pub fn help_if(self, text: Option<impl Into<String>>) -> Problem {
        match text {
            Some(text) => self.help(text),
            None => self,
        }
    }

    /// Something else than wrong usage.
    #[must_use]
    pub fn exit(mut self, exit: Exit) -> Problem {
        self.exit = exit;
        self
    }

    pub fn exits_with(&self) -> Exit {
        self.exit
    }

    /// Tells the user.
    pub fn show(&self, output: &mut Output) -> Exit {
        let mut text = format!("{ERROR}error{ERROR:#}: {}\n", self.message);
        for help in &self.help {
            let _ = writeln!(text, "{HELP}help{HELP:#}: {help}");
        }
        output.tell(&text);
        self.exit
    }
}

/// What the system says went wrong, without its number.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::IsADirectory => "it is a folder".into(),
        io::ErrorKind::StorageFull => "no space left".into(),
        _ => {
            let text = error.to_string();
            let text = text.split(" (os error").next().unwrap_or_default();
            let mut letters = text.chars();
            letters
                .next()
                .map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
        }
    }
}
