//! `hook-stop`: a thin call of the Stop hook in `mmw-hooks`, before and without anything else of this
//! program: no settings are checked, no store is opened, no runtime starts.

use std::ffi::OsString;
use std::process::ExitCode;

use mmw_core::env::SystemClock;

/// Ask an agent once to save what it learned, before it ends its turn
///
/// Started by a coding agent as its Stop hook, with the event on standard input. If files in the
/// git working tree changed in this session since something was last saved, the agent is asked,
/// once, to save the decisions behind them. Otherwise nothing is printed. The exit code is 0
/// whatever happens; MMW_STOP_HOOK=off silences it. Nothing is sent anywhere.
///
/// Examples:
///   mmw-agent hook-stop < event.json
///   mmw-agent hook-stop --client codex < event.json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Whose event it is where the event does not tell: claude-code, codex, cursor, gemini-cli,
    /// vscode or copilot-cli
    #[arg(long, value_name = "NAME")]
    client: Option<String>,
    /// Arguments of later versions are not minded
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    others: Vec<OsString>,
}

/// The name of the command.
const NAME: &str = "hook-stop";

/// Runs the command if the process was started for it, before anything else is looked at: a hook is
/// started at the end of every turn, must not fail for a bad setting, and needs no store.
///
/// A person who asks for help is left to the command line.
pub(crate) fn run_first(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    (arguments.next()? == NAME).then_some(())?;
    let rest: Vec<OsString> = arguments.collect();
    let asks_for_help = rest.iter().any(|word| word == "--help" || word == "-h");
    (!asks_for_help).then_some(())?;
    Some(run(rest))
}

impl Args {
    /// Runs the command when the program's own options stood before its name.
    pub(crate) fn run(self) -> ExitCode {
        let named = self.client.into_iter().flat_map(|name| {
            let option = OsString::from("--client");
            [option, OsString::from(name)]
        });
        run(named.chain(self.others))
    }
}

fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    mmw_hooks::stop::program::run(
        arguments,
        std::io::stdin(),
        std::io::stdout().lock(),
        SystemClock,
    );
    ExitCode::SUCCESS
}
