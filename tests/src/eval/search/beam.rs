//! Reads BEAM: long chats with an assistant, with probing questions that name the messages which answer
//! them.
//!
//! A chat is a folder with `chat.json` and `probing_questions/probing_questions.json`.

use serde_json::Value;

use super::set::{Doc, Question};

/// Adds a chat: all messages, and the questions under their kinds.
pub(crate) fn chat(
    group: &str,
    chat: &Value,
    probing: &Value,
    docs: &mut Vec<Doc>,
    questions: &mut Vec<Question>,
) {
    let mut date: Option<String> = None;
    let batches = chat.as_array().into_iter().flatten();
    let turns = batches.flat_map(|batch| batch["turns"].as_array().into_iter().flatten());
    for message in turns.flat_map(|turn| turn.as_array().into_iter().flatten()) {
        let (Some(id), Some(text)) = (id_of(&message["id"]), message["content"].as_str()) else {
            continue;
        };
        // A message without an anchor is of the same time as the one before.
        date = message["time_anchor"]
            .as_str()
            .filter(|anchor| !anchor.is_empty())
            .map(str::to_owned)
            .or(date);
        docs.push(Doc {
            group: group.to_owned(),
            id,
            text: without_mark(text).to_owned(),
            who: message["role"].as_str().map(str::to_owned),
            date: date.clone(),
            // One side of a conversation: what it answers is not among the records.
            session: None,
        });
    }
    for (kind, asked) in probing.as_object().into_iter().flatten() {
        for one in asked.as_array().into_iter().flatten() {
            let Some(text) = one["question"].as_str() else {
                continue;
            };
            let mut gold = Vec::new();
            ids_in(&one["source_chat_ids"], &mut gold);
            questions.push(Question {
                group: group.to_owned(),
                text: text.to_owned(),
                gold,
                kind: kind.clone(),
            });
        }
    }
}

/// Returns a message without the mark of its place that stands at its end: `… ->-> 1,3`.
fn without_mark(text: &str) -> &str {
    match text.rsplit_once("->->") {
        Some((before, mark))
            if mark
                .chars()
                .all(|c| c.is_ascii_digit() || " ,./NA-\n".contains(c)) =>
        {
            before.trim_end()
        }
        _ => text,
    }
}

/// Ids are numbers here, and texts of digits there.
fn id_of(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        _ => None,
    }
}

/// Collects the ids at the leaves of lists and objects.
fn ids_in(value: &Value, ids: &mut Vec<String>) {
    match value {
        Value::Array(all) => all.iter().for_each(|one| ids_in(one, ids)),
        Value::Object(all) => all.values().for_each(|one| ids_in(one, ids)),
        leaf => ids.extend(id_of(leaf)),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;

    /// A chat in BEAM's layout and its questions.
    pub(crate) fn made_up() -> [Value; 2] {
        let chat = json!([{"batch_number": 1, "turns": [[
            {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "My sprint ends on March 29. ->-> 1,1"},
            {"role": "assistant", "id": 1, "content": "Noted."},
        ], [{"role": "user", "id": 2, "content": "a -> b ->-> c"}]]}]);
        let probing = json!({
            "information_extraction": [{"question": "When does it end?", "source_chat_ids": {"a": [0], "b": "2"}}],
            "abstention": [{"question": "Why?", "source_chat_ids": []}],
        });
        [chat, probing]
    }

    #[test]
    fn a_chat_becomes_messages_and_questions() {
        let [json, probing] = made_up();
        let (mut docs, mut questions) = (Vec::new(), Vec::new());
        chat("c", &json, &probing, &mut docs, &mut questions);
        let texts: Vec<_> = docs.iter().map(|doc| doc.text.as_str()).collect();
        assert_eq!(
            texts,
            ["My sprint ends on March 29.", "Noted.", "a -> b ->-> c"]
        );
        assert_eq!(docs[2].date.as_deref(), Some("March-15-2024"));
        assert_eq!(questions[0].gold, ["0", "2"]);
        assert_eq!(questions[1].kind, "abstention");
    }

    #[test]
    fn what_is_no_chat_adds_nothing() {
        let (mut docs, mut questions) = (Vec::new(), Vec::new());
        for json in [
            json!(null),
            json!([{"turns": [[{"id": {}}], 3]}]),
            json!({}),
        ] {
            chat("c", &json, &json, &mut docs, &mut questions);
        }
        assert!(docs.is_empty() && questions.is_empty());
    }
}
