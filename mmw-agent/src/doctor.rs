//! Whether the memory works on this computer: each thing tried, not assumed.
//!
//! | file | what is tried |
//! |---|---|
//! | `home` | the agent's folder: there, writable, for its owner only, on a disk with room |
//! | `clock` | the system's clock against what is stored |
//! | `round_trip` | a record is written, found by words and by meaning, guarded and forgotten |
//! | `address` | what listens at the server's address, before the key goes there |
//! | `server` | the same round trip in front of a server |
//! | `queue` | what waits for the server, and what keeps it waiting |
//! | `clients` | which clients are connected, to a program that is there, and only once |
//! | `elsewhere` | what a client has of ours from the project and from plugins |
//! | `hooks` | the Stop hook answers the events of every client quickly and in silence |
//! | `network` | no connection was opened |
//!
//! Nothing is mended here: every finding that is not good names the command that does it.

mod address;
mod clients;
mod clock;
mod elsewhere;
mod home;
mod hooks;
mod network;
mod queue;
mod round_trip;
mod server;

use mmw_core::time::Timestamp;

use crate::config::Config;
use crate::connect::entry::Entry;
use crate::local::Local;
use crate::relay::Relay;

/// How it is with something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    /// It does not apply here.
    Skipped,
    /// It works.
    Good,
    /// It works, but not as it could.
    Warning,
    /// It does not work.
    Bad,
}

/// What was found out about one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The thing, for programs.
    pub(crate) id: &'static str,
    /// How it is.
    pub(crate) state: State,
    /// A sentence for a person.
    pub(crate) said: String,
    /// What mends it: a command wherever there is one.
    pub(crate) fix: Option<String>,
}

impl Finding {
    fn new(id: &'static str, state: State, said: impl Into<String>) -> Self {
        Self {
            id,
            state,
            said: said.into(),
            fix: None,
        }
    }

    fn good(id: &'static str, said: impl Into<String>) -> Self {
        Self::new(id, State::Good, said)
    }

    fn skipped(id: &'static str, said: impl Into<String>) -> Self {
        Self::new(id, State::Skipped, said)
    }

    fn warning(id: &'static str, said: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            fix: Some(fix.into()),
            ..Self::new(id, State::Warning, said)
        }
    }

    fn bad(id: &'static str, said: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            fix: Some(fix.into()),
            ..Self::new(id, State::Bad, said)
        }
    }
}

/// Tries everything, and tells of each thing as soon as it is known.
pub(crate) fn examine(
    local: &Local,
    config: &Config,
    entry: &Entry,
    relay: Option<&Relay>,
    now: Timestamp,
    tell: &mut dyn FnMut(&Finding),
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut say = |found: Vec<Finding>| {
        for finding in &found {
            tell(finding);
        }
        findings.extend(found);
    };
    say(home::examine(&config.home));
    say(clock::examine(&local.file(), now));
    match relay {
        Some(relay) => {
            let (found, may_go_on) = address::examine(relay, now);
            say(found);
            if may_go_on {
                say(server::examine(relay, now));
            }
            say(queue::examine(relay));
        }
        None => say(round_trip::examine(local, now)),
    }
    say(clients::examine(config, entry));
    say(hooks::examine(entry));
    if relay.is_none() {
        say(network::examine(local));
    }
    findings
}
