//! `steadfast fmt`

use std::io::Read as _;

use clap::Args;
use design::{Source, Sources};

use super::Answer;
use crate::diagnostics;
use crate::exit::Exit;
use crate::load::{Loaded, load};
use crate::output::Output;
use crate::problem::{Problem, reason};

/// Format designs
///
/// Files are rewritten in place. A part with an error inside is left as it was written, and the
/// rest is laid out all the same.
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast fmt shop.design
  steadfast fmt --check designs/*/*.design
  steadfast fmt - < shop.design")]
pub struct Fmt {
    /// Change nothing; exit with 1 if a design is laid out differently
    #[arg(long)]
    check: bool,
    /// Paths; `-` reads from standard input and writes to standard output
    #[arg(required = true, value_name = "DESIGN")]
    designs: Vec<String>,
}

impl Fmt {
    pub fn run(self, output: &mut Output) -> Answer {
        let mut worst = Exit::Yes;
        for word in &self.designs {
            let exit = match self.one(word, output) {
                Ok(exit) => exit,
                Err(problem) => problem.show(output),
            };
            worst = worst.max(exit);
        }
        Ok(worst)
    }

    fn one(&self, word: &str, output: &mut Output) -> Answer {
        let loaded = if word == "-" { read_stdin()? } else { load(word)? };
        let formatted = syntax::format(&loaded.text);
        let mut sources = Sources::default();
        sources.add(Source::new(loaded.name.as_str(), loaded.text.as_str()));
        let mut exit = Exit::Yes;
        if self.check {
            if let Some(line) = first_difference(&loaded.text, &formatted.text) {
                let name = &loaded.name;
                output.print(&format!("{name}:{line}: not formatted\n"));
                if loaded.path.is_some() && word != "-" {
                    output.tell(&format!("help: `steadfast fmt {word}` formats it\n"));
                }
                exit = Exit::No;
            }
        } else if word == "-" {
            output.print(&formatted.text);
        } else {
            write(&loaded, word, &formatted.text)?;
        }
        diagnostics::tell(output, &loaded.name, &formatted.diagnostics, &sources);
        if formatted.diagnostics.iter().any(syntax::Diagnostic::is_error) {
            exit = Exit::Wrong;
        }
        Ok(exit)
    }
}

fn read_stdin() -> Result<Loaded, Problem> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| Problem::new(format!("cannot read standard input: {}", reason(&error))))?;
    Ok(Loaded { name: "standard input".into(), text, path: None })
}

/// Writes the file only if something changes, so that its time of modification stays.
fn write(loaded: &Loaded, word: &str, text: &str) -> Result<(), Problem> {
    let Some(path) = &loaded.path else {
        return Err(Problem::new(format!("`{word}` is in the catalog, not in a file"))
            .help(format!("`steadfast show {word}` prints it")));
    };
    if loaded.text == text {
        return Ok(());
    }
    std::fs::write(path, text)
        .map_err(|error| Problem::new(format!("cannot write `{word}`: {}", reason(&error))))
}

/// The first line, from 1, in which two texts differ.
fn first_difference(before: &str, after: &str) -> Option<usize> {
    if before == after {
        return None;
    }
    let same = before
        .split_inclusive('\n')
        .zip(after.split_inclusive('\n'))
        .take_while(|(one, other)| one == other)
        .count();
    Some(same + 1)
}

#[cfg(test)]
mod tests {
    use super::first_difference;

    #[test]
    fn the_first_line_that_differs_is_named() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\nb", "a\nb\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
    }
}
