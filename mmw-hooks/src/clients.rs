//! The coding agents that can be asked to go on: how each is known by its event, and where it keeps
//! what it knows.
//!
//! Cursor and VS Code also start the hooks of Claude Code's settings, with events of their own, so
//! the event decides and not the file that the hook stands in.

use crate::wire::Payload;

/// A coding agent whose event was understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// The agent of VS Code.
    VsCode,
    /// GitHub Copilot CLI.
    Copilot,
}

impl Client {
    /// Returns the client that `--client` names.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "claude" | "claude-code" => Some(Self::ClaudeCode),
            "codex" => Some(Self::Codex),
            "cursor" => Some(Self::Cursor),
            "gemini" | "gemini-cli" => Some(Self::Gemini),
            "vscode" => Some(Self::VsCode),
            "copilot" | "copilot-cli" => Some(Self::Copilot),
            _ => None,
        }
    }

    /// Returns whose event this is, and `None` if it is nobody's end of a turn.
    ///
    /// `named` is what the command line says; it decides only where events look alike.
    #[must_use]
    pub fn ending_a_turn(payload: &Payload, named: Option<Self>) -> Option<Self> {
        if payload.field(&["cursor_version"]).is_some() {
            // Started from Claude Code's settings it may keep that one's name of the event.
            return matches!(event(payload)?, "stop" | "Stop").then_some(Self::Cursor);
        }
        if payload.field(&["stopReason", "stop_reason"]).is_some() {
            let known = matches!(event(payload), None | Some("agentStop" | "Stop"));
            return known.then_some(Self::Copilot);
        }
        if payload.field(&["hookEventName"]).is_some() {
            return (event(payload)? == "Stop").then_some(Self::VsCode);
        }
        match event(payload)? {
            "AfterAgent" => Some(Self::Gemini),
            "agentStop" => Some(Self::Copilot),
            "stop" => (named == Some(Self::Cursor)).then_some(Self::Cursor),
            "Stop" if payload.field(&["turn_id"]).is_some() => Some(Self::Codex),
            "Stop" => Some(named.unwrap_or(Self::ClaudeCode)),
            _ => None,
        }
    }
}

fn event(payload: &Payload) -> Option<&str> {
    payload.text(&["hook_event_name", "hookEventName"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: Option<Client>) {
        let payload = Payload::parse(json.as_bytes()).unwrap();
        assert_eq!(Client::ending_a_turn(&payload, None), expected, "{json}");
    }

    #[test]
    fn a_client_is_known_by_its_event() {
        check(
            r#"{"hook_event_name":"Stop","session_id":"s"}"#,
            Some(Client::ClaudeCode),
        );
        check(
            r#"{"hook_event_name":"Stop","turn_id":"t"}"#,
            Some(Client::Codex),
        );
        check(
            r#"{"hook_event_name":"stop","cursor_version":"2"}"#,
            Some(Client::Cursor),
        );
        check(
            r#"{"hook_event_name":"Stop","cursor_version":"2"}"#,
            Some(Client::Cursor),
        );
        check(
            r#"{"hookEventName":"Stop","sessionId":"s"}"#,
            Some(Client::VsCode),
        );
        check(r#"{"hook_event_name":"AfterAgent"}"#, Some(Client::Gemini));
        check(
            r#"{"sessionId":"s","stopReason":"end_turn"}"#,
            Some(Client::Copilot),
        );
        check(
            r#"{"hook_event_name":"Stop","stop_reason":"end_turn"}"#,
            Some(Client::Copilot),
        );
    }

    #[test]
    fn other_events_are_nobodys_end_of_a_turn() {
        for event in ["SubagentStop", "StopFailure", "PostToolUse", "stop", ""] {
            check(&format!(r#"{{"hook_event_name":"{event}"}}"#), None);
        }
        check(
            r#"{"hook_event_name":"sessionEnd","cursor_version":"2"}"#,
            None,
        );
        check(r#"{"hookEventName":"SubagentStop"}"#, None);
        check("{}", None);
    }

    #[test]
    fn the_command_line_decides_only_between_events_that_look_alike() {
        let claude = Payload::parse(br#"{"hook_event_name":"Stop"}"#).unwrap();
        let named = |name| Client::ending_a_turn(&claude, Client::named(name));
        assert_eq!(named("codex"), Some(Client::Codex));
        assert_eq!(named("nobody"), Some(Client::ClaudeCode));
        let cursor = Payload::parse(br#"{"hook_event_name":"stop","cursor_version":"2"}"#).unwrap();
        let found = Client::ending_a_turn(&cursor, Client::named("claude"));
        assert_eq!(found, Some(Client::Cursor));
    }
}
