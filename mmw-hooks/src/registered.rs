//! Whether the agent of a session has MMW's tools, and what the one that saves is called there.
//!
//! The transcript is asked first: a tool that was used or offered is surely there. Else the
//! settings of the client are read, never written: files of a bounded size at known places, and
//! only those that mention MMW are parsed.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::clients::Client;
use crate::transcript::tool::Tool;
use crate::transcript::{Session, When};
use crate::world::World;

/// The most that is read of a settings file, in bytes; Claude Code keeps histories in its own.
const MAX_SETTINGS_BYTES: u64 = 16 * 1024 * 1024;

/// The program whose presence in a server's entry says that it is MMW, whatever the entry is called.
const PROGRAM: &str = "mmw-agent";

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
    let servers = servers(client, folders, world);
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

/// Returns the servers in the settings that are MMW, in the order of their files.
fn servers(client: Client, folders: &[PathBuf], world: &World) -> Vec<String> {
    let mut found = Vec::new();
    let at_home = |file: &str| world.home.as_ref().map(|home| home.join(file));
    let in_folders = |file: &'static str| folders.iter().map(move |folder| Some(folder.join(file)));
    match client {
        Client::ClaudeCode => claude(folders, world, &mut found),
        Client::Codex => {
            let own = world.codex_home.clone().or_else(|| at_home(".codex"));
            let own = own.map(|home| home.join("config.toml"));
            for file in in_folders(".codex/config.toml").chain([own]).flatten() {
                codex(&file, &mut found);
            }
        }
        Client::Cursor => {
            for file in in_folders(".cursor/mcp.json").chain([at_home(".cursor/mcp.json")]) {
                listed(file, "mcpServers", &mut found);
            }
            // It also loads what Claude Code has.
        }
        Client::Gemini => {
            let own = at_home(".gemini/settings.json");
            for file in in_folders(".gemini/settings.json").chain([own]) {
                listed(file, "mcpServers", &mut found);
            }
        }
        Client::VsCode => {
            let own = [
                world
                    .app_data
                    .as_ref()
                    .map(|data| data.join("Code/User/mcp.json")),
                at_home(".config/Code/User/mcp.json"),
                at_home("Library/Application Support/Code/User/mcp.json"),
            ];
            for file in in_folders(".vscode/mcp.json").chain(own) {
                listed(file, "servers", &mut found);
            }
        }
        Client::Copilot => {
            let own = at_home(".copilot/mcp-config.json");
            for file in in_folders(".mcp.json").chain([own]) {
                listed(file, "mcpServers", &mut found);
            }
        }
    }
    found
}

/// Reads Claude Code's settings: its own, the project's, and those of the plugin that brought the
/// hook. What a person switched off does not count.
fn claude(folders: &[PathBuf], world: &World, found: &mut Vec<String>) {
    let own = match &world.claude_home {
        Some(folder) => Some(folder.join(".claude.json")),
        None => world.home.as_ref().map(|home| home.join(".claude.json")),
    };
    let own = own.and_then(|file| json(&file)).unwrap_or_default();
    let mut off = BTreeSet::new();
    let mut entries = Vec::new();
    for folder in folders {
        let Some(project) = own
            .get("projects")
            .and_then(|projects| projects.get(folder.to_str()?))
        else {
            continue;
        };
        for list in ["disabledMcpServers", "disabledMcpjsonServers"] {
            let names = project.get(list).and_then(Value::as_array);
            let names = names.into_iter().flatten().filter_map(Value::as_str);
            off.extend(names.map(str::to_owned));
        }
        entries.extend(project.get("mcpServers").cloned());
    }
    for folder in folders {
        let shared = json(&folder.join(".mcp.json"));
        entries.extend(shared.and_then(|file| file.get("mcpServers").cloned()));
    }
    entries.extend(own.get("mcpServers").cloned());
    for servers in &entries {
        ours(servers, found);
    }
    found.retain(|server| !off.contains(server));
    if found.is_empty()
        && let Some(folder) = &world.plugin
    {
        plugin(folder, found);
    }
}

/// Reads the servers that a plugin brings; they are named after both.
fn plugin(folder: &Path, found: &mut Vec<String>) {
    let name = json(&folder.join(".claude-plugin/plugin.json"))
        .and_then(|manifest| Some(manifest.get("name")?.as_str()?.to_owned()));
    let servers = json(&folder.join(".mcp.json"));
    let (Some(plugin), Some(servers)) = (name, servers) else {
        return;
    };
    let mut own = Vec::new();
    ours(servers.get("mcpServers").unwrap_or(&servers), &mut own);
    found.extend(own.iter().map(|server| format!("plugin:{plugin}:{server}")));
}

/// Reads a settings file with a table of servers.
fn listed(file: Option<PathBuf>, table: &str, found: &mut Vec<String>) {
    if let Some(settings) = file.and_then(|file| json(&file))
        && let Some(servers) = settings.get(table)
    {
        ours(servers, found);
    }
}

/// Reads Codex's settings.
fn codex(file: &Path, found: &mut Vec<String>) {
    let settings = mentioning(file).and_then(|text| text.parse::<toml::Table>().ok());
    let servers = settings.as_ref().and_then(|table| table.get("mcp_servers"));
    if let Some(servers) = servers.and_then(|servers| serde_json::to_value(servers).ok()) {
        ours(&servers, found);
    }
}

/// Adds the servers of a table that are MMW by their name or by the program they start.
fn ours(servers: &Value, found: &mut Vec<String>) {
    for (name, entry) in servers.as_object().into_iter().flatten() {
        let is_off = entry.get("enabled") == Some(&Value::Bool(false))
            || entry.get("disabled") == Some(&Value::Bool(true));
        let arguments = entry.get("args").and_then(Value::as_array);
        let starts = entry
            .get("command")
            .into_iter()
            .chain(arguments.into_iter().flatten())
            .filter_map(Value::as_str)
            .any(|word| word.contains(PROGRAM));
        let is_ours = name.to_ascii_lowercase().contains("mmw") || starts;
        if is_ours && !is_off && !found.contains(name) {
            found.push(name.clone());
        }
    }
}

fn json(file: &Path) -> Option<Value> {
    let text = mentioning(file)?;
    serde_json::from_str(&text)
        .or_else(|_| serde_json::from_str(&without_comments(&text)))
        .ok()
}

/// Returns the text of a plain file that is not too large and mentions MMW at all.
fn mentioning(file: &Path) -> Option<String> {
    let about = file.metadata().ok()?;
    (about.is_file() && about.len() <= MAX_SETTINGS_BYTES).then_some(())?;
    let mut text = Vec::new();
    let open = File::open(file).ok()?;
    open.take(MAX_SETTINGS_BYTES).read_to_end(&mut text).ok()?;
    let mentions = ["mmw", "MMW", "Mmw"]
        .iter()
        .any(|word| memchr::memmem::find(&text, word.as_bytes()).is_some());
    mentions.then_some(())?;
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    Some(String::from_utf8_lossy(text).into_owned())
}

/// Takes out comments and commas before a closing bracket, which several clients allow.
fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    let mut in_string = false;
    while let Some(c) = rest.chars().next() {
        if in_string {
            let n = if c == '\\' {
                rest.chars().take(2).map(char::len_utf8).sum()
            } else {
                in_string = c != '"';
                c.len_utf8()
            };
            plain.push_str(&rest[..n]);
            rest = &rest[n..];
        } else if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if rest.starts_with("/*") {
            rest = rest[2..].find("*/").map_or("", |end| &rest[2 + end + 2..]);
        } else {
            if matches!(c, '}' | ']') && plain.trim_end().ends_with(',') {
                plain.truncate(plain.trim_end().len() - 1);
            }
            in_string = c == '"';
            plain.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    plain
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

    #[test]
    fn comments_are_taken_out_and_texts_are_not() {
        for (text, plain) in [
            ("{\"a\":1}//x", "{\"a\":1}"),
            ("{/* x */\"a\":1,}", "{\"a\":1}"),
            (r#"{"a":"//\"/*"}"#, r#"{"a":"//\"/*"}"#),
            ("[1,\n]", "[1]"),
            ("/*", ""),
            ("\"\\", "\"\\"),
        ] {
            assert_eq!(without_comments(text), plain, "{text}");
        }
    }
}
