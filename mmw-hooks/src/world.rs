//! What the hook finds around it besides the event: the environment, read once, and the time.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use mmw_core::time::Timestamp;

/// Where clients and the agent keep their things, and what the person set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct World {
    /// The present moment.
    pub now: Timestamp,
    /// The person's home, if there is one.
    pub home: Option<PathBuf>,
    /// The agent's home.
    pub agent_home: Option<PathBuf>,
    /// Where Claude Code keeps its settings, if not in its usual place.
    pub claude_home: Option<PathBuf>,
    /// Where Codex keeps its settings, if not in its usual place.
    pub codex_home: Option<PathBuf>,
    /// The folder of the plugin that brought the hook.
    pub plugin: Option<PathBuf>,
    /// The folder that the session was started in, where the client tells it.
    pub project: Option<PathBuf>,
    /// Where programs keep settings for this person, on systems that have such a folder.
    pub app_data: Option<PathBuf>,
    /// Whether a person switched the hook off, or it was started by MMW itself.
    pub is_off: bool,
}

impl World {
    /// Reads the environment of this process.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "this module is the door itself")]
    pub fn from_environment(now: Timestamp) -> Self {
        Self::from_lookup(|name| std::env::var_os(name), now)
    }

    /// Reads the environment from a lookup of names. What can't be used counts as not set.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<OsString>, now: Timestamp) -> Self {
        let text = |name: &str| {
            lookup(name)
                .and_then(|value| value.into_string().ok())
                .unwrap_or_default()
                .trim()
                .to_ascii_lowercase()
        };
        let home = ["HOME", "USERPROFILE"]
            .iter()
            .find_map(|name| folder(&lookup, name, None));
        let at = |name: &str| folder(&lookup, name, home.as_deref());
        Self {
            now,
            agent_home: at("MMW_AGENT_HOME").or_else(|| Some(home.as_ref()?.join(".mmw"))),
            claude_home: at("CLAUDE_CONFIG_DIR"),
            codex_home: at("CODEX_HOME"),
            plugin: at("CLAUDE_PLUGIN_ROOT").or_else(|| at("PLUGIN_ROOT")),
            project: [
                "CLAUDE_PROJECT_DIR",
                "GEMINI_PROJECT_DIR",
                "CURSOR_PROJECT_DIR",
            ]
            .iter()
            .find_map(|name| at(name)),
            app_data: at("APPDATA").or_else(|| at("XDG_CONFIG_HOME")),
            is_off: matches!(text("MMW_STOP_HOOK").as_str(), "off" | "0" | "false" | "no")
                || matches!(text("MMW_INTERNAL").as_str(), "1" | "true"),
            home,
        }
    }
}

/// Returns the absolute folder that a variable names; a leading `~/` is the person's home.
fn folder(
    lookup: impl Fn(&str) -> Option<OsString>,
    name: &str,
    home: Option<&Path>,
) -> Option<PathBuf> {
    let path = PathBuf::from(lookup(name)?);
    let path = match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    };
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(vars: &[(&str, &str)]) -> World {
        let found = |name: &str| {
            let known = vars.iter().find(|(known, _)| *known == name);
            known.map(|(_, value)| OsString::from(value))
        };
        World::from_lookup(found, Timestamp::from_ms(0))
    }

    #[test]
    fn a_person_switches_it_off() {
        for off in ["off", "OFF", " off ", "0", "false", "no"] {
            assert!(world(&[("MMW_STOP_HOOK", off)]).is_off, "{off}");
        }
        for on in ["", "on", "1", "yes"] {
            assert!(!world(&[("MMW_STOP_HOOK", on)]).is_off, "{on}");
        }
        assert!(world(&[("MMW_INTERNAL", "1")]).is_off);
    }

    #[test]
    fn folders_are_absolute_or_not_there() {
        let read = world(&[
            ("HOME", "/h"),
            ("CODEX_HOME", "rel"),
            ("CLAUDE_CONFIG_DIR", "~/c"),
        ]);
        assert_eq!(read.agent_home, Some(PathBuf::from("/h/.mmw")));
        assert_eq!(read.codex_home, None);
        assert_eq!(read.claude_home, Some(PathBuf::from("/h/c")));
        let set = world(&[("HOME", "/h"), ("MMW_AGENT_HOME", "/m")]);
        assert_eq!(set.agent_home, Some(PathBuf::from("/m")));
        assert_eq!(world(&[]).agent_home, None);
    }
}
