//! What a server has, and what this computer adds to it.

use mmw_core::wire::StatusAnswer;
use mmw_store::Pulse;
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::super::Desk;
use crate::about::About;
use crate::relay::Relay;
use crate::show::Page;
use crate::show::answers::plural;

/// What is told of a server beside the way to it.
pub(in crate::cli) struct There {
    about: About,
    /// What the server says; nothing from one that is not reached, is older, or whose key may not read.
    memory: Option<(StatusAnswer, Value)>,
}

impl There {
    /// Asks the server, if it is reached.
    pub(in crate::cli) fn of(desk: &Desk, relay: &Relay, is_reached: bool) -> Self {
        let told = is_reached
            .then(|| relay.act("memory_status", &json!({})))
            .and_then(Result::ok);
        Self {
            about: About::of(&desk.config.home, &desk.anchors()),
            memory: told.and_then(|told| Some((StatusAnswer::deserialize(&told).ok()?, told))),
        }
    }

    /// Puts it into what a program is told.
    pub(in crate::cli) fn add_to(&self, told: &mut Value) {
        self.about.add_to(told);
        told["server"] = json!(self.memory.as_ref().map(|(_, told)| told));
    }

    /// Puts it on a page for people.
    pub(in crate::cli) fn show(&self, page: &mut Page) {
        let version = env!("CARGO_PKG_VERSION");
        let Some((memory, _)) = &self.memory else {
            page.pair("files", &self.about.roots_in_words());
            page.pair("version", version);
            return;
        };
        let n_records = usize::try_from(memory.records).unwrap_or(usize::MAX);
        let records = plural(n_records, "record");
        page.pair("memory", &format!("{n_records} {records}"));
        for place in &memory.workspaces {
            page.pair("", &format!("  {} {}", place.workspace, place.records));
        }
        page.pair("conflicts", &format!("{} open", memory.conflicts.len()));
        page.pair("review", &format!("{} waiting", memory.waiting));
        super::came_in(
            page,
            &Pulse {
                last_write: memory.last_write,
                last_capture: memory.last_capture,
            },
        );
        page.pair("key may", &memory.scopes.join(", "));
        page.pair("files", &self.about.roots_in_words());
        let store = memory.schema.as_ref();
        let store = store.map_or_else(String::new, |schema| format!(", store {schema}"));
        let server = &memory.version;
        page.pair("version", &format!("{version}, server {server}{store}"));
    }
}
