//! What the name of a tool says: of which server it is, and whether it saves.
//!
//! Every client puts the server's and the tool's name together in its own way.

use std::fmt;

/// The tool that saves, as a client registered it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tool {
    /// The name that the agent calls it by.
    pub name: String,
    /// The server as it stands in the name, without its own marks; empty if the name has none.
    pub server: String,
}

/// What is between the server and the tool, longest first.
const JOINTS: [&str; 6] = ["__", "_", "-", ":", ".", "/"];

/// What stands before the server.
const PREFIXES: [&str; 4] = ["mcp__", "mcp_", "MCP:", "mcp."];

const SAVING: &str = "remember";

impl Tool {
    /// Reads a name; `None` if the tool is not called `remember`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let before = name.strip_suffix(SAVING)?;
        if before.len() > 128 || name.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return None;
        }
        let rest = PREFIXES
            .iter()
            .find_map(|prefix| before.strip_prefix(prefix))
            .unwrap_or(before);
        if rest.is_empty() {
            return Some(Self {
                name: name.to_owned(),
                server: String::new(),
            });
        }
        let joint = JOINTS.iter().find(|joint| rest.ends_with(**joint))?;
        Some(Self {
            name: name.to_owned(),
            server: rest.strip_suffix(joint)?.to_owned(),
        })
    }

    /// Returns the tool of a server as Claude Code and Codex name it.
    #[must_use]
    pub fn of_server(server: &str) -> Self {
        let server: String = server
            .chars()
            .map(|c| match c {
                c if c.is_ascii_alphanumeric() || c == '_' || c == '-' => c,
                _ => '_',
            })
            .collect();
        Self {
            name: format!("mcp__{server}__{SAVING}"),
            server,
        }
    }

    /// Tells whether the server's name says that it is MMW.
    #[must_use]
    pub fn names_mmw(&self) -> bool {
        self.server.to_ascii_lowercase().contains("mmw")
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_its_server() {
        for (name, server) in [
            ("mcp__mmw__remember", "mmw"),
            ("mcp__plugin_mmw_mmw__remember", "plugin_mmw_mmw"),
            ("mcp__my_memory__remember", "my_memory"),
            ("mcp_mmw_remember", "mmw"),
            ("mmw-remember", "mmw"),
            ("MCP:remember", ""),
            ("remember", ""),
        ] {
            assert_eq!(Tool::parse(name).unwrap().server, server, "{name}");
        }
    }

    #[test]
    fn other_tools_do_not_save() {
        for name in [
            "mcp__mmw__search",
            "mcp__mmw__misremember",
            "mcp__mmw__remember_all",
            "do not remember",
            "",
        ] {
            assert_eq!(Tool::parse(name), None, "{name}");
        }
    }

    #[test]
    fn a_server_is_named_as_claude_code_does() {
        let plugin = Tool::of_server("plugin:mmw:mmw");
        assert_eq!(plugin.name, "mcp__plugin_mmw_mmw__remember");
        assert_eq!(Tool::parse(&plugin.name), Some(plugin));
    }
}
