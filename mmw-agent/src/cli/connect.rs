//! Registers this program with the coding agents on this computer.

use std::path::{Path, PathBuf};

use mmw_guard::Guard;
use serde_json::{Value, json};

use super::Desk;
use crate::config::Config;
use crate::connect::change::{self, Change, Refused};
use crate::connect::client::{ALL, Client};
use crate::connect::difference::difference;
use crate::connect::entry::{Entry, lasting};
use crate::connect::ledger::Ledger;
use crate::exit::{Exit, Trouble};
use crate::keys;
use crate::relay::endpoint::Endpoint;
use crate::show::{self, Page, clean::clean};

/// Connect the coding agents on this computer
///
/// Finds the clients that are installed and puts this program into each one's own settings: as the MCP
/// server `mmw`, and, where the client can, as a Stop hook that asks once at the end of a turn for what
/// should be saved (--no-hooks leaves it out). Order, comments and all other settings stay; a file that
/// can't be read is refused untouched. Connecting again changes nothing; `mmw-agent disconnect` puts each
/// file back as it was.
///
/// Examples:
///   mmw-agent connect --dry-run
///   mmw-agent connect
///   mmw-agent connect --client codex --client cursor
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Connect this client, whether or not it is found here (may be given again)
    #[arg(long, value_name = "CLIENT", value_parser = clap::builder::PossibleValuesParser::new(ALL.iter().map(|client| client.id)))]
    client: Vec<String>,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Register the server alone, without the Stop hook
    #[arg(long)]
    no_hooks: bool,
    /// Take the place of another server that is called `mmw`
    #[arg(long)]
    replace: bool,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

/// What came of one file.
struct Outcome {
    file: PathBuf,
    kind: Kind,
    difference: String,
}

enum Kind {
    /// It is there already.
    Already(Vec<&'static str>),
    /// It would be put in.
    Would(Vec<&'static str>),
    /// It was put in; a copy of the file before is there.
    Done(Vec<&'static str>, Option<PathBuf>),
    Refused(Refused),
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        needs_a_home(&desk.config)?;
        let entry = entry(&desk.config)?;
        let clients = chosen(&self.client, &desk.config);
        if clients.is_empty() {
            return none_found(desk, self.json);
        }
        let key_kept = if self.dry_run {
            false
        } else {
            keep_key(&desk.config)?
        };
        let guard = Guard::standard();
        let mut ledger = Ledger::read(&desk.config.home);
        let mut done: Vec<(&Client, Vec<Outcome>)> = Vec::new();
        for client in clients {
            let settings = client.settings(&desk.config.places, &entry, !self.no_hooks);
            let mut outcomes = Vec::new();
            for change in change::to_connect(&settings, self.replace) {
                outcomes.push(self.outcome(change, client, &desk.config.home, &mut ledger, &guard));
            }
            done.push((client, outcomes));
        }
        if self.json {
            show::print_json(&as_json(&done))?;
        } else {
            self.print(desk, &done, key_kept)?;
        }
        let is_refused = |outcome: &Outcome| matches!(outcome.kind, Kind::Refused(_));
        let some_refused = done
            .iter()
            .any(|(_, outcomes)| outcomes.iter().any(is_refused));
        Ok(if some_refused {
            Exit::Refused
        } else {
            Exit::Done
        })
    }

    fn outcome(
        &self,
        change: Result<Change, Refused>,
        client: &Client,
        home: &Path,
        ledger: &mut Ledger,
        guard: &Guard,
    ) -> Outcome {
        let change = match change {
            Ok(change) => change,
            Err(refused) => return Outcome::refused(refused),
        };
        let file = change.found.path.clone();
        let after = change.after.as_deref().unwrap_or_default();
        let difference = difference(change.before(), after, guard);
        let what = change.what.clone();
        let kind = if change.is_nothing() {
            Kind::Already(what)
        } else if self.dry_run {
            Kind::Would(what)
        } else {
            match change::connect(&change, client, home, ledger) {
                Ok(copy) => Kind::Done(what, copy),
                Err(refused) => return Outcome::refused(refused),
            }
        };
        Outcome {
            file,
            kind,
            difference,
        }
    }

    fn print(
        &self,
        desk: &Desk,
        done: &[(&Client, Vec<Outcome>)],
        key_kept: bool,
    ) -> Result<(), Trouble> {
        let mut page = desk.page();
        let mut has_done = false;
        for (client, outcomes) in done {
            page.gap();
            page.line(client.name);
            if !client.has_stop_hook() && !self.no_hooks {
                page.remark("  ", "", "no hook of its own at the end of a turn");
            }
            for outcome in outcomes {
                print_outcome(&mut page, &desk.config, outcome, self.dry_run);
            }
            let here_done = outcomes
                .iter()
                .any(|one| matches!(one.kind, Kind::Done(..)));
            if here_done {
                page.remark("  ", "", &format!("then: {}", client.then));
            }
            has_done |= here_done;
        }
        page.gap();
        if key_kept {
            let file = short(&desk.config.home.join(keys::FILE), &desk.config);
            page.remark(
                "",
                "",
                &format!("the key is kept in {file}, for that server only"),
            );
        }
        if self.dry_run {
            page.hint("nothing was changed; leave out --dry-run to do it");
        } else if has_done {
            page.hint("`mmw-agent disconnect` puts every file back as it was");
        }
        page.print()
    }
}

impl Outcome {
    fn refused(refused: Refused) -> Self {
        Self {
            file: refused.file.clone(),
            kind: Kind::Refused(refused),
            difference: String::new(),
        }
    }
}

fn print_outcome(page: &mut Page, config: &Config, outcome: &Outcome, with_difference: bool) {
    let file = short(&outcome.file, config);
    match &outcome.kind {
        Kind::Already(what) => {
            page.line(format!("  {file}: {} is there already", what.join(" and ")));
        }
        Kind::Would(what) => page.line(format!("  {file}: would get {}", what.join(" and "))),
        Kind::Done(what, copy) => {
            page.line(format!("  {file}: has {} now", what.join(" and ")));
            if let Some(copy) = copy {
                page.remark("    ", "", &format!("as it was: {}", short(copy, config)));
            }
        }
        Kind::Refused(refused) => {
            page.line(format!("  {file}: left as it is, {}", clean(&refused.why)));
            if refused.is_taken {
                page.hint("--replace takes that name for this program");
            }
        }
    }
    if with_difference {
        for line in outcome.difference.lines() {
            page.line(format!("    {}", clean(line)));
        }
    }
}

/// Keeps the key of a server that clients are to work on: no client's settings hold it.
fn keep_key(config: &Config) -> Result<bool, Trouble> {
    let (Some(endpoint), Some(key)) = (&config.endpoint, &config.api_key) else {
        return Ok(false);
    };
    keys::keep(&config.home, &Endpoint::of_setting(endpoint)?, key)?;
    Ok(true)
}

/// Returns a path as a person writes it.
pub(super) fn short(path: &Path, config: &Config) -> String {
    let home = &config.places.home;
    let inside = path
        .strip_prefix(home)
        .ok()
        .filter(|_| home.parent().is_some());
    let text = match inside {
        Some(inside) => Path::new("~").join(inside).to_string_lossy().into_owned(),
        None => path.to_string_lossy().into_owned(),
    };
    clean(&text)
}

/// Refuses to look for settings where nobody's home is.
///
/// # Errors
/// If `HOME` is not set, or is no whole path.
pub(super) fn needs_a_home(config: &Config) -> Result<(), Trouble> {
    if config.places.are_known() {
        return Ok(());
    }
    Err(
        Trouble::usage("there is no home folder in which clients would keep their settings")
            .hint("set HOME to the whole path of yours"),
    )
}

/// Returns how clients are to start this program.
pub(super) fn entry(config: &Config) -> Result<Entry, Trouble> {
    let program = Config::program()?;
    let on_path = which::which_in_global("mmw-agent", Some(&config.places.path));
    let on_path = on_path.ok().and_then(|mut found| found.next());
    let program = lasting(&program, on_path);
    let program = program.to_str().ok_or_else(|| {
        Trouble::usage(
            "this program lies in a folder whose name is no text, which no client can be told",
        )
        .hint("move it to another folder")
    })?;
    Ok(Entry {
        program: program.to_owned(),
        environment: config.lasting.clone(),
        system: config.places.system,
    })
}

/// Returns the clients that were named, or else those that are here.
pub(super) fn chosen(named: &[String], config: &Config) -> Vec<&'static Client> {
    let is_chosen = |client: &&Client| {
        if named.is_empty() {
            client.is_here(&config.places)
        } else {
            named.iter().any(|id| id == client.id)
        }
    };
    ALL.iter().filter(is_chosen).collect()
}

fn none_found(desk: &Desk, as_json: bool) -> Result<Exit, Trouble> {
    if as_json {
        show::print_json(&json!({"clients": []}))?;
        return Ok(Exit::Nothing);
    }
    let mut page = desk.page();
    page.line("None of the clients that can be connected is on this computer.");
    let ids: Vec<&str> = ALL.iter().map(|client| client.id).collect();
    page.hint(&format!(
        "name one to connect it anyway: --client {}",
        ids.join("|")
    ));
    page.print()?;
    Ok(Exit::Nothing)
}

fn as_json(done: &[(&Client, Vec<Outcome>)]) -> Value {
    let clients = done.iter().map(|(client, outcomes)| {
        let files = outcomes.iter().map(|outcome| {
            let (state, what, copy, why) = match &outcome.kind {
                Kind::Already(what) => ("already", Some(what), None, None),
                Kind::Would(what) => ("would_change", Some(what), None, None),
                Kind::Done(what, copy) => ("changed", Some(what), copy.as_ref(), None),
                Kind::Refused(refused) => ("refused", None, None, Some(&refused.why)),
            };
            json!({
                "file": outcome.file, "state": state, "what": what, "backup": copy, "reason": why,
                "diff": outcome.difference,
            })
        });
        json!({"client": client.id, "files": files.collect::<Vec<_>>(), "then": client.then})
    });
    json!({ "clients": clients.collect::<Vec<_>>() })
}
