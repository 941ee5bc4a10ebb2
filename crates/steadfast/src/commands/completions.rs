//! `steadfast completions SHELL`

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Answer;
use crate::exit::Exit;
use crate::output::Output;

/// Print completions for a shell
#[derive(Args)]
#[command(after_help = "\
Examples:
  steadfast completions bash > ~/.local/share/bash-completion/completions/steadfast
  steadfast completions zsh > ~/.zfunc/_steadfast
  steadfast completions fish > ~/.config/fish/completions/steadfast.fish")]
pub struct Completions {
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    pub fn run(self, output: &mut Output) -> Answer {
        let mut script = Vec::new();
        let mut command = crate::Arguments::command();
        clap_complete::generate(self.shell, &mut command, "steadfast", &mut script);
        output.print(&String::from_utf8_lossy(&script));
        Ok(Exit::Yes)
    }
}
