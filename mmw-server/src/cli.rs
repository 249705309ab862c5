//! The command line: one command a file, the words of `--help`, exit codes.

mod care;
mod keys;
mod output;
mod policy;
mod projects;
mod rescan;
mod serve;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use self::output::Failed;
use crate::config::{self, Config, Overrides};
use crate::documents::{self, Document};

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  it could not be done
  2  the command line, a setting or the rule file is not understood
  3  the store, its folder or the address can't be used
  4  `verify` or `audit verify` found damage

Environment:
  MMW_DATA_DIR, MMW_LISTEN, MMW_ALLOWED_HOSTS, MMW_ALLOWED_ORIGINS, MMW_GUARD_RULES, MMW_TURNS, MMW_LOG,
  MMW_EMBEDDER, MMW_EMBEDDINGS_URL, …_KEY, …_MODEL, …_WINDOW, …_TIMEOUT_MS
  (see docs/reference/environment.md)";

/// The memory server for AI agents.
///
/// Without a command it serves. The first start needs no settings: it makes the store, a project
/// and a key, and shows how to connect a client.
#[derive(Debug, Parser)]
#[command(name = "mmw-server", version, after_help = EXIT_CODES, args_conflicts_with_subcommands = false)]
pub struct Cli {
    #[command(flatten)]
    settings: Overrides,
    #[command(flatten)]
    serve: serve::Options,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve MCP and REST over HTTP (the default)
    #[command(
        after_help = "Examples:\n  mmw-server serve\n  mmw-server serve --listen 127.0.0.1:0 --port-file port"
    )]
    Serve(serve::Options),
    /// Make, list and revoke keys
    #[command(subcommand)]
    Key(keys::Command),
    /// Make and list projects
    #[command(subcommand)]
    Project(projects::Command),
    /// Check the store from end to end
    #[command(after_help = "Examples:\n  mmw-server verify\n  mmw-server verify --json")]
    Verify(care::Verify),
    /// Erase the content of what was forgotten
    #[command(
        after_help = "Examples:\n  mmw-server purge --older-than-days 30 --dry-run\n  mmw-server purge --project default --older-than-days 0"
    )]
    Purge(care::Purge),
    /// Apply the guard's rules of today to what is stored
    ///
    /// Secrets that older rules let through are replaced and leave the disk; planted instructions go
    /// to the review lane. Others can write meanwhile; it can be stopped and run again.
    #[command(
        after_help = "Examples:\n  mmw-server rescan --dry-run\n  mmw-server rescan --project default"
    )]
    Rescan(rescan::Options),
    /// Look after the audit
    #[command(subcommand)]
    Audit(care::Audit),
    /// Print a script that completes commands in a shell
    #[command(
        after_help = "Examples:\n  mmw-server completions bash > /etc/bash_completion.d/mmw-server"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print a generated document
    #[command(hide = true)]
    Document {
        /// Which one
        which: Document,
    },
}

/// Runs the program.
#[must_use]
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Prints to where help or errors belong; a closed pipe is no reason to fail.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    output::start_logs(&config::log_filter());
    match dispatch(cli) {
        Ok(code) => code,
        Err(failed) => output::fail(&failed),
    }
}

fn dispatch(cli: Cli) -> Result<ExitCode, Failed> {
    let read = |listen: Option<&str>| -> Result<Config, Failed> {
        Ok(config::read(&cli.settings, listen)?)
    };
    match cli.command {
        None => serve::run(&read(cli.serve.listen.as_deref())?, &cli.serve),
        Some(Command::Serve(mut options)) => {
            options.listen = options.listen.or(cli.serve.listen);
            options.port_file = options.port_file.or(cli.serve.port_file);
            serve::run(&read(options.listen.as_deref())?, &options)
        }
        Some(Command::Key(command)) => keys::run(&read(None)?, command),
        Some(Command::Project(command)) => projects::run(&read(None)?, command),
        Some(Command::Verify(options)) => care::verify(&read(None)?, &options),
        Some(Command::Purge(options)) => care::purge(&read(None)?, &options),
        Some(Command::Rescan(options)) => rescan::run(&read(None)?, &options),
        Some(Command::Audit(command)) => care::audit(&read(None)?, &command),
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "mmw-server", &mut script);
            output::text(&String::from_utf8_lossy(&script));
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Document { which }) => {
            output::text(&documents::render(which));
            Ok(ExitCode::SUCCESS)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_are_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn without_a_command_it_serves() {
        let cli = Cli::try_parse_from(["mmw-server", "--listen", "127.0.0.1:0"]).unwrap();
        assert!(cli.command.is_none());
        assert_eq!(cli.serve.listen.as_deref(), Some("127.0.0.1:0"));
        let cli = Cli::try_parse_from(["mmw-server", "serve", "--data-dir", "d"]).unwrap();
        assert!(matches!(cli.command, Some(Command::Serve(_))));
        assert!(cli.settings.data_dir.is_some());
    }
}
