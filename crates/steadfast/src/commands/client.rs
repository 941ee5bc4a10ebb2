//! `steadfast client`

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use interface::Language;

use super::Answer;
use crate::catalog::Embedded;
use crate::client::design_name;
use crate::diagnostics;
use crate::exit::Exit;
use crate::load::load;
use crate::output::Output;
use crate::problem::{Problem, reason};

/// Write a client of a design in another language
///
/// One file that needs no other: a method for each step and read of each actor, with the types of its parameters and
/// answers and the names of the clauses that may refuse it; records, views and the feed. The client sends every step
/// under an idempotency key of its own and tries again under the same key, keeps what the server gives the caller to
/// remember, and follows the feed over cuts of the connection. Make it anew when the design changes.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast client tickets --language typescript > tickets.ts
  steadfast client shop.design --language python --write app
  steadfast client shop.design --language typescript --service shop_eu    served under another name")]
pub struct Client {
    /// A path, or the name of a design in the catalog
    #[arg(value_name = "DESIGN")]
    design: String,
    /// TypeScript for browsers and Node from 18 on, or Python from 3.9 on; neither needs a package
    #[arg(long, value_enum)]
    language: Spoken,
    /// Write the file into this folder, named after the design, instead of printing it
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// How paths of the server call the design, where that is not the name of its file
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Spoken {
    #[value(alias = "ts")]
    Typescript,
    #[value(alias = "py")]
    Python,
}

impl Client {
    pub fn run(self, output: &mut Output) -> Answer {
        let loaded = load(&self.design)?;
        let compiled = design::compile(&loaded.name, &loaded.text, &Embedded);
        diagnostics::tell(output, &loaded.name, &compiled.diagnostics, &compiled.sources);
        let errors = compiled.has_errors();
        let Some(design) = compiled.design.filter(|_| !errors) else { return Ok(Exit::Wrong) };
        let service = match self.service {
            None => design_name(&loaded.name),
            Some(name) => checked(name)?,
        };
        let language = match self.language {
            Spoken::Typescript => Language::TypeScript,
            Spoken::Python => Language::Python,
        };
        let text = interface::client(&design, &service, language);
        let Some(folder) = self.write else {
            output.print(&text);
            return Ok(Exit::Yes);
        };
        std::fs::create_dir_all(&folder).map_err(|error| {
            Problem::new(format!("cannot make `{}`: {}", folder.display(), reason(&error)))
        })?;
        // a module of Python has no hyphen in its name
        let file = folder.join(format!("{}.{}", service.replace('-', "_"), language.ending()));
        std::fs::write(&file, text).map_err(|error| {
            Problem::new(format!("cannot write `{}`: {}", file.display(), reason(&error)))
        })?;
        output.print(&format!("wrote {}\n", file.display()));
        Ok(Exit::Yes)
    }
}

/// A part of a path, as a server names a design.
fn checked(name: String) -> Result<String, Problem> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    if !name.is_empty() && name.chars().all(plain) {
        return Ok(name);
    }
    Err(Problem::new(format!("`{name}` is no name of a design in a path"))
        .help("it is the name of the file that is served, without `.design`: letters, digits, `-`, `_` and `.`"))
}
