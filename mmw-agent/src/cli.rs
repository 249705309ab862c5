//! The command line: one command a file, its doc comment is its help page.

mod ask;
mod completions;
mod connect;
mod demo;
mod disconnect;
mod doctor;
mod door;
mod explain;
mod export;
mod forget;
mod hook_stop;
mod import;
mod policy;
mod project;
mod remember;
mod rescan;
mod resolve;
mod review;
mod search;
mod serve;
mod stale;
mod status;
mod sync;
mod verify;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory as _, Parser, Subcommand};
use mmw_core::env::{Clock as _, SystemClock};
use mmw_core::place::{Caller, Way, WorkspaceName};
use mmw_core::time::Timestamp;
use mmw_store::Memory;
use tracing_subscriber::EnvFilter;

use crate::anchor::Anchors;
use crate::config::{self, Config};
use crate::exit::{self, Exit, Trouble};
use crate::local::Local;
use crate::show::{self, Page};
use crate::terminal::Terminal;

/// A memory for coding agents that keeps versions, shows contradictions and never calls a fact true
///
/// Without a command it speaks MCP on standard input and output: that is how a client starts it.
/// The commands are for you, on the same memory. Everything stays on this computer, in
/// ~/.mmw ($MMW_AGENT_HOME); each repository is a project of its own.
///
/// Examples:
///   mmw-agent connect
///   mmw-agent remember "staging is deployed with the systemd unit app-staging" --key deploy-staging
///   mmw-agent search how is staging deployed
#[derive(Debug, Parser)]
#[command(
    name = "mmw-agent",
    version,
    verbatim_doc_comment,
    after_long_help = format!("{}\n\n{}", config::TABLE, exit::TABLE),
    disable_help_subcommand = true
)]
struct Cli {
    /// Say more about what happens, on standard error (twice: even more)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Remember(remember::Args),
    Search(search::Args),
    Forget(forget::Args),
    Explain(explain::Args),
    Status(status::Args),
    Review(review::Args),
    Resolve(resolve::Args),
    Policy(policy::Args),
    Project(project::Args),
    Rescan(rescan::Args),
    Stale(stale::Args),
    Verify(verify::Args),
    Export(export::Args),
    Import(import::Args),
    Connect(connect::Args),
    Disconnect(disconnect::Args),
    Doctor(doctor::Args),
    Demo(demo::Args),
    Sync(sync::Args),
    Completions(completions::Args),
    HookStop(hook_stop::Args),
}

impl Command {
    /// Returns the name of a command that can only work on what is kept on this computer, and what does the
    /// same on a server.
    const fn of_this_computer_alone(&self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Self::Policy(_) => ("policy", "on the server: mmw-server project policy PROJECT"),
            Self::Project(_) => (
                "project",
                "on a server the key decides which project it is: MMW_API_KEY",
            ),
            Self::Rescan(_) => ("rescan", "on the server: mmw-server rescan"),
            Self::Verify(_) => (
                "verify",
                "on the server: mmw-server verify; the way there is tried by mmw-agent doctor",
            ),
            Self::Export(_) => (
                "export",
                "to write out what is kept on this computer, unset MMW_ENDPOINT",
            ),
            Self::Import(_) => (
                "import",
                "to take it in on this computer, unset MMW_ENDPOINT; mmw-agent remember saves on the server",
            ),
            _ => return None,
        })
    }
}

/// What every command works with.
struct Desk {
    config: Config,
    local: Arc<Local>,
    terminal: Terminal,
    now: Timestamp,
}

/// Runs the program for this process: reads the command line and the environment, and returns the
/// exit code.
#[must_use]
pub fn run() -> ExitCode {
    if let Some(done) = hook_stop::run_first(std::env::args_os()) {
        return done;
    }
    let cli = match Cli::try_parse_from(std::env::args_os()) {
        Ok(cli) => cli,
        Err(said) => {
            // Help and version are answers, everything else is a complaint; clap knows which.
            let _ = said.print();
            let exit = if said.use_stderr() {
                Exit::Usage
            } else {
                Exit::Done
            };
            return exit.into();
        }
    };
    if let Some(Command::HookStop(args)) = cli.command {
        return args.run();
    }
    match cli.run() {
        Ok(exit) => exit.into(),
        Err(trouble) => {
            show::print_trouble(&trouble);
            trouble.exit.into()
        }
    }
}

impl Cli {
    fn run(self) -> Result<Exit, Trouble> {
        if let Some(Command::Completions(args)) = self.command {
            return args.run(&mut Self::command());
        }
        let config = Config::from_environment()?;
        let alone = self
            .command
            .as_ref()
            .and_then(Command::of_this_computer_alone);
        if let Some((name, instead)) = alone {
            config.needs_embedded(name, instead)?;
        }
        log_to_stderr(self.verbose);
        let desk = Desk {
            local: Arc::new(Local::new(&config)?),
            config,
            terminal: Terminal::detect(),
            now: SystemClock.now(),
        };
        match self.command {
            None => serve::run(desk),
            Some(Command::Remember(args)) => args.run(&desk),
            Some(Command::Search(args)) => args.run(&desk),
            Some(Command::Forget(args)) => args.run(&desk),
            Some(Command::Explain(args)) => args.run(&desk),
            Some(Command::Status(args)) => args.run(&desk),
            Some(Command::Review(args)) => args.run(&desk),
            Some(Command::Resolve(args)) => args.run(&desk),
            Some(Command::Policy(args)) => args.run(&desk),
            Some(Command::Project(args)) => args.run(&desk),
            Some(Command::Rescan(args)) => args.run(&desk),
            Some(Command::Stale(args)) => args.run(&desk),
            Some(Command::Verify(args)) => args.run(&desk),
            Some(Command::Export(args)) => args.run(&desk),
            Some(Command::Import(args)) => args.run(&desk),
            Some(Command::Connect(args)) => args.run(&desk),
            Some(Command::Disconnect(args)) => args.run(&desk),
            Some(Command::Doctor(args)) => args.run(&desk),
            Some(Command::Demo(args)) => args.run(&desk),
            Some(Command::Sync(args)) => args.run(&desk),
            Some(Command::Completions(_) | Command::HookStop(_)) => Ok(Exit::Done),
        }
    }
}

impl Desk {
    /// Returns what anchors statements to files, and checks them.
    fn anchors(&self) -> Anchors {
        Anchors::of(&self.config)
    }

    /// Returns an empty page for this terminal.
    fn page(&self) -> Page {
        Page::new(self.terminal.width(), self.now)
    }

    /// Returns the memory and the person as its caller, opening or making the store.
    fn open(&self) -> Result<(Memory, Caller), Trouble> {
        let memory = self.local.memory()?;
        let caller = self.local.caller(Way::Command)?;
        Ok((memory, caller))
    }

    /// As [`Desk::open`], but looking makes no store: `None` if nothing was ever saved here.
    fn open_if_any(&self) -> Result<Option<(Memory, Caller)>, Trouble> {
        self.local.exists().then(|| self.open()).transpose()
    }

    /// Returns the workspace of a call that may name one: that one, else `MMW_WORKSPACE`.
    fn workspace(&self, named: Option<&str>) -> Option<String> {
        named
            .map(str::to_owned)
            .or_else(|| self.config.workspace.as_ref().map(WorkspaceName::to_string))
    }
}

fn log_to_stderr(verbose: u8) {
    let level = match verbose {
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    // The protocol's library would log whole messages; ours are ids and counts.
    let filter = EnvFilter::new(format!("{level},rmcp=error,hyper=warn"));
    let log = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_env_filter(filter)
        .finish();
    // Only one program is run in a process; a second setting of the log would change nothing.
    let _ = tracing::subscriber::set_global_default(log);
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum as _;
    use clap_complete::Shell;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_completions_of_every_shell_know_every_command() {
        let names: Vec<String> = Cli::command()
            .get_subcommands()
            .map(|command| command.get_name().to_owned())
            .collect();
        for shell in Shell::value_variants() {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "mmw-agent", &mut script);
            let script = String::from_utf8(script).unwrap();
            for name in &names {
                assert!(script.contains(name.as_str()), "{shell}: {name}");
            }
        }
    }

    #[test]
    fn every_command_has_a_help_page_with_an_example() {
        for command in Cli::command().get_subcommands() {
            let page = command.get_long_about().map(ToString::to_string);
            let page = page.unwrap_or_default();
            let example = format!("mmw-agent {}", command.get_name());
            assert!(page.contains(&example), "{}: {page}", command.get_name());
        }
    }
}
