//! Prints a completion script.

use clap::Command;
use clap_complete::Shell;

use crate::exit::{Exit, Trouble};
use crate::show;

/// Print a completion script for your shell
///
/// Examples:
///   mmw-agent completions bash > ~/.local/share/bash-completion/completions/mmw-agent
///   mmw-agent completions zsh > ~/.zfunc/_mmw-agent
///   mmw-agent completions fish > ~/.config/fish/completions/mmw-agent.fish
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// The shell
    shell: Shell,
}

impl Args {
    pub(super) fn run(&self, program: &mut Command) -> Result<Exit, Trouble> {
        let name = program.get_name().to_owned();
        let mut script = Vec::new();
        clap_complete::generate(self.shell, program, name, &mut script);
        show::print_raw(&String::from_utf8_lossy(&script))?;
        Ok(Exit::Done)
    }
}
