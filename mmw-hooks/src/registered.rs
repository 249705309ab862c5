//! Whether the agent of a session has MMW's tools, and what the one that saves is called there.
//!
//! The transcript is asked first: a tool that was used or offered is surely there. Else the client's
//! `settings` say which servers it has.

mod settings;

use std::path::PathBuf;

use crate::clients::Client;
use crate::transcript::tool::Tool;
use crate::transcript::{Session, When};
use crate::world::World;

/// What a session has of MMW.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    /// The tool that saves.
    pub tool: Tool,
    /// When it was last used with success, by whatever name.
    pub saved: Option<When>,
}

/// Looks for MMW's tools; `None` if the agent has none. `folders` are those in which a project's
/// settings may lie, the nearest first.
#[must_use]
pub fn find(
    client: Client,
    session: &Session,
    folders: &[PathBuf],
    world: &World,
) -> Option<Registered> {
    let servers = settings::servers(client, folders, world);
    let is_ours = |tool: &Tool| {
        tool.names_mmw()
            || session.offered.contains(tool)
            || servers.iter().any(|server| same(server, &tool.server))
            // A client that leaves out the server can mean only one.
            || (tool.server.is_empty() && !servers.is_empty())
    };
    let used: Vec<(&Tool, When)> = session
        .saved
        .iter()
        .filter(|(tool, _)| is_ours(tool))
        .map(|(tool, when)| (tool, *when))
        .collect();
    let last_used = used.iter().max_by_key(|(_, when)| *when);
    let tool = last_used
        .map(|(tool, _)| (*tool).clone())
        .or_else(|| session.offered.iter().next().cloned())
        .or_else(|| servers.first().map(|server| named(client, server)))?;
    Some(Registered {
        tool,
        saved: last_used.map(|(_, when)| *when),
    })
}

/// Tells whether a server in the settings is the one in a tool's name: names are made of it by
/// replacing characters, and some clients put a word before.
fn same(server: &str, in_name: &str) -> bool {
    let plain = Tool::of_server(server).server;
    in_name == plain || in_name.strip_prefix("user-") == Some(&plain)
}

/// Returns the tool of a server by the name that the client's agent calls it.
fn named(client: Client, server: &str) -> Tool {
    let full = Tool::of_server(server);
    let name = match client {
        Client::ClaudeCode | Client::Codex => return full,
        Client::Gemini | Client::VsCode => format!("mcp_{}_remember", full.server),
        Client::Copilot => format!("{}-remember", full.server),
        // Tools of servers have no names of their own there.
        Client::Cursor => "remember".to_owned(),
    };
    Tool {
        name,
        server: full.server,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use mmw_core::time::Timestamp;

    use super::*;

    struct Home(tempfile::TempDir);

    impl Home {
        fn with(files: &[(&str, &str)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            for (path, content) in files {
                let path = folder.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                // Where a project stands is known only now.
                let content = content.replace("$HOME", folder.path().to_str().unwrap());
                fs::write(path, content).unwrap();
            }
            Self(folder)
        }

        fn tool(&self, client: Client, session: &Session) -> Option<String> {
            let home = self.0.path().to_owned();
            let world = World::from_lookup(
                |name| match name {
                    "HOME" => Some(home.clone().into_os_string()),
                    "CLAUDE_PLUGIN_ROOT" => Some(home.join("plugin").into_os_string()),
                    _ => None,
                },
                Timestamp::from_ms(0),
            );
            let folders = [home.join("project")];
            find(client, session, &folders, &world).map(|found| found.tool.name)
        }
    }

    fn check(client: Client, file: &str, content: &str, tool: Option<&str>) {
        let home = Home::with(&[(file, content)]);
        let found = home.tool(client, &Session::default());
        assert_eq!(found.as_deref(), tool, "{file}: {content}");
    }

    #[test]
    fn a_server_is_ours_by_its_name_or_by_its_program() {
        let of = |servers: &str, tool| {
            let file = format!("{{\"mcpServers\":{servers}}}");
            check(Client::ClaudeCode, "project/.mcp.json", &file, tool);
        };
        of(r#"{"mmw":{"command":"x"}}"#, Some("mcp__mmw__remember"));
        of(
            r#"{"notes":{"command":"/usr/bin/mmw-agent"}}"#,
            Some("mcp__notes__remember"),
        );
        of(
            r#"{"my notes":{"command":"npx","args":["x","mmw-agent"]}}"#,
            Some("mcp__my_notes__remember"),
        );
        of(r#"{"mmw":{"command":"x","disabled":true}}"#, None);
        of(r#"{"notes":{"command":"x"},"b":{"env":{"A":"mmw"}}}"#, None);
        of("[]", None);
        of("{", None);
    }

    #[test]
    fn each_client_has_its_files_and_names() {
        let json = r#"{"mcpServers":{"mmw":{"url":"http://x"}}}"#;
        for (client, file, tool) in [
            (Client::ClaudeCode, ".claude.json", "mcp__mmw__remember"),
            (Client::Cursor, ".cursor/mcp.json", "remember"),
            (Client::Cursor, "project/.cursor/mcp.json", "remember"),
            (Client::Gemini, ".gemini/settings.json", "mcp_mmw_remember"),
            (Client::Copilot, ".copilot/mcp-config.json", "mmw-remember"),
        ] {
            check(client, file, json, Some(tool));
        }
        check(
            Client::VsCode,
            "project/.vscode/mcp.json",
            "{\n // ours\n\"servers\":{\"mmw\":{\"url\":\"http://x\",},},}",
            Some("mcp_mmw_remember"),
        );
        let toml = "[mcp_servers.mmw]\ncommand = \"mmw-agent\"\n";
        check(
            Client::Codex,
            ".codex/config.toml",
            toml,
            Some("mcp__mmw__remember"),
        );
        check(
            Client::Codex,
            ".codex/config.toml",
            &format!("{toml}enabled = false\n"),
            None,
        );
        check(Client::Codex, ".claude.json", json, None);
    }

    #[test]
    fn what_a_person_switched_off_for_a_project_does_not_count() {
        let file = |project: &str| {
            format!(
                r#"{{"mcpServers":{{"mmw":{{"command":"x"}}}},"projects":{{"$HOME/project":{project}}}}}"#
            )
        };
        let on = Some("mcp__mmw__remember");
        check(Client::ClaudeCode, ".claude.json", &file("{}"), on);
        check(
            Client::ClaudeCode,
            ".claude.json",
            &file(r#"{"disabledMcpServers":["mmw"]}"#),
            None,
        );
        let local = r#"{"projects":{"$HOME/project":{"mcpServers":{"mmw":{"command":"x"}}}}}"#;
        check(Client::ClaudeCode, ".claude.json", local, on);
    }

    #[test]
    fn a_plugin_names_its_servers_after_itself() {
        let home = Home::with(&[
            ("plugin/.claude-plugin/plugin.json", r#"{"name":"mmw"}"#),
            ("plugin/.mcp.json", r#"{"mcpServers":{"mmw":{"url":"x"}}}"#),
        ]);
        let found = home.tool(Client::ClaudeCode, &Session::default());
        assert_eq!(found.as_deref(), Some("mcp__plugin_mmw_mmw__remember"));
    }

    #[test]
    fn what_was_used_says_more_than_settings() {
        let home = Home::with(&[(".claude.json", r#"{"mcpServers":{"mmw":{}}}"#)]);
        let mut session = Session::default();
        let at = |ms| Some(Timestamp::from_ms(ms));
        let other = Tool::parse("mcp__other__remember").unwrap();
        session.saved(other, at(9));
        let plugin = Tool::parse("mcp__plugin_mmw_mmw__remember").unwrap();
        session.saved(plugin.clone(), at(5));
        let found = home.tool(Client::ClaudeCode, &session);
        assert_eq!(found, Some(plugin.name));
        let nothing = Home::with(&[]);
        assert_eq!(nothing.tool(Client::ClaudeCode, &Session::default()), None);
        let mut offered = Session::default();
        offered.offered.insert(Tool::of_server("notes"));
        let found = nothing.tool(Client::ClaudeCode, &offered);
        assert_eq!(found.as_deref(), Some("mcp__notes__remember"));
    }
}
