//! Connecting clients, in a home of one's own.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::desk::{Desk, Ran};

/// Runs the program where no client's program is on the path.
fn run(desk: &Desk, words: &[&str]) -> Ran {
    let mut command = desk.command(words);
    command.env("PATH", desk.home());
    Ran::of(command, "")
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn without_a_client_nothing_is_done_and_the_way_is_named() {
    let desk = Desk::new();
    let ran = run(&desk, &["connect"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("None of the clients"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("--client claude-code|"),
        "{}",
        ran.stdout
    );
    assert_eq!(run(&desk, &["disconnect"]).code, 1);
    assert!(!desk.home().join(".mmw").exists());
}

#[test]
fn without_a_home_nothing_is_written_into_the_present_folder() {
    let desk = Desk::new();
    fs::create_dir(desk.repository().join(".cursor")).unwrap();
    for words in [&["connect"][..], &["connect", "--client", "codex"]] {
        for home in [None, Some(""), Some("home")] {
            let mut command = desk.command(words);
            command
                .env("PATH", desk.home())
                .env("MMW_AGENT_HOME", desk.home().join("agent"))
                .env_remove("HOME");
            if let Some(home) = home {
                command.env("HOME", home);
            }
            let ran = Ran::of(command, "");
            assert_eq!(ran.code, 2, "{words:?} {home:?}: {}", ran.stdout);
            assert!(ran.stderr.contains("set HOME"), "{}", ran.stderr);
        }
    }
    let in_cursor = fs::read_dir(desk.repository().join(".cursor")).unwrap();
    assert_eq!(in_cursor.count(), 0);
    assert!(!desk.repository().join(".codex").exists());
}

#[cfg(unix)]
#[test]
fn a_home_behind_a_link_is_left_without_a_file() {
    let desk = Desk::new();
    fs::create_dir(desk.home().join("real")).unwrap();
    std::os::unix::fs::symlink("real", desk.home().join("link")).unwrap();
    for words in [
        &["connect", "--client", "claude-code", "--client", "codex"][..],
        &["disconnect"],
    ] {
        let mut command = desk.command(words);
        command
            .env("PATH", desk.home())
            .env("HOME", desk.home().join("link"));
        let ran = Ran::of(command, "");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    for file in [
        ".claude.json",
        ".claude/settings.json",
        ".codex/config.toml",
    ] {
        assert!(!desk.home().join("real").join(file).exists(), "{file}");
    }
}

#[test]
fn a_client_is_found_connected_and_left_as_it_was() {
    let desk = Desk::new();
    let servers = desk.home().join(".claude.json");
    let hooks = desk.home().join(".claude").join("settings.json");
    let before = "{\n  \"numStartups\": 3\n}\n";
    fs::write(&servers, before).unwrap();

    let dry = run(&desk, &["connect", "--dry-run"]);
    assert_eq!(dry.code, 0, "{}", dry.stderr);
    assert!(
        dry.stdout.contains("+  \"mcpServers\": {"),
        "{}",
        dry.stdout
    );
    assert!(dry.stdout.contains("hook-stop"), "{}", dry.stdout);
    assert_eq!(fs::read_to_string(&servers).unwrap(), before);
    assert!(!hooks.exists());

    let done = run(&desk, &["connect"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout
            .contains("~/.claude.json: has the server `mmw` now"),
        "{}",
        done.stdout
    );
    let ours = &read(&servers)["mcpServers"]["mmw"];
    let program = ours["command"].as_str().unwrap();
    assert!(Path::new(program).is_absolute() && Path::new(program).exists());
    let handler = &read(&hooks)["hooks"]["Stop"][0]["hooks"][0];
    assert_eq!(handler["args"], json!(["hook-stop"]));
    assert_eq!(handler["command"], program);

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let about = fs::metadata(desk.home().join(".mmw")).unwrap();
        assert_eq!(
            about.permissions().mode() & 0o777,
            0o700,
            "copies of settings lie in it"
        );
    }

    let again = run(&desk, &["connect"]);
    assert_eq!(
        again.stdout.matches("is there already").count(),
        2,
        "{}",
        again.stdout
    );

    let undone = run(&desk, &["disconnect"]);
    assert_eq!(undone.code, 0, "{}", undone.stderr);
    assert_eq!(fs::read_to_string(&servers).unwrap(), before);
    assert!(!hooks.exists());
}

#[test]
fn what_was_registered_is_a_server_and_a_silent_hook() {
    let desk = Desk::new();
    let ran = run(&desk, &["connect", "--client", "claude-code", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let server = &read(&desk.home().join(".claude.json"))["mcpServers"]["mmw"];
    let hook = &read(&desk.home().join(".claude/settings.json"))["hooks"]["Stop"][0]["hooks"][0];
    let start = |entry: &Value, input: &str| {
        let mut command = std::process::Command::new(entry["command"].as_str().unwrap());
        let words = entry["args"].as_array().unwrap().iter();
        command
            .args(words.map(|word| word.as_str().unwrap()))
            .current_dir(desk.repository())
            .env_clear()
            .env("HOME", desk.home());
        Ran::of(command, input)
    };
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }});
    let answered = start(server, &format!("{hello}\n"));
    assert!(
        answered.stdout.contains("\"protocolVersion\""),
        "{}",
        answered.stdout
    );
    let stopped = start(
        hook,
        r#"{"hook_event_name":"Stop","session_id":"s","cwd":"/nowhere"}"#,
    );
    assert_eq!((stopped.code, stopped.stdout.as_str()), (0, ""));
}

#[test]
fn settings_that_say_where_the_memory_is_are_handed_on_and_keys_are_not() {
    let desk = Desk::new();
    let mut command = desk.command(&["connect", "--client", "cursor"]);
    let home = desk.home().join("elsewhere");
    command
        .env("MMW_AGENT_HOME", &home)
        .env("MMW_EMBEDDINGS_KEY", "sk-secret");
    assert_eq!(Ran::of(command, "").code, 0);
    let ours = &read(&desk.home().join(".cursor/mcp.json"))["mcpServers"]["mmw"];
    assert_eq!(ours["env"], json!({"MMW_AGENT_HOME": home}));
}

#[test]
fn a_file_that_can_not_be_read_is_refused_and_the_exit_code_tells() {
    let desk = Desk::new();
    fs::create_dir(desk.home().join(".codex")).unwrap();
    fs::create_dir(desk.home().join(".cursor")).unwrap();
    let broken = "[mcp_servers\n";
    fs::write(desk.home().join(".codex/config.toml"), broken).unwrap();
    let ran = run(&desk, &["connect"]);
    assert_eq!(ran.code, 3);
    assert!(
        ran.stdout.contains("left as it is, it is no valid TOML"),
        "{}",
        ran.stdout
    );
    assert_eq!(
        fs::read_to_string(desk.home().join(".codex/config.toml")).unwrap(),
        broken
    );
    let cursor = read(&desk.home().join(".cursor/mcp.json"));
    assert!(
        cursor["mcpServers"]["mmw"].is_object(),
        "the others are connected"
    );
    // What was never connected is nobody's trouble when leaving.
    let undone = run(&desk, &["disconnect"]);
    assert_eq!(undone.code, 0, "{}", undone.stdout);
}

#[test]
fn the_key_of_a_server_is_kept_by_the_agent_and_in_no_clients_settings() {
    let desk = Desk::new();
    let mut command = desk.command(&["connect", "--client", "cursor", "--client", "codex"]);
    command
        .env("MMW_ENDPOINT", "https://mmw.example.org")
        .env("MMW_API_KEY", "mmw_1_secret");
    let ran = Ran::of(command, "");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("kept in ~/.mmw/keys.json"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("secret"), "{}", ran.stdout);
    let cursor = fs::read_to_string(desk.home().join(".cursor/mcp.json")).unwrap();
    let codex = fs::read_to_string(desk.home().join(".codex/config.toml")).unwrap();
    for settings in [cursor, codex] {
        assert!(settings.contains("https://mmw.example.org"), "{settings}");
        assert!(!settings.contains("secret"), "{settings}");
    }
    let keys = read(&desk.home().join(".mmw/keys.json"));
    assert_eq!(keys, json!({"https://mmw.example.org/mcp": "mmw_1_secret"}));
}
