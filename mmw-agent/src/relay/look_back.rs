//! A search while the server can't be reached: through what waits on this computer, and it says so.
//!
//! A store of a moment is filled with the writes that wait and searched like any other, so that ranking,
//! status and limits are the same. It goes by words alone, and is thrown away.

use std::collections::HashSet;
use std::sync::Arc;

use mmw_core::env::{SystemClock, SystemEntropy};
use mmw_core::place::Way;
use mmw_core::time::Timestamp;
use mmw_core::wire::{EnvelopeArgs, RememberArgs, SearchAnswer, SearchArgs};
use mmw_guard::Guard;
use mmw_hooks::spool::{Entry, Spool};
use mmw_server::actions::search;
use mmw_store::Memory;
use serde_json::{Value, json};

use crate::exit::Trouble;

/// The most waiting writes that are searched, the newest: as many as a store takes at once.
const MOST: usize = 1_000;

/// In `degraded`: the server's memory was not looked into.
const WITHOUT_SERVER: &str = "server";

/// Searches what waits of this agent's project. `None` if nothing does: then there is nothing to answer from.
///
/// # Errors
/// If the arguments are none of a search, or there is no room for a store of a moment.
pub(super) fn search_waiting(
    spool: &Spool,
    is_ours: &dyn Fn(&Entry) -> bool,
    guard: &Guard,
    args: &SearchArgs,
    now: Timestamp,
) -> Result<Option<Value>, Trouble> {
    let (statements, n_waiting) = statements(spool, is_ours)?;
    if statements.is_empty() {
        return Ok(None);
    }
    let folder = tempfile::tempdir()
        .map_err(|error| Trouble::usage(format!("no folder can be made: {error}")))?;
    let memory = Memory::open_with(
        &folder.path().join("waiting.db"),
        guard.clone(),
        None,
        Arc::new(SystemClock),
        Arc::new(SystemEntropy),
    )?;
    let caller = memory.local_caller("waiting", Way::Stdio)?;
    memory.remember_all(&caller, statements)?;
    let mut answer = memory.search(&caller, args)?;
    answer.degraded.push(WITHOUT_SERVER.to_owned());
    answer.notice = Some(notice(&answer, n_waiting));
    let text = search::told(&answer, now);
    Ok(Some(json!({
        "content": [{"type": "text", "text": text}],
        "structuredContent": serde_json::to_value(&answer).unwrap_or_default(),
        "isError": false,
    })))
}

/// Returns the statements that wait, oldest first, without those that are to be forgotten.
fn statements(
    spool: &Spool,
    is_ours: &dyn Fn(&Entry) -> bool,
) -> Result<(Vec<(RememberArgs, EnvelopeArgs)>, usize), Trouble> {
    let unreadable = |error| Trouble::usage(crate::exit::chain(&error));
    let names = spool.waiting().map_err(unreadable)?;
    let newest = names.iter().skip(names.len().saturating_sub(MOST));
    let mut entries = Vec::new();
    for name in newest {
        // One that was sent meanwhile is on the server.
        if let Ok(Some(entry)) = spool.read(*name)
            && is_ours(&entry)
        {
            entries.push(entry);
        }
    }
    let forgotten: HashSet<String> = entries
        .iter()
        .filter(|entry| entry.action == "forget")
        .filter_map(|entry| Some(entry.arguments.get("memory_id")?.as_str()?.to_owned()))
        .collect();
    let statement = |entry: Entry| {
        if entry.action != "remember" {
            return None;
        }
        let envelope: EnvelopeArgs = serde_json::from_value(Value::Object(entry.envelope)).ok()?;
        let id = envelope.proposed_id.as_deref().unwrap_or_default();
        if forgotten.contains(id) {
            return None;
        }
        let args = serde_json::from_value(Value::Object(entry.arguments)).ok()?;
        Some((args, envelope))
    };
    let n_ours = entries.len() + names.len().saturating_sub(MOST);
    Ok((entries.into_iter().filter_map(statement).collect(), n_ours))
}

fn notice(answer: &SearchAnswer, n_waiting: usize) -> String {
    let found = if answer.hits.is_empty() {
        "Nothing of that matches, which does not mean that nothing is remembered."
    } else {
        "There may be more, and newer, on the server."
    };
    format!(
        "The memory server can't be reached: only what waits on this computer was searched ({n_waiting} \
         writes). {found}"
    )
}
