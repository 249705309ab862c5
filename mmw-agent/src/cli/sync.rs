//! Sends what waits for a server, and shows how it is.

use serde_json::{Value, json};

use super::Desk;
use super::serve::relay_to;
use crate::exit::{Exit, Trouble};
use crate::relay::{Relay, in_figures};
use crate::show::answers::plural;
use crate::show::clean::clean;
use crate::show::{self, Page};

/// Send what waits for the server now
///
/// What is saved while the server (MMW_ENDPOINT) is down waits on this computer's disk, and any agent that
/// runs sends it. This does so at once, and shows what still waits, what the server refused and why.
///
/// Examples:
///   mmw-agent sync
///   mmw-agent sync --retry-refused
///   mmw-agent sync --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Try again what the server refused for good, say after a limit was raised
    #[arg(long)]
    retry_refused: bool,
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
        let n_sent = relay.sync(self.retry_refused)?;
        show_state(desk, &relay, Some(n_sent), self.json)
    }
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
    if as_json {
        show::print_json(&json!({
            "mode": "server",
            "version": env!("CARGO_PKG_VERSION"),
            "home": desk.config.home,
            "endpoint": relay.endpoint().to_string(),
            "reached": trouble.is_none(),
            "reason": trouble,
            "sent": n_sent,
            "queue": queue.as_ref().map(in_figures),
        }))?;
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
        page.pair("version", env!("CARGO_PKG_VERSION"));
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
