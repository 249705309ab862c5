//! `project create`, `project list`, `project policy`.

use std::process::ExitCode;

use mmw_core::plan::Limits;
use mmw_store::ProjectInfo;
use serde_json::{Value, json};

use super::output::{self, Failed, STRONG};
use super::policy;
use crate::compose;
use crate::config::Config;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Make a project
    #[command(
        after_help = "Examples:\n  mmw-server project create api\n  mmw-server project create trial --max-records 1000 --max-calls-per-minute 60"
    )]
    Create {
        /// The name
        name: String,
        /// The most records that it may hold
        #[arg(long, value_name = "N")]
        max_records: Option<u64>,
        /// The most calls in a minute
        #[arg(long, value_name = "N")]
        max_calls_per_minute: Option<u32>,
        /// Print data
        #[arg(long)]
        json: bool,
    },
    /// Show or set what a project asks of the guard
    ///
    /// A policy can be stricter than the guard's rules, or allow single values with a reason. It is
    /// kept in the store.
    #[command(
        after_help = "Examples:\n  mmw-server project policy --example > guard.toml\n  mmw-server project policy api --set guard.toml\n  mmw-server project policy api"
    )]
    Policy(policy::Options),
    /// List the projects
    #[command(
        after_help = "Examples:\n  mmw-server project list\n  mmw-server project list --json"
    )]
    List {
        /// Print data
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(config: &Config, command: Command) -> Result<ExitCode, Failed> {
    if let Command::Policy(options) = &command {
        return policy::run(config, options);
    }
    let memory = compose::open(config)?;
    match command {
        Command::Policy(_) => {}
        Command::Create {
            name,
            max_records,
            max_calls_per_minute,
            json,
        } => {
            let limits = Limits {
                max_records,
                max_calls_per_minute,
            };
            let project = memory.create_project(&name, limits)?;
            if json {
                output::json(&data(&project));
            } else {
                output::text(&format!(
                    "Made: {}. Next: mmw-server key create <name> --project {}",
                    project.name, project.name
                ));
            }
        }
        Command::List { json } => {
            let projects = memory.list_projects()?;
            if json {
                output::json(&Value::Array(projects.iter().map(data).collect()));
            } else if projects.is_empty() {
                output::text("There are no projects yet: the first start of `serve` makes one.");
            } else {
                let lines: Vec<String> = projects.iter().map(line).collect();
                output::text(&lines.join("\n"));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn line(project: &ProjectInfo) -> String {
    let limit = project
        .limits
        .max_records
        .map(|limit| format!(" of {limit}"))
        .unwrap_or_default();
    format!(
        "{STRONG}{}{STRONG:#}  {}{limit} records  made {}",
        project.name, project.n_records, project.created_at
    )
}

fn data(project: &ProjectInfo) -> Value {
    json!({
        "id": project.id,
        "name": project.name,
        "records": project.n_records,
        "max_records": project.limits.max_records,
        "max_calls_per_minute": project.limits.max_calls_per_minute,
        "created_at": project.created_at,
    })
}
