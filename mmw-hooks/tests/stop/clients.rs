//! Every client's event, as sampled or recorded, and the answer in its form.

use std::fs;
use std::path::Path;

use mmw_hooks::clients::Client;
use mmw_hooks::event::Stop;
use mmw_hooks::wire::Payload;
use serde_json::{Value, json};

use crate::desk::{Desk, rfc3339};

fn data(file: &str) -> Vec<u8> {
    fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data")
            .join(file),
    )
    .unwrap()
}

#[test]
fn the_end_of_a_turn_is_known_in_every_clients_event() {
    for (file, client, session, folder) in [
        (
            "recorded/claude-code-stop.json",
            Client::ClaudeCode,
            "26372006-301f-4de8-af99-61c16085de5d",
            "/home/dev/shop",
        ),
        (
            "recorded/codex-stop.json",
            Client::Codex,
            "01a228e7-331c-7891-90a6-21606b88be21",
            "/home/dev/shop",
        ),
        (
            "samples/claude-code-Stop.json",
            Client::ClaudeCode,
            "7b1d0c52-3f7e-4a51-9d0e-2f6c8b1a4e10",
            "/home/dev/proj",
        ),
        (
            "samples/codex-Stop.json",
            Client::Codex,
            "01a2b3c4-d5e6-7890-8abc-def012345678",
            "/home/dev/proj",
        ),
        (
            "samples/gemini-cli-AfterAgent.json",
            Client::Gemini,
            "9e0d1f00-0000-4000-8000-000000000003",
            "/home/dev/proj",
        ),
        (
            "samples/vscode-copilot-Stop.json",
            Client::VsCode,
            "vs-0001",
            "/home/dev/proj",
        ),
        (
            "samples/copilot-cli-agentStop.json",
            Client::Copilot,
            "gh-0001",
            "/home/dev/proj",
        ),
        (
            "samples/copilot-cli-Stop.pascal.json",
            Client::Copilot,
            "gh-0001",
            "/home/dev/proj",
        ),
    ] {
        let stop = Stop::read(&Payload::parse(&data(file)).unwrap(), None).unwrap();
        let seen = (
            stop.client,
            stop.session.as_str(),
            stop.folder.to_str().unwrap(),
        );
        assert_eq!(seen, (client, session, folder), "{file}");
    }
}

#[test]
fn other_events_and_turns_that_go_on_already_are_let_go() {
    for file in [
        "recorded/claude-code-subagent-stop.json",
        "samples/claude-code-Stop.active.json",
        "samples/claude-code-StopFailure.json",
        "samples/claude-code-SubagentStop.json",
        "samples/claude-code-PostToolUse.Edit.json",
        "samples/claude-code-SessionStart.startup.json",
        "samples/codex-Stop.active.json",
        "samples/codex-SubagentStop.json",
        "samples/codex-Interrupt.json",
        "samples/cursor-stop.followup.json",
        // Without a transcript its session is not known.
        "samples/cursor-stop.json",
        "samples/cursor-subagentStop.json",
        "samples/cursor-sessionEnd.json",
        "samples/gemini-cli-SessionEnd.json",
        "samples/vscode-copilot-SubagentStop.json",
        "samples/copilot-cli-postToolUse.json",
    ] {
        let payload = Payload::parse(&data(file)).unwrap();
        assert_eq!(Stop::read(&payload, None), None, "{file}");
    }
}

/// Asks with a client's sample, at the desk's own paths and with its transcript.
fn ask(file: &str, settings: (&str, &str), transcript: impl FnOnce(&Desk) -> String) -> Value {
    let mut desk = Desk::without_tools();
    desk.home_file(settings.0, settings.1);
    desk.tick();
    fs::write(desk.transcript(), transcript(&desk)).unwrap();
    desk.tick();
    desk.write("src/a.rs", "1");
    desk.tick();
    let mut event: Value = serde_json::from_slice(&data(file)).unwrap();
    for (name, value) in event.as_object_mut().unwrap() {
        match name.as_str() {
            "cwd" => *value = json!(desk.top()),
            "workspace_roots" => *value = json!([desk.top()]),
            "transcript_path" | "transcriptPath" => *value = json!(desk.transcript()),
            _ => {}
        }
    }
    let line = desk
        .send(&event)
        .unwrap_or_else(|| panic!("{file}: nobody was asked"));
    assert_eq!(desk.send(&event), None, "{file}: asked twice");
    serde_json::from_str(&line).unwrap()
}

fn claude_rows(desk: &Desk) -> String {
    let at = rfc3339(desk.second);
    format!(
        "{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"go\"}},\"timestamp\":\"{at}\"}}\n"
    )
}

const SERVERS: &str = r#"{"mcpServers":{"mmw":{"command":"mmw-agent"}}}"#;

fn check_reason(reason: &Value, tool: &str) {
    let reason = reason.as_str().unwrap();
    assert!(reason.starts_with("[mmw-hook-stop] "), "{reason}");
    assert!(reason.contains("\n- \"src/a.rs\"\n"), "{reason}");
    assert!(reason.contains(&format!("the tool \"{tool}\"")), "{reason}");
}

/// Checks an answer of two fields and nothing else: Codex refuses what it does not know.
fn check_plain(reply: &Value, tool: &str) {
    let names: Vec<_> = reply.as_object().unwrap().keys().collect();
    assert_eq!(names, ["decision", "reason"]);
    assert_eq!(reply["decision"], "block");
    check_reason(&reply["reason"], tool);
}

#[test]
fn claude_code_and_codex_are_told_to_go_on() {
    let reply = ask(
        "recorded/claude-code-stop.json",
        (".claude.json", SERVERS),
        claude_rows,
    );
    check_plain(&reply, "mcp__mmw__remember");
    let toml = "[mcp_servers.mmw]\ncommand = \"mmw-agent\"\n";
    let reply = ask(
        "recorded/codex-stop.json",
        (".codex/config.toml", toml),
        |desk| {
            let at = rfc3339(desk.second);
            format!(
                "{{\"timestamp\":\"{at}\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"s\"}}}}\n\
             {{\"timestamp\":\"{at}\",\"type\":\"event_msg\",\"payload\":{{\"type\":\"user_message\"}}}}\n"
            )
        },
    );
    check_plain(&reply, "mcp__mmw__remember");
}

#[test]
fn gemini_and_copilot_are_told_to_go_on() {
    let reply = ask(
        "samples/gemini-cli-AfterAgent.json",
        (".gemini/settings.json", SERVERS),
        |desk| {
            let at = rfc3339(desk.second);
            format!(
                "{{\"sessionId\":\"s\",\"projectHash\":\"h\",\"startTime\":\"{at}\"}}\n\
             {{\"id\":\"1\",\"timestamp\":\"{at}\",\"type\":\"user\",\"content\":\"go\"}}\n"
            )
        },
    );
    check_plain(&reply, "mcp_mmw_remember");
    for file in [
        "samples/copilot-cli-agentStop.json",
        "samples/copilot-cli-Stop.pascal.json",
    ] {
        let reply = ask(file, (".copilot/mcp-config.json", SERVERS), |desk| {
            let at = rfc3339(desk.second);
            format!(
                "{{\"type\":\"user.message\",\"data\":{{\"content\":\"go\"}},\"timestamp\":\"{at}\"}}\n"
            )
        });
        check_plain(&reply, "mmw-remember");
    }
}

#[test]
fn vs_code_is_told_in_its_own_nested_form() {
    let servers = SERVERS.replace("mcpServers", "servers");
    let reply = ask(
        "samples/vscode-copilot-Stop.json",
        ("shop/.vscode/mcp.json", &servers),
        |desk| {
            let at = rfc3339(desk.second);
            format!(
                "{{\"type\":\"user.message\",\"data\":{{\"content\":\"go\"}},\"timestamp\":\"{at}\"}}\n"
            )
        },
    );
    let nested = &reply["hookSpecificOutput"];
    assert_eq!(
        (&nested["hookEventName"], &nested["decision"]),
        (&json!("Stop"), &json!("block"))
    );
    check_reason(&nested["reason"], "mcp_mmw_remember");
}

#[test]
fn cursor_is_sent_a_message_from_its_own_hooks_and_from_those_of_claude_code() {
    for name in ["stop", "Stop"] {
        let mut desk = Desk::without_tools();
        desk.home_file(".cursor/mcp.json", SERVERS);
        desk.tick();
        desk.write("src/a.rs", "1");
        let path = desk.top().join("src/a.rs");
        fs::write(
            desk.transcript(),
            format!(
                "{{\"role\":\"user\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":\"go\"}}]}}}}\n\
                 {{\"role\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"tool_use\",\"name\":\"Write\",\"input\":{{\"path\":{}}}}}]}}}}\n",
                json!(path)
            ),
        )
        .unwrap();
        let mut event: Value = serde_json::from_slice(&data("samples/cursor-stop.json")).unwrap();
        event["workspace_roots"] = json!([desk.top()]);
        event["transcript_path"] = json!(desk.transcript());
        event["hook_event_name"] = json!(name);
        let line = desk.send(&event).unwrap();
        let reply: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(reply.as_object().unwrap().len(), 1);
        check_reason(&reply["followup_message"], "remember");
        assert!(line.contains("of the server \\\"mmw\\\""), "{line}");
        assert_eq!(desk.send(&event), None);
    }
}

#[test]
fn an_event_may_come_with_a_mark_a_line_end_and_broken_letters() {
    let mut desk = Desk::new();
    desk.tick();
    desk.write("a", "1");
    let mut event = desk.event().to_string().into_bytes();
    let at = event.windows(5).position(|part| part == b"Done.").unwrap();
    event[at] = 0xff;
    let mut sent = b"\xef\xbb\xbf\r\n".to_vec();
    sent.extend(&event);
    sent.extend(b"\r\n");
    let read = mmw_hooks::input::read_event(sent.as_slice()).unwrap();
    assert_eq!(read, event);
    let payload = Payload::parse(&read).unwrap();
    assert!(Stop::read(&payload, None).is_some());
}
