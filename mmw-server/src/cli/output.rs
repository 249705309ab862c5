//! What the program says: answers on stdout, logs and errors on stderr, colours only on a terminal.

use std::io::Write as _;
use std::process::ExitCode;

use anstream::{AutoStream, stderr, stdout};
use anstyle::{AnsiColor, Style};
use mmw_store::Failure;
use mmw_store::engine::EngineError;
use serde_json::Value;
use tracing_subscriber::EnvFilter;

use crate::compose::StartError;
use crate::config::ConfigError;
use crate::fault::Fault;

/// Bold, for what is to be found at a glance.
pub(super) const STRONG: Style = Style::new().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Why a command failed, with its exit code.
#[derive(Debug)]
pub(super) struct Failed {
    message: String,
    exit_code: u8,
}

impl Failed {
    /// Returns a failure with exit code 1.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            exit_code: 1,
        }
    }
}

/// Writes an error with its causes on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.ends_with(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = error.source();
    }
    text
}

impl From<ConfigError> for Failed {
    fn from(error: ConfigError) -> Self {
        Self {
            message: error.to_string(),
            exit_code: 2,
        }
    }
}

impl From<StartError> for Failed {
    fn from(error: StartError) -> Self {
        Self {
            message: chain(&error),
            exit_code: match error {
                StartError::GuardRules(_) => 2,
                StartError::DataDir(..)
                | StartError::Store(_)
                | StartError::FirstStart(_)
                | StartError::Listen(..) => 3,
            },
        }
    }
}

impl From<EngineError> for Failed {
    fn from(error: EngineError) -> Self {
        Self {
            message: chain(&error),
            exit_code: 3,
        }
    }
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Engine(error) => error.into(),
            other => Self::new(other.to_string()),
        }
    }
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Self {
        Self::new(fault.to_string())
    }
}

/// Prints why a command failed and returns its exit code.
pub(super) fn fail(failed: &Failed) -> ExitCode {
    let mut to = stderr().lock();
    // Nobody is left to tell if stderr is closed.
    let _ = writeln!(to, "{ERROR}error:{ERROR:#} {}", failed.message);
    ExitCode::from(failed.exit_code)
}

/// Prints an answer. A reader that has gone away is no error.
pub(super) fn text(text: &str) {
    let mut to = stdout().lock();
    let _ = to.write_all(text.as_bytes());
    if !text.ends_with('\n') {
        let _ = to.write_all(b"\n");
    }
    let _ = to.flush();
}

/// Prints data.
pub(super) fn json(value: &Value) {
    text(&format!("{value:#}"));
}

/// Tells whether a person reads stdout.
pub(super) fn is_terminal() -> bool {
    use std::io::IsTerminal as _;
    std::io::stdout().is_terminal()
}

/// What holds whatever filter is asked for.
const QUIET: &str = "rmcp=error,hyper=warn,h2=warn";

/// Starts logging to stderr; later calls do nothing.
pub(super) fn start_logs(filter: &str) {
    // The protocol's library would log whole messages; ours are ids and counts.
    let filter = EnvFilter::try_new(format!("{filter},{QUIET}"))
        .unwrap_or_else(|_| EnvFilter::new(format!("info,{QUIET}")));
    let colours = AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colours)
        .with_target(false)
        .try_init();
}
