//! `project policy`: what a project asks of the guard.
//!
//! A person sets it here, at the computer that has the store. No tool and no key can, and nothing is
//! read from a repository.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use mmw_guard::Policy;
use mmw_guard::policy::{EXAMPLE, MAX_POLICY_BYTES};
use mmw_store::{Memory, PolicyInfo};
use serde_json::{Value, json};

use super::output::{self, Failed};
use crate::compose;
use crate::config::Config;

#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("what").args(["show", "set", "clear", "check", "example"])))]
pub(super) struct Options {
    /// The project
    #[arg(required_unless_present_any = ["check", "example"])]
    project: Option<String>,
    /// Print the policy (the default)
    #[arg(long)]
    show: bool,
    /// Take this file as the policy
    #[arg(long, value_name = "FILE")]
    set: Option<PathBuf>,
    /// Take the policy away
    #[arg(long)]
    clear: bool,
    /// Only tell whether this file is a policy
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// Print a policy that explains itself
    #[arg(long)]
    example: bool,
    /// Print data
    #[arg(long)]
    json: bool,
}

pub(super) fn run(config: &Config, options: &Options) -> Result<ExitCode, Failed> {
    if options.example {
        output::text(EXAMPLE);
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(file) = &options.check {
        let policy = checked(file, &text_of(file)?)?;
        if options.json {
            output::json(&json!({ "ok": true }));
        } else {
            output::text(&format!(
                "{} is a policy: {}.",
                file.display(),
                told(&policy)
            ));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let memory = compose::open(config)?;
    let name = options.project.as_deref().unwrap_or_default();
    let known = memory.list_projects()?;
    let Some(project) = known.into_iter().find(|project| project.name == name) else {
        return Err(Failed::new("there is no project of that name"));
    };
    let changed = if let Some(file) = &options.set {
        let text = text_of(file)?;
        checked(file, &text)?;
        Some(memory.set_policy(project.id, Some(&text))?)
    } else if options.clear {
        Some(memory.set_policy(project.id, None)?)
    } else {
        None
    };
    show(&memory, &project, changed, options.json)
}

/// Reads a file that may be a policy.
fn text_of(file: &Path) -> Result<String, Failed> {
    let mut bytes = Vec::new();
    let limit = MAX_POLICY_BYTES as u64 + 1;
    std::fs::File::open(file)
        .and_then(|opened| opened.take(limit).read_to_end(&mut bytes))
        .map_err(|error| Failed::new(format!("{} can't be read: {error}", file.display())))?;
    String::from_utf8(bytes)
        .map_err(|_| Failed::new(format!("{} is no text in UTF-8", file.display())))
}

fn checked(file: &Path, text: &str) -> Result<Policy, Failed> {
    Policy::parse(text).map_err(|wrong| Failed::new(format!("{}: {wrong}", file.display())))
}

fn told(policy: &Policy) -> String {
    if policy.is_default() {
        return "it changes nothing".to_owned();
    }
    format!(
        "secrets {}, {} of its own, {} allowed",
        policy.secrets().name(),
        count(policy.patterns().len(), "pattern"),
        count(policy.n_allows(), "value")
    )
}

fn count(n: usize, what: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {what}{plural}")
}

fn show(
    memory: &Memory,
    project: &mmw_store::ProjectInfo,
    changed: Option<bool>,
    as_json: bool,
) -> Result<ExitCode, Failed> {
    let policy = memory.policy(project.id)?;
    if as_json {
        output::json(&json!({
            "project": project.name,
            "changed": changed,
            "policy": policy.as_ref().map(data),
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let said = match (changed, &policy) {
        (Some(false), _) => "Nothing to change.".to_owned(),
        (Some(true), Some(policy)) => format!(
            "Set: policy {} of {}. It holds from the next call on; `mmw-server rescan` applies it to \
             what is stored.",
            policy.fingerprint, project.name
        ),
        (Some(true), None) => format!("{} has no policy any more.", project.name),
        (None, None) => format!(
            "{} has no policy: the guard's rules decide. See --example.",
            project.name
        ),
        (None, Some(policy)) => {
            if let Some(problem) = &policy.problem {
                output::text(&format!(
                    "# It can't be read, and nothing is saved until it is mended: {problem}"
                ));
            }
            policy.text.clone()
        }
    };
    output::text(&said);
    Ok(ExitCode::SUCCESS)
}

fn data(policy: &PolicyInfo) -> Value {
    json!({
        "text": policy.text,
        "fingerprint": policy.fingerprint,
        "set_at": policy.set_at,
        "problem": policy.problem,
    })
}
