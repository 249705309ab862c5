//! Where else a client has MMW from than its own settings: the project that is worked in, and the plugins of
//! Claude Code. Reads only; what can't be read there is not ours to mend.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::config::Config;
use crate::connect::client::{Client, Setting};
use crate::connect::entry::Entry;
use crate::connect::file;
use crate::connect::places::Places;
use crate::connect::registered::{Registered, registered, registered_at};

/// How many folders above the present one may belong to a project.
const MAX_FOLDERS: usize = 64;

/// Something of ours that a client has from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Elsewhere {
    pub(super) what: Registered,
    /// What brought it.
    pub(super) from: From,
}

/// What brought it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum From {
    /// Settings of the project.
    Project,
    /// A plugin of Claude Code, by its name and its marketplace's.
    Plugin(String),
}

/// Returns what of ours a client has from the project and from plugins.
pub(super) fn elsewhere(client: &Client, config: &Config, entry: &Entry) -> Vec<Elsewhere> {
    let (mut found, places) = (Vec::new(), &config.places);
    let folders = project(&config.folder, &places.home);
    for own in client.settings(places, entry, true) {
        let is_server = own.is_server();
        let names = match (client.id, is_server) {
            ("claude-code" | "copilot-cli", true) => &[".mcp.json"][..],
            ("claude-code", false) => &[".claude/settings.json", ".claude/settings.local.json"],
            ("codex", true) => &[".codex/config.toml"],
            ("codex", false) => &[".codex/hooks.json"],
            ("cursor", true) => &[".cursor/mcp.json"],
            ("cursor", false) => &[".cursor/hooks.json"],
            ("gemini-cli", _) => &[".gemini/settings.json"],
            ("vscode", true) => &[".vscode/mcp.json"],
            ("opencode", true) => &["opencode.json", "opencode.jsonc"],
            ("zed", true) => &[".zed/settings.json"],
            _ => &[],
        };
        let files = folders
            .iter()
            .flat_map(|folder| names.iter().map(move |name| folder.join(name)));
        let mut put = |more: Vec<Registered>, from: &From| {
            found.extend(more.into_iter().map(|what| Elsewhere {
                what,
                from: from.clone(),
            }));
        };
        for file in files.filter(|file| *file != own.file) {
            put(read(&in_file(&own, file)), &From::Project);
        }
        if client.id == "claude-code" {
            for folder in folders.iter().filter(|_| is_server) {
                let name = folder.to_string_lossy();
                let more = registered_at(&own, &["projects", &name, "mcpServers"]);
                put(more.unwrap_or_default(), &From::Project);
            }
            for (id, folder) in plugins(places, &folders) {
                let from = From::Plugin(id);
                if is_server {
                    let servers = in_file(&own, folder.join(".mcp.json"));
                    put(read(&servers), &from);
                    // A plugin may leave the outer name out.
                    put(registered_at(&servers, &[]).unwrap_or_default(), &from);
                } else {
                    put(
                        read(&in_file(&own, folder.join("hooks").join("hooks.json"))),
                        &from,
                    );
                }
            }
        }
    }
    found
}

fn in_file(setting: &Setting, file: PathBuf) -> Setting {
    Setting {
        file,
        ..setting.clone()
    }
}

fn read(setting: &Setting) -> Vec<Registered> {
    registered(setting).unwrap_or_default()
}

/// Returns the folders whose settings count for a project: from the present one up to the one with `.git`, or
/// it alone. The person's home is none: what lies there is their own.
fn project(folder: &Path, home: &Path) -> Vec<PathBuf> {
    let folders: Vec<&Path> = folder
        .ancestors()
        .take(MAX_FOLDERS)
        .take_while(|folder| *folder != home)
        .collect();
    let top = folders
        .iter()
        .position(|folder| folder.join(".git").exists());
    let n = top.map_or(1, |top| top + 1);
    folders.into_iter().take(n).map(Path::to_path_buf).collect()
}

/// Returns the plugins of Claude Code that are switched on, with their folders.
fn plugins(places: &Places, folders: &[PathBuf]) -> Vec<(String, PathBuf)> {
    let installed = json(&places.claude.join("plugins").join("installed_plugins.json"));
    let Some(installed) = installed
        .as_ref()
        .and_then(|file| file.get("plugins")?.as_object())
    else {
        return Vec::new();
    };
    let mut on = BTreeSet::new();
    let project = |name: &'static str| {
        let folders = folders.iter().rev();
        folders.map(move |folder| folder.join(".claude").join(name))
    };
    let own = std::iter::once(places.claude.join("settings.json"));
    // What is nearer to the work is said last.
    let files = own
        .chain(project("settings.json"))
        .chain(project("settings.local.json"));
    for settings in files.filter_map(|file| json(&file)) {
        let enabled = settings.get("enabledPlugins").and_then(Value::as_object);
        for (id, is_on) in enabled.into_iter().flatten() {
            if is_on == &Value::Bool(false) {
                on.remove(id);
            } else {
                on.insert(id.clone());
            }
        }
    }
    let folder_of = |id: &String| {
        let places = installed.get(id)?;
        // One for each scope that it was installed in; an older form has only the one.
        let one = places.as_array().map_or(Some(places), |all| all.last())?;
        let path = one.get("installPath")?.as_str()?;
        Some((id.clone(), PathBuf::from(path)))
    };
    on.iter().filter_map(folder_of).collect()
}

fn json(path: &Path) -> Option<Value> {
    serde_json::from_str(&file::read(path).ok()?.text?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_reaches_up_to_its_repository_and_never_into_the_home() {
        let home = tempfile::tempdir().unwrap();
        let inside = home.path().join("code/app/src");
        std::fs::create_dir_all(&inside).unwrap();
        assert_eq!(project(&inside, home.path()), std::slice::from_ref(&inside));
        let app = home.path().join("code/app");
        std::fs::create_dir(app.join(".git")).unwrap();
        assert_eq!(project(&inside, home.path()), [inside, app]);
        std::fs::create_dir(home.path().join(".git")).unwrap();
        assert_eq!(project(home.path(), home.path()), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_plugin_counts_while_it_is_switched_on() {
        let home = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = home.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let places = Places::of(crate::connect::places::System::Unix, |name| {
            (name == "HOME").then(|| home.path().as_os_str().to_owned())
        });
        let folders = [home.path().join("app")];
        let found = || {
            let plugins = plugins(&places, &folders);
            plugins.into_iter().map(|(id, _)| id).collect::<Vec<_>>()
        };
        assert_eq!(found(), Vec::<String>::new());
        write(
            ".claude/plugins/installed_plugins.json",
            r#"{"version":2,"plugins":{"mmw@a":[{"scope":"user","installPath":"/p/mmw"}],"old@b":{"installPath":"/p/old"}}}"#,
        );
        assert_eq!(found(), Vec::<String>::new());
        let on = r#"{"enabledPlugins":{"mmw@a":true,"old@b":true,"gone@c":true}}"#;
        write(".claude/settings.json", on);
        assert_eq!(found(), ["mmw@a", "old@b"]);
        write(
            "app/.claude/settings.local.json",
            r#"{"enabledPlugins":{"old@b":false}}"#,
        );
        assert_eq!(found(), ["mmw@a"]);
        write(".claude/plugins/installed_plugins.json", "{half");
        assert_eq!(found(), Vec::<String>::new());
    }
}
