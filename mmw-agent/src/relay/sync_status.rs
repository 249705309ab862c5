//! `mmw_sync_status`, the one tool of the agent's own, in front of a server: how it is with that.

use mmw_core::time::Timestamp;
use mmw_hooks::spool::{EntryName, Note, STUCK_AFTER, State};
use serde_json::{Map, Value, json};

use super::endpoint::Endpoint;
use super::upstream::Unreachable;
use crate::about::{self, About};

/// The tool's name.
pub(super) const NAME: &str = about::SYNC_STATUS;

/// How it is with the server.
#[derive(Debug)]
pub(super) struct Link {
    endpoint: String,
    has_key: bool,
    last_success: Option<Timestamp>,
    last_failure: Option<(Timestamp, String)>,
    /// It gave a result when it was asked last: it is there, and takes the key.
    gives_results: bool,
    /// What the client calls itself.
    pub(super) client: Option<String>,
}

/// What an answer tells of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// It gives results: it is there, and takes the key.
    Result,
    /// It does not take the key, or the project is closed.
    Refused,
    /// Neither: a notification was taken, or the request was wrong.
    Nothing,
}

impl Told {
    /// Reads an answer.
    pub(super) fn of(answer: &Value) -> Self {
        const REFUSED: [&str; 4] = ["unauthorized", "forbidden", "suspended", "read_only"];
        let code = answer.pointer("/error/data/code").and_then(Value::as_str);
        match (answer.get("result"), code) {
            (Some(_), _) => Self::Result,
            (None, Some(code)) if REFUSED.contains(&code) => Self::Refused,
            _ => Self::Nothing,
        }
    }
}

impl Link {
    pub(super) fn new(endpoint: &Endpoint, has_key: bool) -> Self {
        Self {
            endpoint: endpoint.to_string(),
            has_key,
            last_success: None,
            last_failure: None,
            gives_results: false,
            client: None,
        }
    }

    /// Notes an answer. Tells whether it is the first result since the start, or since something was wrong.
    pub(super) fn worked(&mut self, now: Timestamp, told: Told) -> bool {
        self.last_success = Some(now);
        self.last_failure = None;
        match told {
            Told::Nothing => false,
            Told::Refused => {
                self.gives_results = false;
                false
            }
            Told::Result => !std::mem::replace(&mut self.gives_results, true),
        }
    }

    pub(super) fn trouble(&self) -> Option<String> {
        self.last_failure.as_ref().map(|(_, why)| why.clone())
    }

    pub(super) fn failed(&mut self, now: Timestamp, why: &Unreachable) {
        self.last_failure = Some((now, why.to_string()));
        self.gives_results = false;
    }
}

/// Adds the tool to a list of tools, where its name puts it.
pub(super) fn add_to(answer: &mut Value) {
    let tools = answer
        .pointer_mut("/result/tools")
        .and_then(Value::as_array_mut);
    if let Some(tools) = tools {
        let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
        let behind = tools.iter().position(|tool| name(tool).as_str() > NAME);
        tools.insert(behind.unwrap_or(tools.len()), about::tool());
    }
}

/// Returns the result of a call with these arguments.
pub(super) fn called(
    arguments: &Map<String, Value>,
    link: &Link,
    queue: Option<&State>,
    about: &About,
) -> Value {
    if let Err(fault) = about::takes_none(arguments) {
        return json!({
            "content": [{"type": "text", "text": fault.to_string()}], "isError": true,
            "_meta": {"mmw/fault": fault.to_json()},
        });
    }
    let success = link.last_success.map(|moment| moment.to_string());
    let failure = link
        .last_failure
        .as_ref()
        .map(|(moment, _)| moment.to_string());
    let reason = link.last_failure.as_ref().map(|(_, why)| why.clone());
    let text = match (&success, &failure, &reason) {
        (_, Some(at), Some(why)) => {
            let before = success.as_ref().map_or_else(
                || "It has not been reached since this agent started.".to_owned(),
                |success| format!("It was last reached at {success}."),
            );
            format!(
                "The memory server {} was not reached at {at}: {why}. {before}",
                link.endpoint
            )
        }
        (Some(at), ..) => format!("The memory server {} was reached at {at}.", link.endpoint),
        _ => format!(
            "The memory server {} has not been asked yet.",
            link.endpoint
        ),
    };
    let text = format!("{text}{} {}", told(queue), about.told());
    let mut structured = json!({
        "mode": "server", "endpoint": link.endpoint, "has_key": link.has_key,
        "last_success": success, "last_failure": failure, "reason": reason,
        "queue": queue.map(in_figures),
    });
    about.add_to(&mut structured);
    json!({
        "content": [{"type": "text", "text": text}], "structuredContent": structured, "isError": false,
    })
}

/// Returns how the queue is, for programs.
pub(crate) fn in_figures(queue: &State) -> Value {
    let note = |note: &Note| json!({"reason": note.why, "at": note.at.to_string()});
    let dead = queue.dead.iter().map(|letter| {
        json!({
            "name": letter.name.to_string(), "action": letter.action,
            "refused": letter.refused.as_ref().map(note),
        })
    });
    let oldest = queue.oldest.as_ref().and_then(|oldest| oldest.queued_at);
    json!({
        "waiting": queue.n_waiting,
        "oldest": oldest.map(|moment| moment.to_string()),
        "dead": queue.n_dead,
        "dead_letters": dead.collect::<Vec<_>>(),
        "unreadable": queue.n_corrupt,
        "held_up_by": queue.stuck(STUCK_AFTER).map(EntryName::number),
        "paused": queue.paused.as_ref().map(note),
        "last_error": queue.last_error.as_ref().map(note),
        "next_attempt": queue.next_attempt_at.map(|moment| moment.to_string()),
        "last_success": queue.last_success_at.map(|moment| moment.to_string()),
    })
}

/// Returns how the queue is, in a sentence; nothing if there is nothing to say.
fn told(queue: Option<&State>) -> String {
    let Some(queue) = queue else {
        return " The queue of writes can't be read.".to_owned();
    };
    let mut text = match queue.n_waiting {
        0 => String::new(),
        1 => " One write waits for it.".to_owned(),
        n => format!(" {n} writes wait for it."),
    };
    if let Some(paused) = &queue.paused {
        text.push_str(&format!(" Nothing is sent for now: {}.", paused.why));
    }
    if let Some(name) = queue.stuck(STUCK_AFTER) {
        text.push_str(&format!(
            " It fails at the first of them each time, and the others wait behind it; a person can put that one \
             aside: `mmw-agent sync --set-aside {}`.",
            name.number()
        ));
    }
    if queue.n_dead > 0 {
        text.push_str(&format!(" The server refused {} for good.", queue.n_dead));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_stands_where_its_name_puts_it() {
        let list = |names: &[&str]| {
            let tools: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
            let mut answer = json!({"result": {"tools": tools}});
            add_to(&mut answer);
            let tools = answer["result"]["tools"].as_array().unwrap().clone();
            tools
                .iter()
                .map(|tool| tool["name"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(list(&["forget", "remember"]), ["forget", NAME, "remember"]);
        assert_eq!(list(&[]), [NAME]);
        let mut error = json!({"error": {"code": 1}});
        add_to(&mut error);
        assert_eq!(error, json!({"error": {"code": 1}}));
    }

    #[test]
    fn what_it_answers_is_what_its_schema_says() {
        let schema = about::tool()["outputSchema"].clone();
        let schema = jsonschema::validator_for(&schema).unwrap();
        let endpoint = Endpoint::parse("https://a.example").unwrap();
        let mut link = Link::new(&endpoint, true);
        let check = |link: &Link| {
            let answer = called(&Map::new(), link, None, &About::default());
            schema.validate(&answer["structuredContent"]).unwrap();
            answer["content"][0]["text"].as_str().unwrap().to_owned()
        };
        assert!(check(&link).contains("not been asked"));
        link.failed(
            Timestamp::from_ms(0),
            &Unreachable::NotSent("no connection"),
        );
        assert!(check(&link).contains("no connection"));
        assert!(
            !link.worked(Timestamp::from_ms(1), Told::Refused),
            "an error opens nothing"
        );
        assert!(link.worked(Timestamp::from_ms(1), Told::Result));
        assert!(!link.worked(Timestamp::from_ms(2), Told::Result));
        link.failed(
            Timestamp::from_ms(3),
            &Unreachable::NotSent("no connection"),
        );
        assert!(link.worked(Timestamp::from_ms(4), Told::Result));
        assert!(check(&link).contains("was reached at"));
    }

    #[test]
    fn a_wrong_request_or_a_notification_does_not_lift_the_queues_wait() {
        let endpoint = Endpoint::parse("https://a.example").unwrap();
        let mut link = Link::new(&endpoint, true);
        let mut lifts = |answer: &Value| link.worked(Timestamp::from_ms(1), Told::of(answer));
        let result = json!({"result": {}});
        assert!(lifts(&result));
        let wrong = json!({"error": {"code": -32602, "data": {"code": "invalid_argument"}}});
        assert!(!lifts(&wrong) && !lifts(&result));
        let revoked = json!({"error": {"code": 1, "data": {"code": "unauthorized"}}});
        assert!(!lifts(&revoked) && lifts(&result));
        assert!(!link.worked(Timestamp::from_ms(2), Told::Nothing));
        assert!(!link.worked(Timestamp::from_ms(3), Told::Result));
    }
}
