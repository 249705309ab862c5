//! Reads LongMemEval: each question with a history of its own, of sessions with an assistant.
//!
//! A record is a turn. Turns that are marked `has_answer` are the gold; where a question has none, all
//! turns of its answer's sessions are. Questions whose id ends with `_abs` have no answer.

use serde::Deserialize;
use serde_json::Value;

use super::set::{Doc, Question, Set};

/// A question with its history.
#[derive(Debug, Deserialize)]
pub(crate) struct Entry {
    #[serde(default)]
    question_id: Option<String>,
    question: String,
    #[serde(default)]
    question_type: Option<String>,
    haystack_sessions: Vec<Vec<Turn>>,
    #[serde(default)]
    haystack_session_ids: Vec<String>,
    #[serde(default)]
    haystack_dates: Vec<String>,
    #[serde(default)]
    answer_session_ids: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Turn {
    #[serde(default)]
    role: Option<String>,
    #[serde(default)]
    content: String,
    #[serde(default)]
    has_answer: Option<bool>,
}

/// Tells whether the JSON is of this layout.
pub(crate) fn is_it(json: &Value) -> bool {
    json.get(0)
        .is_some_and(|first| first["haystack_sessions"].is_array())
}

/// Makes a set of at most so many questions: each has a history of hundreds of records.
pub(crate) fn set(name: &str, entries: Vec<Entry>, most: usize) -> Set {
    let (mut docs, mut questions) = (Vec::new(), Vec::new());
    for (nth, entry) in entries.into_iter().take(most).enumerate() {
        let group = entry.question_id.unwrap_or_else(|| format!("q{nth}"));
        let kind = if group.ends_with("_abs") {
            "abstention".to_owned()
        } else {
            entry.question_type.unwrap_or_default()
        };
        let (mut marked, mut of_sessions) = (Vec::new(), Vec::new());
        for (session, turns) in entry.haystack_sessions.into_iter().enumerate() {
            let is_answer = entry
                .haystack_session_ids
                .get(session)
                .is_some_and(|id| entry.answer_session_ids.contains(id));
            for (place, turn) in turns.into_iter().enumerate() {
                if turn.content.trim().is_empty() {
                    continue;
                }
                let id = format!("{session}:{place}");
                if turn.has_answer == Some(true) {
                    marked.push(id.clone());
                }
                if is_answer {
                    of_sessions.push(id.clone());
                }
                docs.push(Doc {
                    group: group.clone(),
                    id,
                    text: turn.content,
                    who: turn.role,
                    date: entry.haystack_dates.get(session).cloned(),
                    session: Some(format!("{group}/{session}")),
                });
            }
        }
        questions.push(Question {
            group,
            text: entry.question,
            gold: if marked.is_empty() {
                of_sessions
            } else {
                marked
            },
            kind,
        });
    }
    Set::new(name, docs, questions)
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;

    /// Three questions in LongMemEval's layout.
    pub(crate) fn made_up() -> Value {
        let history = json!([
            [{"role": "user", "content": "I adopted a cat."}, {"role": "assistant", "content": " "}],
            [{"role": "user", "content": "My cat is Mia.", "has_answer": true}, {"role": "assistant", "content": "Nice."}],
        ]);
        let entry = |id: &str, answer: &str| {
            json!({
                "question_id": id, "question": "What is my cat's name?", "answer": "Mia",
                "question_type": "single-session-user", "question_date": "2023/05/30 (Tue) 10:00",
                "haystack_sessions": history, "haystack_session_ids": ["s1", "s2"],
                "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21"],
                "answer_session_ids": [answer],
            })
        };
        let mut unmarked = entry("q2", "s1");
        unmarked["haystack_sessions"][1][0]["has_answer"] = json!(false);
        json!([entry("q1", "s2"), unmarked, entry("q3_abs", "s2")])
    }

    #[test]
    fn marked_turns_are_gold_or_else_the_answers_sessions() {
        let json = made_up();
        assert!(is_it(&json) && !is_it(&json!([{}])));
        let set = set("s", serde_json::from_value(json).unwrap(), 9);
        assert_eq!((set.docs.len(), set.groups().len()), (9, 3));
        let gold: Vec<_> = set.questions.iter().map(|one| one.gold.join(" ")).collect();
        assert_eq!(gold, ["1:0", "0:0"]);
        assert_eq!(set.docs[0].date.as_deref(), Some("2023/05/20 (Sat) 02:21"));
    }

    #[test]
    fn so_many_questions_and_no_more_are_read() {
        let set = set("s", serde_json::from_value(made_up()).unwrap(), 1);
        assert_eq!(set.groups(), ["q1"]);
    }
}
