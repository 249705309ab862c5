//! `key create`, `key list`, `key revoke`.

use std::process::ExitCode;

use mmw_core::env::{Clock as _, SystemClock};
use mmw_core::place::Scopes;
use mmw_core::plan::Limits;
use mmw_core::time::DAY_MS;
use mmw_store::{Failure, KeyInfo, KeyOrder, Memory};
use serde_json::{Value, json};

use super::output::{self, Failed, STRONG};
use crate::compose;
use crate::config::Config;

/// The project of a key that names none.
const DEFAULT_PROJECT: &str = "default";

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Make a key and show it, this once
    #[command(
        after_help = "Examples:\n  mmw-server key create laptop\n  mmw-server key create reviewer --scopes read,review\n  mmw-server key create ci --project api --expires-in-days 30 --json"
    )]
    Create {
        /// What the key is called
        name: String,
        /// The project that it is bound to
        #[arg(long, default_value = DEFAULT_PROJECT)]
        project: String,
        /// Whose key it is
        #[arg(long, default_value = "default", value_name = "PERSON")]
        principal: String,
        /// What it may do: read, write, forget, capture, review, admin
        #[arg(long, default_value_t = Scopes::agent().to_string(), value_name = "SCOPES")]
        scopes: String,
        /// Days after which it ends to work
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(i64).range(1..=36_500))]
        expires_in_days: Option<i64>,
        /// Print data
        #[arg(long)]
        json: bool,
    },
    /// List the keys
    #[command(after_help = "Examples:\n  mmw-server key list\n  mmw-server key list --json")]
    List {
        /// Print data
        #[arg(long)]
        json: bool,
    },
    /// Revoke a key, at once
    #[command(after_help = "Examples:\n  mmw-server key revoke 4f2a9c")]
    Revoke {
        /// The key's id
        id: String,
        /// Print data
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(config: &Config, command: Command) -> Result<ExitCode, Failed> {
    let memory = compose::open(config)?;
    match command {
        Command::Create {
            name,
            project,
            principal,
            scopes,
            expires_in_days,
            json,
        } => {
            let scopes = Scopes::parse(&scopes)
                .map_err(|unknown| Failed::new(format!("`{unknown}` is no scope")))?;
            project_of(&memory, &project)?;
            let order = KeyOrder {
                project,
                principal,
                name,
                scopes,
                expires_at: expires_in_days
                    .map(|days| SystemClock.now().plus_ms(days.saturating_mul(DAY_MS))),
            };
            let key = memory.create_key(&order)?;
            if json {
                let mut data = data(&key.info);
                data["key"] = json!(key.secret);
                output::json(&data);
            } else {
                output::text(&format!(
                    "{STRONG}Key {}, shown only now:{STRONG:#}\n\n  {}\n",
                    key.info.id, key.secret
                ));
            }
        }
        Command::List { json } => {
            let keys = memory.list_keys()?;
            if json {
                output::json(&Value::Array(keys.iter().map(data).collect()));
            } else if keys.is_empty() {
                output::text("There are no keys.");
            } else {
                let lines: Vec<String> = keys.iter().map(line).collect();
                output::text(&lines.join("\n"));
            }
        }
        Command::Revoke { id, json } => {
            let key = memory.revoke_key(&id).map_err(|failure| match failure {
                Failure::NotFound(_) => {
                    Failed::new("there is no key with that id; `mmw-server key list` shows them")
                }
                other => other.into(),
            })?;
            if json {
                output::json(&data(&key));
            } else {
                output::text(&format!("Revoked: {} ({}).", key.id, key.name));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes sure that there is such a project. In a store that has none at all, `default` is made.
fn project_of(memory: &Memory, name: &str) -> Result<(), Failed> {
    let projects = memory.list_projects()?;
    if projects.is_empty() && name == DEFAULT_PROJECT {
        memory.create_project(name, Limits::default())?;
    } else if !projects.iter().any(|project| project.name == name) {
        return Err(Failed::new(
            "there is no project of that name; `mmw-server project list` shows them",
        ));
    }
    Ok(())
}

fn line(key: &KeyInfo) -> String {
    let state = match (&key.revoked_at, &key.expires_at) {
        (Some(at), _) => format!("revoked {at}"),
        (None, Some(at)) if *at <= SystemClock.now() => format!("expired {at}"),
        (None, Some(at)) => format!("until {at}"),
        (None, None) => "in force".to_owned(),
    };
    let used = key
        .last_used_at
        .map_or_else(|| "never used".to_owned(), |at| format!("last used {at}"));
    format!(
        "{STRONG}{}{STRONG:#}  {}  project {}  {}  [{}]  {state}, {used}",
        key.id, key.name, key.project, key.principal, key.scopes
    )
}

fn data(key: &KeyInfo) -> Value {
    json!({
        "id": key.id.as_str(),
        "name": key.name,
        "project": key.project,
        "principal": key.principal,
        "scopes": key.scopes.iter().map(mmw_core::place::Scope::name).collect::<Vec<_>>(),
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
    })
}
