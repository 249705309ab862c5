//! The clients: how each is recognised, where its settings are, and what goes into them.

use std::ffi::OsStr;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::edit::{Part, Syntax, What};
use super::entry::{Entry, NAME, STOP};
use super::places::{Places, System};

/// A client.
pub(crate) struct Client {
    /// As `--client` takes it.
    pub(crate) id: &'static str,
    /// As its makers write it.
    pub(crate) name: &'static str,
    /// Programs that are there when it is installed.
    programs: &'static [&'static str],
    /// Files and folders that are there when it was used.
    traces: fn(&Places) -> Vec<PathBuf>,
    server: fn(&Places, &Entry) -> Setting,
    hook: Option<fn(&Places, &Entry) -> Setting>,
    /// What its person has to do before it takes effect.
    pub(crate) then: &'static str,
}

/// Something of ours in a file of a client's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    /// The file.
    pub(crate) file: PathBuf,
    /// Its syntax.
    pub(crate) syntax: Syntax,
    /// What is in it.
    pub(crate) part: Part,
}

impl Setting {
    /// Tells whether it is a server, and not a hook.
    pub(crate) const fn is_server(&self) -> bool {
        matches!(self.part.what, What::Server { .. })
    }
}

impl Client {
    /// Tells whether the client is on this computer.
    pub(crate) fn is_here(&self, places: &Places) -> bool {
        (self.traces)(places).iter().any(|trace| trace.exists())
            || self
                .programs
                .iter()
                .any(|program| is_on(&places.path, program))
    }

    /// Returns what goes into the client's settings.
    pub(crate) fn settings(&self, places: &Places, entry: &Entry, hooks: bool) -> Vec<Setting> {
        let mut settings = vec![(self.server)(places, entry)];
        if let Some(hook) = self.hook.filter(|_| hooks) {
            settings.push(hook(places, entry));
        }
        settings
    }

    /// Tells whether the client can ask at the end of a turn for what should be saved.
    pub(crate) const fn has_stop_hook(&self) -> bool {
        self.hook.is_some()
    }
}

fn is_on(path: &OsStr, program: &str) -> bool {
    which::which_in_global(program, Some(path)).is_ok_and(|mut found| found.next().is_some())
}

/// Every client that can be connected, in the order of their names.
pub(crate) const ALL: &[Client] = &[
    Client {
        id: "claude-code",
        name: "Claude Code",
        programs: &["claude"],
        traces: |places| vec![places.claude.clone(), places.claude_servers.clone()],
        server: |places, entry| {
            let mut value = members(json!({"type": "stdio"}));
            value.extend(started(entry, "env"));
            server(&places.claude_servers, &["mcpServers"], value)
        },
        hook: Some(|places, entry| {
            // Its program and arguments apart: no shell reads them, whatever is in the path.
            let handler = json!({
                "type": "command", "command": entry.program, "args": [STOP], "timeout": 10,
            });
            hook(
                &places.claude.join("settings.json"),
                &["hooks", "Stop"],
                handler,
                true,
            )
        }),
        then: "start a new session of Claude Code",
    },
    Client {
        id: "claude-desktop",
        name: "Claude Desktop",
        programs: &[],
        traces: |places| vec![places.settings.join("Claude")],
        server: |places, entry| {
            let file = places
                .settings
                .join("Claude")
                .join("claude_desktop_config.json");
            server(&file, &["mcpServers"], started(entry, "env"))
        },
        hook: None,
        then: "quit Claude Desktop and open it again",
    },
    Client {
        id: "codex",
        name: "Codex",
        programs: &["codex"],
        traces: |places| vec![places.codex.clone()],
        server: |places, entry| Setting {
            syntax: Syntax::Toml,
            ..server(
                &places.codex.join("config.toml"),
                &["mcp_servers"],
                started(entry, "env"),
            )
        },
        hook: Some(|places, entry| {
            let handler = json!({
                "type": "command", "command": stop_line(entry, "codex"), "timeout": 15,
            });
            hook(
                &places.codex.join("hooks.json"),
                &["hooks", "Stop"],
                handler,
                true,
            )
        }),
        then: "start Codex again, and trust the Stop hook when it asks, or with /hooks",
    },
    Client {
        id: "copilot-cli",
        name: "Copilot CLI",
        programs: &["copilot"],
        traces: |places| vec![places.home.join(".copilot")],
        server: |places, entry| {
            let mut value = members(json!({"type": "local"}));
            value.extend(started(entry, "env"));
            value.insert("tools".to_owned(), json!(["*"]));
            let file = places.home.join(".copilot").join("mcp-config.json");
            server(&file, &["mcpServers"], value)
        },
        hook: Some(|places, entry| {
            let line = stop_line(entry, "copilot-cli");
            let handler = json!({
                "type": "command", "bash": line, "powershell": line, "timeoutSec": 15,
            });
            let file = places.home.join(".copilot").join("hooks").join("mmw.json");
            versioned(hook(&file, &["hooks", "agentStop"], handler, false))
        }),
        then: "start Copilot CLI again",
    },
    Client {
        id: "cursor",
        name: "Cursor",
        programs: &["cursor", "cursor-agent"],
        traces: |places| vec![places.home.join(".cursor")],
        server: |places, entry| {
            let file = places.home.join(".cursor").join("mcp.json");
            server(&file, &["mcpServers"], started(entry, "env"))
        },
        hook: Some(|places, entry| {
            let handler = json!({
                "command": stop_line(entry, "cursor"), "timeout": 15, "loop_limit": 1,
            });
            let file = places.home.join(".cursor").join("hooks.json");
            versioned(hook(&file, &["hooks", "stop"], handler, false))
        }),
        then: "switch mmw on in Cursor's settings under MCP, if it is not",
    },
    Client {
        id: "gemini-cli",
        name: "Gemini CLI",
        programs: &["gemini"],
        traces: |places| vec![places.home.join(".gemini").join("settings.json")],
        server: |places, entry| {
            let file = places.home.join(".gemini").join("settings.json");
            server(&file, &["mcpServers"], started(entry, "env"))
        },
        hook: Some(|places, entry| {
            let handler = json!({
                "type": "command", "command": stop_line(entry, "gemini-cli"), "name": "mmw-stop",
                "timeout": 15_000,
            });
            let file = places.home.join(".gemini").join("settings.json");
            hook(&file, &["hooks", "AfterAgent"], handler, true)
        }),
        then: "start Gemini CLI again",
    },
    Client {
        id: "opencode",
        name: "OpenCode",
        programs: &["opencode"],
        traces: |places| vec![places.xdg.join("opencode")],
        server: |places, entry| {
            let mut value = members(json!({"type": "local", "command": [entry.program]}));
            if !entry.environment.is_empty() {
                value.insert("environment".to_owned(), environment(entry));
            }
            value.insert("enabled".to_owned(), json!(true));
            let folder = places.xdg.join("opencode");
            // Either name is read; a second file would hide which of them counts.
            let with_comments = folder.join("opencode.jsonc");
            let file = if with_comments.exists() {
                with_comments
            } else {
                folder.join("opencode.json")
            };
            server(&file, &["mcp"], value)
        },
        hook: None,
        then: "start OpenCode again",
    },
    Client {
        id: "vscode",
        name: "VS Code",
        programs: &["code"],
        traces: |places| vec![places.settings.join("Code").join("User")],
        server: |places, entry| {
            let mut value = members(json!({"type": "stdio"}));
            value.extend(started(entry, "env"));
            let file = places.settings.join("Code").join("User").join("mcp.json");
            server(&file, &["servers"], value)
        },
        hook: None,
        then: "start the server when VS Code asks whether you trust it",
    },
    Client {
        id: "windsurf",
        name: "Windsurf",
        programs: &["windsurf"],
        traces: |places| vec![places.home.join(".codeium").join("windsurf")],
        server: |places, entry| {
            let folder = places.home.join(".codeium").join("windsurf");
            let file = folder.join("mcp_config.json");
            server(&file, &["mcpServers"], started(entry, "env"))
        },
        hook: None,
        then: "press Refresh in Windsurf's list of MCP servers",
    },
    Client {
        id: "zed",
        name: "Zed",
        programs: &["zed", "zeditor"],
        traces: |places| vec![zed(places)],
        server: |places, entry| {
            let file = zed(places).join("settings.json");
            server(&file, &["context_servers"], started(entry, "env"))
        },
        hook: None,
        then: "nothing: Zed reads its settings as they change",
    },
];

/// The Stop hook as a command line of a client that tells whose it is.
fn stop_line(entry: &Entry, client: &str) -> String {
    entry.command_line(&format!("{STOP} --client {client}"))
}

/// Zed keeps to `~/.config` on macOS too.
fn zed(places: &Places) -> PathBuf {
    match places.system {
        System::Windows => places.settings.join("Zed"),
        System::Unix | System::Mac => places.xdg.join("zed"),
    }
}

fn server(file: &std::path::Path, path: &[&'static str], value: Map<String, Value>) -> Setting {
    Setting {
        file: file.to_path_buf(),
        syntax: Syntax::Json,
        part: Part {
            path: path.to_vec(),
            what: What::Server {
                name: NAME.to_owned(),
                value,
            },
        },
    }
}

fn hook(
    file: &std::path::Path,
    path: &[&'static str],
    handler: Value,
    is_grouped: bool,
) -> Setting {
    Setting {
        file: file.to_path_buf(),
        syntax: Syntax::Json,
        part: Part {
            path: path.to_vec(),
            what: What::Hook {
                handler: members(handler),
                is_grouped,
                beside: Vec::new(),
            },
        },
    }
}

/// The setting in a file that says of which version it is.
fn versioned(mut setting: Setting) -> Setting {
    if let What::Hook { beside, .. } = &mut setting.part.what {
        beside.push(("version", json!(1)));
    }
    setting
}

/// What most clients want to know of a server: command, arguments, environment.
fn started(entry: &Entry, environment_name: &str) -> Map<String, Value> {
    let mut value = members(json!({"command": entry.program, "args": []}));
    if !entry.environment.is_empty() {
        value.insert(environment_name.to_owned(), environment(entry));
    }
    value
}

fn environment(entry: &Entry) -> Value {
    let variables = entry.environment.iter();
    Value::Object(
        variables
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect(),
    )
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn places(system: System) -> Places {
        Places::of(system, |name| {
            (name == "HOME" || name == "USERPROFILE").then(|| OsString::from("/home/ann"))
        })
    }

    fn entry() -> Entry {
        Entry {
            program: "/opt/mmw-agent".to_owned(),
            environment: vec![("MMW_WORKSPACE".to_owned(), "backend".to_owned())],
            system: System::Unix,
        }
    }

    #[test]
    fn ids_are_distinct_and_in_order() {
        assert!(ALL.is_sorted_by(|a, b| a.id < b.id));
    }

    #[test]
    fn nothing_is_here_in_an_empty_home() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::of(System::Unix, |name| {
            (name == "HOME").then(|| folder.path().into())
        });
        for client in ALL {
            assert!(!client.is_here(&places), "{}", client.id);
        }
        std::fs::create_dir_all(folder.path().join(".codex")).unwrap();
        let here: Vec<&str> = ALL
            .iter()
            .filter(|one| one.is_here(&places))
            .map(|one| one.id)
            .collect();
        assert_eq!(here, ["codex"]);
    }

    #[test]
    fn a_program_on_the_path_tells_that_a_client_is_here() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join(if cfg!(windows) {
            "gemini.exe"
        } else {
            "gemini"
        });
        std::fs::write(&program, "").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let allowed = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&program, allowed).unwrap();
        }
        let places = Places {
            path: folder.path().into(),
            ..places(System::Unix)
        };
        let gemini = ALL.iter().find(|one| one.id == "gemini-cli").unwrap();
        assert!(gemini.is_here(&places));
    }

    #[test]
    fn every_server_names_the_program_and_its_environment_once() {
        for system in [System::Unix, System::Mac, System::Windows] {
            for client in ALL {
                let settings = client.settings(&places(system), &entry(), true);
                let What::Server { value, .. } = &settings[0].part.what else {
                    panic!("{} has no server", client.id);
                };
                let text = serde_json::to_string(value).unwrap();
                assert_eq!(text.matches("/opt/mmw-agent").count(), 1, "{text}");
                assert_eq!(
                    text.matches("\"MMW_WORKSPACE\":\"backend\"").count(),
                    1,
                    "{text}"
                );
                assert!(settings[0].file.starts_with("/home/ann"), "{settings:?}");
                assert_eq!(settings.len(), 1 + usize::from(client.has_stop_hook()));
                assert_eq!(client.settings(&places(system), &entry(), false).len(), 1);
            }
        }
    }
}
