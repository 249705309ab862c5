//! Sends what waits for a server, and shows how it is.

use mmw_hooks::spool::{EntryName, MAX_LISTED, STUCK_AFTER};
use serde_json::{Value, json};

use super::serve::relay_to;
use super::status::There;
use super::{Desk, ask};
use crate::exit::{Exit, Trouble};
use crate::relay::{Relay, Waiting, in_figures};
use crate::show::answers::plural;
use crate::show::clean::clean;
use crate::show::{self, Page};

/// Send what waits for the server now
///
/// What is saved while the server (MMW_ENDPOINT) is down waits on this computer's disk, and any agent that
/// runs sends it, oldest first. This does so at once, and shows what still waits, what the server refused and
/// why. A write that the server fails at each time holds up all that were said after it: --list shows what
/// waits, --set-aside puts one with those that were refused, and --retry-refused takes it back.
///
/// Examples:
///   mmw-agent sync
///   mmw-agent sync --list
///   mmw-agent sync --set-aside 42
///   mmw-agent sync --retry-refused
///   mmw-agent sync --json
#[derive(Debug, clap::Args)]
#[command(
    verbatim_doc_comment,
    group(clap::ArgGroup::new("what").args(["retry_refused", "list", "set_aside"]))
)]
pub(super) struct Args {
    /// Try again what the server refused for good, say after a limit was raised, and what was set aside
    #[arg(long)]
    retry_refused: bool,
    /// Show what waits, and send nothing
    #[arg(long)]
    list: bool,
    /// Put this write aside, by its number in --list, and send what waits behind it; it is kept
    #[arg(long, value_name = "NUMBER")]
    set_aside: Option<String>,
    /// Do not ask
    #[arg(short, long, requires = "set_aside")]
    yes: bool,
    /// Print the answer as JSON
    #[arg(long)]
    json: bool,
}

impl Args {
    pub(super) fn run(self, desk: &Desk) -> Result<Exit, Trouble> {
        let Some(endpoint) = &desk.config.endpoint else {
            return Err(Trouble::usage(
                "MMW_ENDPOINT is not set: there is no server to send anything to",
            )
            .hint("without one the memory is on this computer: mmw-agent status"));
        };
        let relay = relay_to(desk, endpoint)?;
        if self.list {
            return list(desk, &relay, self.json);
        }
        if let Some(named) = &self.set_aside
            && !self.is_set_aside(desk, &relay, named)?
        {
            return Ok(Exit::Nothing);
        }
        let n_sent = relay.sync(self.retry_refused)?;
        show_state(desk, &relay, Some(n_sent), self.json)
    }

    /// Sets a write aside, once a person agrees. Tells whether it was done.
    fn is_set_aside(&self, desk: &Desk, relay: &Relay, named: &str) -> Result<bool, Trouble> {
        let gone = || {
            let said = format!("no write with the number {} waits", clean(named));
            Trouble::new(Exit::Nothing, said).hint("mmw-agent sync --list")
        };
        let name = EntryName::named(named).ok_or_else(gone)?;
        let may_ask = desk.terminal.is_interactive() && !self.json;
        if !(self.yes || may_ask) {
            return Err(Trouble::usage("nobody is here to confirm it")
                .hint("add --yes to set it aside without asking"));
        }
        if !self.yes {
            let (waiting, _) = relay.waiting(usize::MAX)?;
            let one = waiting.iter().find(|one| one.number == name.number());
            let mut page = desk.page();
            page.line(row(&page, one.ok_or_else(gone)?));
            page.print()?;
            if !ask::confirm(
                "Set it aside? It is not sent until you take it back.",
                false,
            )? {
                return Ok(false);
            }
        }
        if relay.set_aside(name)? {
            Ok(true)
        } else {
            Err(gone())
        }
    }
}

/// Shows what waits, oldest first.
fn list(desk: &Desk, relay: &Relay, as_json: bool) -> Result<Exit, Trouble> {
    let (waiting, n) = relay.waiting(MAX_LISTED)?;
    if as_json {
        let listed: Vec<Value> = waiting.iter().map(Waiting::in_figures).collect();
        show::print_json(&json!({ "waiting": n, "writes": listed }))?;
    } else {
        let mut page = desk.page();
        if waiting.is_empty() {
            page.line("Nothing waits for the server.");
        }
        for one in &waiting {
            page.line(row(&page, one));
        }
        if n > waiting.len() {
            page.line(format!("… and {} more behind them", n - waiting.len()));
        }
        page.print()?;
    }
    Ok(if n == 0 { Exit::Nothing } else { Exit::Done })
}

/// Returns a write that waits on one line.
fn row(page: &Page, one: &Waiting) -> String {
    let age = one.queued_at.map_or_else(
        || "its file can't be read".to_owned(),
        |moment| page.age(moment),
    );
    format!(
        "{:>6}  {}  {}  {age}",
        one.number,
        clean(&one.action),
        one.about
    )
}

/// Shows whether the server is reached and what waits for it.
pub(super) fn show_state(
    desk: &Desk,
    relay: &Relay,
    n_sent: Option<usize>,
    as_json: bool,
) -> Result<Exit, Trouble> {
    let listed = relay.ask("tools/list", json!({}));
    let refused = listed.pointer("/error/message").and_then(Value::as_str);
    let trouble = relay.trouble().or_else(|| refused.map(str::to_owned));
    let queue = relay.queue();
    let n_waiting = queue.as_ref().map_or(0, |queue| queue.n_waiting);
    // Who asks for the state is told what is there too; who sends is told what came of it.
    let memory = n_sent
        .is_none()
        .then(|| There::of(desk, relay, trouble.is_none()));
    if as_json {
        let mut told = json!({
            "mode": "server",
            "version": env!("CARGO_PKG_VERSION"),
            "home": desk.config.home,
            "endpoint": relay.endpoint().to_string(),
            "reached": trouble.is_none(),
            "reason": trouble,
            "sent": n_sent,
            "queue": queue.as_ref().map(in_figures),
        });
        if let Some(memory) = &memory {
            memory.add_to(&mut told);
        }
        show::print_json(&told)?;
    } else {
        let mut page = desk.page();
        page.pair("server", &relay.endpoint().to_string());
        page.pair(
            "reached",
            &trouble
                .clone()
                .map_or_else(|| "yes".to_owned(), |why| format!("no: {why}")),
        );
        if let Some(n_sent) = n_sent {
            page.pair("sent", &format!("{n_sent} {}", plural(n_sent, "write")));
        }
        let waiting = match &queue {
            None => "the queue can't be read".to_owned(),
            Some(queue) => {
                let oldest = queue.oldest.as_ref().and_then(|oldest| oldest.queued_at);
                let since =
                    oldest.map_or_else(String::new, |at| format!(", the oldest {}", page.age(at)));
                format!("{n_waiting} {}{since}", plural(n_waiting, "write"))
            }
        };
        page.pair("waiting", &waiting);
        match &memory {
            Some(memory) => memory.show(&mut page),
            None => page.pair("version", env!("CARGO_PKG_VERSION")),
        }
        if let Some(queue) = &queue {
            if let Some(paused) = &queue.paused {
                page.pair("paused", &paused.why);
            }
            for letter in &queue.dead {
                let why = letter
                    .refused
                    .as_ref()
                    .map_or("no reason noted", |note| &note.why);
                page.pair(
                    "refused",
                    &format!("{} {}: {why}", letter.action, letter.name),
                );
            }
            // Who sends at once has begun the attempts anew, and saw the answer just now.
            let n_attempts = n_sent.map_or(STUCK_AFTER, |_| 1);
            let stuck = queue.stuck(n_attempts).filter(|_| trouble.is_none());
            if let (Some(name), Some(last)) = (stuck, &queue.last_error) {
                let said = format!("the first, {}, was not taken: {}", name.number(), last.why);
                page.pair("held up", &said);
                page.hint(
                    "mmw-agent sync --list, and --set-aside NUMBER if that one never will be",
                );
            }
            hint(&mut page, queue.n_dead, trouble.is_some());
        }
        page.print()?;
    }
    Ok(if trouble.is_none() && n_waiting == 0 {
        Exit::Done
    } else {
        Exit::Nothing
    })
}

fn hint(page: &mut Page, n_dead: usize, is_trouble: bool) {
    if n_dead > 0 {
        page.hint(&clean(
            "mmw-agent sync --retry-refused, once the reason is gone",
        ));
    }
    if is_trouble {
        page.hint("mmw-agent doctor");
    }
}
