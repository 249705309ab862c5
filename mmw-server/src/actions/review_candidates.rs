//! `review_candidates`: a person decides on statements that wait in front of memory.
//!
//! Looking at the lane is allowed at the person's own computer (stdio) and with the scope
//! `review`; deciding takes a proof that a person decides.

use mmw_core::place::{Scope, Way};
use mmw_core::wire::{LaneItemView, ReviewAnswer, ReviewArgs};
use mmw_store::Memory;

use super::{Action, Asked, Facts, Hints, Object, Question, text};
use crate::fault::{Code, Fault};
use crate::lane::Errand;

/// Most items that one question shows.
const MAX_SHOWN: usize = 50;

pub(super) fn action() -> Action {
    Action::new(
        Facts {
            name: "review_candidates",
            title: "Review what waits for memory",
            description: "List statements that wait for review, or decide on them. A person must agree.",
            hints: Hints::WRITE,
            scope: Scope::Review,
            takes_envelope: false,
            errand: Errand::Interactive,
        },
        call,
        in_words,
    )
    .asking(ask)
}

fn is_look(args: &ReviewArgs) -> bool {
    matches!(args.action.as_deref(), None | Some("list"))
}

// The signature is that of every action.
#[allow(clippy::needless_pass_by_value)]
fn call(memory: &Memory, asked: &Asked, args: ReviewArgs) -> Result<ReviewAnswer, Fault> {
    match asked.reviewer {
        _ if is_look(&args) && (asked.reviewer.is_some() || asked.caller.way == Way::Stdio) => {
            Ok(memory.lane(&asked.caller, &args)?)
        }
        Some(reviewer) => Ok(memory.decide(&asked.caller, reviewer, &args)?),
        None => Err(Fault::new(
            Code::Forbidden,
            "only a person decides what becomes memory",
        )),
    }
}

fn ask(memory: &Memory, asked: &Asked, args: &ReviewArgs) -> Result<Option<Question>, Fault> {
    if is_look(args) {
        return Ok(None);
    }
    if args.ids.is_empty() {
        return Err(Fault::argument("ids", "names no item to decide on"));
    }
    let look = ReviewArgs {
        action: Some("list".to_owned()),
        ids: args.ids.clone(),
        limit: i64::try_from(MAX_SHOWN).ok(),
        ..ReviewArgs::default()
    };
    let listed = memory.lane(&asked.caller, &look)?;
    let items: Vec<&LaneItemView> = listed
        .items
        .iter()
        .filter(|item| args.ids.iter().any(|id| names(id, item)))
        .collect();
    if items.len() < args.ids.len() {
        return Err(Fault::new(
            Code::NotFound,
            "there is no waiting item with that id here",
        ));
    }
    let verb = args.action.as_deref().unwrap_or("decide");
    let mut message = format!(
        "The agent asks to `{verb}` {}. Accepting does it.",
        text::count(items.len(), "waiting statement")
    );
    for item in &items {
        message.push('\n');
        message.push_str(&line(item, asked));
        message.push('\n');
        message.push_str(&text::quoted(&text::cut(&item.content, SHOWN_CHARS)));
    }
    if let Some(content) = &args.content {
        message.push_str(&format!(
            "\n\nTo be saved instead:\n{}",
            text::quoted(content)
        ));
    }
    let mut properties = Object::new();
    properties.insert(
        "note".to_owned(),
        serde_json::json!({ "type": "string", "title": "Note (optional)" }),
    );
    Ok(Some(Question {
        message,
        properties,
        about: items
            .iter()
            .map(|item| format!("{} {}", item.candidate_id, item.state))
            .collect(),
    }))
}

/// How much of a statement a person is shown before deciding, in characters.
const SHOWN_CHARS: usize = 4000;

/// Tells whether an id, with or without its prefix, names the item.
fn names(id: &str, item: &LaneItemView) -> bool {
    let id = id.trim();
    item.candidate_id == id || item.candidate_id.ends_with(&format!("_{id}"))
}

fn in_words(answer: &ReviewAnswer, asked: &Asked) -> String {
    let mut lines = vec![format!(
        "{}: {}; {} waiting in all. {}",
        answer.action,
        text::count(answer.items.len(), "item"),
        answer.waiting,
        text::DATA_NOTE
    )];
    lines.extend(answer.items.iter().map(|item| line(item, asked)));
    lines.join("\n")
}

fn line(item: &LaneItemView, asked: &Asked) -> String {
    let why = match (&item.rule, &item.reason, &item.why_durable) {
        (Some(rule), Some(reason), _) => format!(", held back by {rule}: {reason}"),
        (_, _, Some(why)) => format!(", {why}"),
        _ => String::new(),
    };
    format!(
        "- {} ({}, {}, {}, workspace `{}`{why}): {}",
        item.candidate_id,
        item.kind,
        item.state,
        text::age(asked.now, item.created_at),
        item.workspace,
        text::snippet(&item.content)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::Stage;

    #[test]
    fn looking_needs_no_decision_at_the_person_s_own_computer() {
        let stage = Stage::new();
        let text = stage.text("review_candidates", &json!({}));
        assert!(
            text.starts_with("list: 0 items; 0 waiting in all."),
            "{text}"
        );
        let look = ReviewArgs::default();
        assert_eq!(ask(&stage.memory, &stage.asked, &look), Ok(None));
        let mut remote = Stage::new();
        remote.asked.caller.way = Way::Mcp;
        let refused = remote.call("review_candidates", &json!({})).unwrap_err();
        assert_eq!(refused.code, Code::Forbidden);
    }

    #[test]
    fn deciding_takes_a_person_who_is_shown_the_whole_statement() {
        let stage = Stage::new();
        let draft = mmw_core::draft::Draft::new("tests run with `cargo nextest`").unwrap();
        let proposal = mmw_core::capture::Proposal {
            kind: mmw_core::capture::LaneKind::Candidate,
            draft,
            replaced: Vec::new(),
            classification: mmw_core::capture::Classification::Decision,
            why_durable: Some("said twice".into()),
            evidence: vec!["event-1".into()],
            finding: None,
        };
        let id = stage
            .memory
            .propose(&stage.asked.caller, &proposal)
            .unwrap()
            .unwrap()
            .shown();
        let approve = json!({ "action": "approve", "ids": [id] });
        let refused = stage.call("review_candidates", &approve).unwrap_err();
        assert_eq!(refused.code, Code::Forbidden);
        let args = ReviewArgs {
            action: Some("approve".into()),
            ids: vec![id.clone()],
            ..ReviewArgs::default()
        };
        let question = ask(&stage.memory, &stage.asked, &args).unwrap().unwrap();
        assert!(
            question
                .message
                .contains("> tests run with `cargo nextest`"),
            "{}",
            question.message
        );
        let absent = ReviewArgs {
            ids: vec!["mem_cand_0192f0c1-8a6b-7c3d-9e4f-0123456789ab".into()],
            ..args
        };
        let refused = ask(&stage.memory, &stage.asked, &absent).unwrap_err();
        assert_eq!(refused.code, Code::NotFound);
        let stage = stage.with_a_person();
        let text = stage.text("review_candidates", &approve);
        assert!(text.contains(&id) && text.contains("promoted"), "{text}");
        assert!(
            stage
                .text("search", &json!({ "query": "nextest" }))
                .contains("> tests run")
        );
    }
}
