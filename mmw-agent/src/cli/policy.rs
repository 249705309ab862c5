//! What this project asks of the guard.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use mmw_guard::Policy;
use mmw_guard::policy::{EXAMPLE, MAX_POLICY_BYTES};
use serde_json::json;

use super::Desk;
use crate::exit::{Exit, Trouble};
use crate::show::{self, clean::clean};

/// Show or set what this project asks of the guard
///
/// A policy can be stricter than the guard's rules (hold back or refuse what has a secret in it, add
/// patterns) or allow single values with a reason. It is kept in the store on this computer, never
/// in the repository: a clone must not switch the guard off. Setting one needs an interactive
/// terminal.
///
/// Examples:
///   mmw-agent policy
///   mmw-agent policy --example > guard.toml
///   mmw-agent policy --check guard.toml
///   mmw-agent policy --set guard.toml
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    group(clap::ArgGroup::new("what").args(["show", "set", "clear", "check", "example"]))
)]
pub(super) struct Args {
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
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        if self.example {
            show::print_raw(EXAMPLE)?;
            return Ok(Exit::Done);
        }
        if let Some(file) = &self.check {
            checked(file)?;
            let mut page = desk.page();
            page.line(format!("{} is a policy", file.display()));
            page.print()?;
            return Ok(Exit::Done);
        }
        if self.set.is_some() || self.clear {
            desk.terminal.needs_person(&desk.config, "policy")?;
            let text = self.set.as_deref().map(checked).transpose()?;
            let (memory, caller) = desk.open()?;
            let changed = memory.set_policy(caller.project, text.as_deref())?;
            let mut page = desk.page();
            page.line(match (changed, text.is_some()) {
                (false, _) => "nothing to change",
                (true, true) => "set; it holds from the next call on",
                (true, false) => "taken away: the guard's rules decide",
            });
            if changed && text.is_some() {
                page.hint("`mmw-agent rescan` applies it to what is stored");
            }
            page.print()?;
            return Ok(Exit::Done);
        }
        let policy = match desk.open_if_any()? {
            Some((memory, caller)) => memory.policy(caller.project)?,
            None => None,
        };
        if self.json {
            let policy = policy.map(|policy| {
                json!({
                    "text": policy.text,
                    "fingerprint": policy.fingerprint,
                    "set_at": policy.set_at,
                    "problem": policy.problem,
                })
            });
            show::print_json(&json!({ "policy": policy }))?;
            return Ok(Exit::Done);
        }
        match policy {
            Some(policy) => {
                if let Some(problem) = &policy.problem {
                    show::say(&format!(
                        "it can't be read, and nothing is saved until it is mended: {}\n",
                        clean(problem)
                    ));
                }
                show::print_raw(&policy.text)?;
            }
            None => {
                let mut page = desk.page();
                page.line("this project has no policy: the guard's rules decide");
                page.hint("`mmw-agent policy --example` shows what one can say");
                page.print()?;
            }
        }
        Ok(Exit::Done)
    }
}

/// Returns the text of a file that is a policy.
fn checked(file: &Path) -> Result<String, Trouble> {
    let shown = file.display();
    let mut bytes = Vec::new();
    let limit = MAX_POLICY_BYTES as u64 + 1;
    std::fs::File::open(file)
        .and_then(|opened| opened.take(limit).read_to_end(&mut bytes))
        .map_err(|error| Trouble::usage(format!("{shown} can't be read: {error}")))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Trouble::usage(format!("{shown} is no text in UTF-8")))?;
    Policy::parse(&text).map_err(|wrong| Trouble::usage(format!("{shown}: {wrong}")))?;
    Ok(text)
}
