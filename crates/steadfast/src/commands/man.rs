//! `steadfast man [DIR]`

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory};

use super::Answer;
use crate::exit::Exit;
use crate::output::Output;
use crate::problem::{Problem, reason};

/// Print the manual page, or write a page for each command
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast man | man -l -
  steadfast man ~/.local/share/man/man1")]
pub struct Man {
    /// Where to write `steadfast.1`, `steadfast-check.1` and so on
    #[arg(value_name = "DIR")]
    to: Option<PathBuf>,
}

impl Man {
    pub fn run(self, output: &mut Output) -> Answer {
        let command = crate::Arguments::command();
        let Some(to) = self.to else {
            let page = page(command).map_err(|error| cannot(Path::new("steadfast.1"), &error))?;
            output.print(&String::from_utf8_lossy(&page));
            return Ok(Exit::Yes);
        };
        fs::create_dir_all(&to).map_err(|error| cannot(&to, &error))?;
        clap_mangen::generate_to(command, &to).map_err(|error| cannot(&to, &error))?;
        output.print(&format!("wrote manual pages to {}\n", to.display()));
        Ok(Exit::Yes)
    }
}

fn page(command: clap::Command) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(text)
}

fn cannot(file: &Path, error: &std::io::Error) -> Problem {
    Problem::new(format!("cannot write `{}`: {}", file.display(), reason(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_its_examples() {
        let command = crate::Arguments::command();
        for sub in command.get_subcommands() {
            let text = String::from_utf8(page(sub.clone()).unwrap()).unwrap();
            assert!(
                text.contains(".SH SYNOPSIS") && text.contains("Examples"),
                "{}",
                sub.get_name()
            );
        }
    }
}
