//! A record is written, found by words and by meaning, guarded and forgotten: in the real store, in a
//! workspace of its own.

use std::time::Duration;

use mmw_core::ids::RecordId;
use mmw_core::place::{Caller, Way};
use mmw_core::time::Timestamp;
use mmw_core::wire::{EnvelopeArgs, ForgetArgs, Hit, RememberArgs, SearchArgs};
use mmw_store::engine::EngineError;
use mmw_store::{EmbeddingState, Failure, Memory, RememberError};

use super::Finding;
use crate::exit::{Trouble, chain};
use crate::local::Local;

/// The workspace that is written to.
const WORKSPACE: &str = "mmw-doctor";
/// How long a vector may take that is asked for at once.
const PATIENCE: Duration = Duration::from_secs(10);
/// A key of the right form that opens nothing.
const MADE_UP_KEY: &str = "ghp_Wb4cP9zKx7Lm2Qv8Rt5Yu1Io3As6Df0Gh2J";

const READ_BACK: &str = "read_back";

pub(super) fn examine(local: &Local, now: Timestamp) -> Vec<Finding> {
    let opened = local
        .memory()
        .and_then(|memory| Ok((memory, local.caller(Way::Command)?)));
    let (memory, caller) = match opened {
        Ok(opened) => opened,
        Err(failure) => {
            let said = format!("the store can't be opened: {}", chain(&failure));
            return vec![Finding::bad("store", said, remedy(&failure))];
        }
    };
    let mut found = vec![Finding::good(
        "store",
        format!("the store opens: {}", local.file().display()),
    )];
    match written(&memory, &caller, now) {
        Ok((id, findings)) => {
            found.extend(findings);
            found.push(read_back(&memory, &caller, id, now));
            found.push(by_meaning(&memory, &caller, id));
            found.push(forgotten(&memory, &caller, id, now));
        }
        Err((message, fix)) => {
            let said = format!("nothing can be saved: {message}");
            found.push(Finding::bad("write", said, fix));
        }
    }
    found
}

/// Returns what mends it: to look through a store helps only one that is damaged.
fn remedy(failure: &Failure) -> &'static str {
    match failure {
        Failure::Engine(EngineError::Busy) => {
            "wait until the program that holds the store is done, or end it"
        }
        Failure::Engine(EngineError::DiskFull) => "make room on that disk",
        Failure::Engine(EngineError::ReadOnly) => {
            "make the folder and its files writable, or set MMW_AGENT_HOME to a folder of yours"
        }
        Failure::Engine(EngineError::NewerSchema { .. }) => "update mmw-agent",
        _ => "mmw-agent verify",
    }
}

fn text(now: Timestamp) -> String {
    format!("the doctor of mmw-agent wrote this at {now} with the made-up key {MADE_UP_KEY}")
}

fn written(
    memory: &Memory,
    caller: &Caller,
    now: Timestamp,
) -> Result<(RecordId, Vec<Finding>), (String, String)> {
    let args = RememberArgs {
        content: text(now),
        workspace: Some(WORKSPACE.to_owned()),
        ..RememberArgs::default()
    };
    let saved = memory.remember(caller, args, &EnvelopeArgs::default());
    let answer = saved.map_err(|error| {
        let fix = match &error {
            RememberError::Common(failure) => remedy(failure),
            _ => "mmw-agent policy",
        };
        (Trouble::from(error).message, fix.to_owned())
    })?;
    let Some(record) = answer.record else {
        let said = "the guard held it back".to_owned();
        return Err((said, "mmw-agent policy".to_owned()));
    };
    let guard = if answer.replaced.is_empty() {
        let said = "a made-up key was saved as it is: the guard lets it through";
        Finding::bad("guard", said, "mmw-agent policy")
    } else {
        Finding::good("guard", "a made-up key was replaced before it was saved")
    };
    let write = Finding::good("write", "a record was saved, and is on the disk");
    Ok((record.id, vec![write, guard]))
}

fn search(memory: &Memory, caller: &Caller, query: String) -> Result<Vec<Hit>, Trouble> {
    let args = SearchArgs {
        query,
        workspace: Some(WORKSPACE.to_owned()),
        limit: Some(50),
        ..SearchArgs::default()
    };
    Ok(memory.search(caller, &args)?.hits)
}

fn read_back(memory: &Memory, caller: &Caller, id: RecordId, now: Timestamp) -> Finding {
    match search(memory, caller, format!("doctor of mmw-agent {now}")) {
        Err(trouble) => Finding::bad(READ_BACK, trouble.message, "mmw-agent verify"),
        Ok(hits) if hits.iter().any(|hit| hit.record.id == id) => {
            Finding::good(READ_BACK, "it is found by its words")
        }
        Ok(_) => {
            let said = "it is not found by its words";
            Finding::bad(READ_BACK, said, "mmw-agent verify")
        }
    }
}

fn by_meaning(memory: &Memory, caller: &Caller, id: RecordId) -> Finding {
    const ID: &str = "meaning";
    match memory.embedding_state() {
        Ok(EmbeddingState::Off) => {
            return Finding::skipped(ID, "search goes by words only: MMW_EMBEDDER is `off`");
        }
        Ok(EmbeddingState::Unavailable(error)) => {
            let said = format!("the model can't be used: {}", chain(&error));
            return Finding::bad(
                ID,
                said,
                "see docs/search-models.md, or set MMW_EMBEDDER=built-in",
            );
        }
        _ => {}
    }
    let settled = memory.settle(PATIENCE);
    let found = settled
        .map_err(Trouble::from)
        .and_then(|_| search(memory, caller, "a physician's note about itself".to_owned()));
    let is_near = |hit: &Hit| hit.record.id == id && hit.score_parts.semantic.is_some();
    match found {
        Ok(hits) if hits.iter().any(is_near) => {
            Finding::good(ID, "it is found by its meaning, without any of its words")
        }
        Ok(_) => {
            let said = "it has no vector yet: much was saved that is not embedded";
            Finding::warning(ID, said, "mmw-agent status")
        }
        Err(trouble) => Finding::bad(ID, trouble.message, "mmw-agent verify"),
    }
}

fn forgotten(memory: &Memory, caller: &Caller, id: RecordId, now: Timestamp) -> Finding {
    const ID: &str = "forget";
    let args = ForgetArgs {
        memory_id: Some(id.to_string()),
        reason: Some("written by mmw-agent doctor".to_owned()),
        ..ForgetArgs::default()
    };
    let left = memory
        .forget(caller, &args)
        .map_err(Trouble::from)
        .and_then(|_| search(memory, caller, text(now)));
    match left {
        Ok(hits) if hits.iter().all(|hit| hit.record.id != id) => {
            Finding::good(ID, "it was forgotten, and is found no more")
        }
        Ok(_) => Finding::bad(
            ID,
            "it was forgotten and is found still",
            "mmw-agent verify",
        ),
        Err(trouble) => Finding::bad(ID, trouble.message, "mmw-agent verify"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_is_not_damaged_is_not_to_be_looked_through() {
        let newer = EngineError::NewerSchema { found: 9, known: 1 };
        for (error, part) in [
            (EngineError::Busy, "wait"),
            (EngineError::DiskFull, "room"),
            (EngineError::ReadOnly, "MMW_AGENT_HOME"),
            (newer, "update"),
            (EngineError::Corrupt("x".to_owned()), "mmw-agent verify"),
        ] {
            let fix = remedy(&error.into());
            assert!(fix.contains(part), "{fix}");
        }
    }
}
