//! The one event that the Stop hook acts on: an agent is about to end its turn, for the first time.
//!
//! What comes out of here may be answered with a question; whatever may not is `None`.

use std::path::PathBuf;

use serde_json::Value;

use crate::clients::Client;
use crate::wire::Payload;

/// An agent is about to end its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// Whose agent.
    pub client: Client,
    /// The session, never empty.
    pub session: String,
    /// Where the client wrote what happened in the session.
    pub transcript: PathBuf,
    /// The folder that the agent works in.
    pub folder: PathBuf,
    /// What the agent said last, where the client tells it.
    pub said: Option<String>,
}

impl Stop {
    /// Reads an event. `None` if it is no end of a turn, or one that must not be held up: a turn
    /// that goes on because of a hook already, one that failed, a subagent's, one that will be
    /// resumed by a subagent, or one of a session that can't be told from others.
    #[must_use]
    pub fn read(payload: &Payload, named: Option<Client>) -> Option<Self> {
        let client = Client::ending_a_turn(payload, named)?;
        if payload.flag(&["stop_hook_active", "stopHookActive"])
            || payload.number(&["loop_count"]).is_some_and(|n| n > 0)
            || payload.text(&["agent_id"]).is_some()
            || resumed_by_a_subagent(payload)
        {
            return None;
        }
        if client == Client::Cursor && payload.text(&["status"]).is_some_and(|s| s != "completed") {
            return None;
        }
        if client == Client::Copilot
            && payload
                .text(&["stopReason", "stop_reason"])
                .is_some_and(|reason| reason != "end_turn")
        {
            return None;
        }
        let session = payload.text(&["session_id", "sessionId", "conversation_id"])?;
        let transcript = payload.text(&["transcript_path", "transcriptPath"])?;
        let folder = payload
            .text(&["cwd"])
            .or_else(|| payload.list(&["workspace_roots"]).first()?.as_str())
            .filter(|folder| !folder.is_empty())?;
        Some(Self {
            client,
            session: session.to_owned(),
            transcript: PathBuf::from(transcript),
            folder: PathBuf::from(folder),
            said: payload
                .text(&["last_assistant_message"])
                .filter(|said| !said.trim().is_empty())
                .map(str::to_owned),
        })
    }
}

/// Tells whether a subagent still works in the background: its end resumes the turn. A command that
/// runs there, such as a development server, may never end.
fn resumed_by_a_subagent(payload: &Payload) -> bool {
    payload.list(&["background_tasks"]).iter().any(|task| {
        let text = |name: &str| task.get(name).and_then(Value::as_str).unwrap_or_default();
        !text("agent_type").is_empty() && matches!(text("status"), "running" | "pending")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Option<Stop> {
        Stop::read(&Payload::parse(json.as_bytes()).unwrap(), None)
    }

    /// An event of Claude Code with a further field.
    fn claude(further: &str) -> Option<Stop> {
        read(&format!(
            r#"{{"hook_event_name":"Stop","session_id":"s","transcript_path":"/t","cwd":"/w"{further}}}"#
        ))
    }

    #[test]
    fn the_end_of_a_turn_is_read() {
        let stop = claude("").unwrap();
        assert_eq!(stop.client, Client::ClaudeCode);
        assert_eq!(stop.session, "s");
        assert_eq!(stop.transcript, PathBuf::from("/t"));
        assert_eq!(stop.folder, PathBuf::from("/w"));
    }

    #[test]
    fn a_turn_that_a_hook_holds_up_already_is_let_go() {
        assert!(claude(r#","stop_hook_active":false"#).is_some());
        assert!(claude(r#","stop_hook_active":"false""#).is_some());
        assert!(claude(r#","stop_hook_active":true"#).is_none());
        assert!(claude(r#","stop_hook_active":"true""#).is_none());
    }

    #[test]
    fn a_session_without_a_name_is_let_go() {
        for json in [
            r#"{"hook_event_name":"Stop","session_id":"","transcript_path":"/t","cwd":"/w"}"#,
            r#"{"hook_event_name":"Stop","session_id":"s","transcript_path":null,"cwd":"/w"}"#,
            r#"{"hook_event_name":"Stop","session_id":"s","transcript_path":"/t","cwd":""}"#,
        ] {
            assert!(read(json).is_none(), "{json}");
        }
    }

    #[test]
    fn a_subagent_is_let_go_and_one_in_the_background_is_waited_for() {
        assert!(claude(r#","agent_id":"a1""#).is_none());
        let task = |agent: &str, status: &str| {
            claude(&format!(
                r#","background_tasks":[{{"id":"1"{agent},"status":"{status}"}}]"#
            ))
        };
        assert!(task(r#","agent_type":"Explore""#, "running").is_none());
        assert!(task(r#","agent_type":"Explore""#, "completed").is_some());
        assert!(task("", "running").is_some());
    }

    #[test]
    fn cursor_asks_once_and_only_after_a_turn_that_was_completed() {
        let cursor = |status: &str, n: &str| {
            read(&format!(
                r#"{{"hook_event_name":"stop","cursor_version":"2","conversation_id":"c",
                "transcript_path":"/t","workspace_roots":["/w"],"status":"{status}","loop_count":{n}}}"#
            ))
        };
        assert_eq!(
            cursor("completed", "0").unwrap().folder,
            PathBuf::from("/w")
        );
        assert!(cursor("completed", "1").is_none());
        assert!(cursor("completed", "\"1\"").is_none());
        assert!(cursor("aborted", "0").is_none());
        assert!(cursor("error", "0").is_none());
    }
}
