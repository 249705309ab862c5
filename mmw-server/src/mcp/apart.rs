//! What can be said of a server without one: for a program in front of a server that can't be reached.
//!
//! As JSON, for it goes to a client as it is. A server of another version may say it otherwise.

use mmw_core::place::Scopes;
use rmcp::model::{CacheScope, DiscoverResult, ListToolsResult, ProtocolVersion};
use serde_json::Value;

use super::{config, tools};
use crate::actions::Registry;

/// Returns the result of `initialize` for a client that asked for a version.
#[must_use]
pub fn introduction(requested: Option<&str>) -> Value {
    let latest = ProtocolVersion::LATEST_WITH_INITIALIZE;
    let known = ProtocolVersion::known_up_to(&latest);
    let asked = known
        .iter()
        .find(|version| Some(version.as_str()) == requested);
    let mut introduction = config();
    introduction.protocol_version = asked.cloned().unwrap_or(latest);
    json(&introduction)
}

/// Returns the result of `server/discover`. It is not to be kept: the server may say more.
#[must_use]
pub fn discovery() -> Value {
    let versions = ProtocolVersion::known_up_to(&ProtocolVersion::LATEST).to_vec();
    let found = DiscoverResult::from_server_info(versions, config());
    json(&found.with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}

/// Returns the result of `tools/list` for a key of an agent. It is not to be kept.
#[must_use]
pub fn agent_tools() -> Value {
    let registry = Registry::standard();
    let tools = tools::all(&registry);
    let shown = registry.iter().zip(tools.iter().cloned());
    let shown = shown.filter(|(action, _)| action.is_shown(Scopes::agent(), false));
    let list = ListToolsResult::with_all_items(shown.map(|(_, tool)| tool).collect());
    json(&list.with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}

fn json(result: &impl serde::Serialize) -> Value {
    serde_json::to_value(result).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_is_known_is_agreed_to_and_any_other_is_answered_with_the_latest() {
        let agreed = |requested| introduction(requested)["protocolVersion"].clone();
        assert_eq!(agreed(Some("2025-06-18")), "2025-06-18");
        assert_eq!(agreed(Some("2030-01-01")), "2025-11-25");
        assert_eq!(agreed(None), "2025-11-25");
    }

    #[test]
    fn the_usual_tools_are_there() {
        let list = agent_tools();
        let tools = list["tools"].as_array().unwrap().iter();
        let names: Vec<&str> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
        assert!(
            names.contains(&"remember") && names.contains(&"search"),
            "{names:?}"
        );
        assert!(names.is_sorted());
    }

    #[test]
    fn every_version_is_offered() {
        let versions = discovery()["supportedVersions"].clone();
        assert!(
            versions
                .as_array()
                .unwrap()
                .contains(&Value::from("2026-07-28")),
            "{versions}"
        );
    }
}
