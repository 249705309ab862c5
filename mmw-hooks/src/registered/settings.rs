//! What the settings of a client say: which of the servers for its agent are MMW.
//!
//! Files of a bounded size at known places are read, never written, and only those that mention MMW
//! are parsed: Claude Code keeps whole histories in its own.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use jsonc_parser::{CollectOptions, ParseOptions};
use serde_json::Value;

use crate::clients::Client;
use crate::world::World;

/// The most that is read of a settings file, in bytes.
const MAX_SETTINGS_BYTES: u64 = 16 * 1024 * 1024;

/// The program whose presence in a server's entry says that it is MMW, whatever the entry is called.
const PROGRAM: &str = "mmw-agent";

/// Returns the servers in the settings that are MMW, in the order of their files.
pub(super) fn servers(client: Client, folders: &[PathBuf], world: &World) -> Vec<String> {
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
        .ok()
        .or_else(|| with_comments(&text))
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

/// Reads JSON as people write it, with comments and commas before a closing bracket.
fn with_comments(text: &str) -> Option<Value> {
    // By way of the tree, which is bounded in its depth.
    let tree =
        jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    Some(Value::from(tree.ok()?.value?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_no_mistake_and_depth_is_no_danger() {
        let read = |text: &str| with_comments(text).map(|value| value.to_string());
        for (text, plain) in [
            ("{\"a\":1}//x", "{\"a\":1}"),
            ("{/* x */\"a\":1,}", "{\"a\":1}"),
            (r#"{"a":"//\"/*"}"#, r#"{"a":"//\"/*"}"#),
            ("[1,\n]", "[1]"),
        ] {
            assert_eq!(read(text).as_deref(), Some(plain), "{text}");
        }
        assert_eq!(read("{"), None);
        assert_eq!(read(&"[".repeat(200_000)), None);
        assert_eq!(read(&"{\"a\":".repeat(200_000)), None);
    }
}
