//! Reads the project's own forms: a pair of files of JSON lines, and a file of facts with their
//! questions.
//!
//! ```text
//! NAME.docs.jsonl     {group, id, text, speaker?, date?, session?}    further fields are not read
//! NAME.queries.jsonl  {group, text, gold: [id, …], cat?}
//! facts               {id, fact, question, kind?}
//! ```
//!
//! A record with a `session` is a turn of it, but in a set whose name ends with `-obs`, observations that were
//! made of that session, or with `-user`, one side of it without what it answers: these stand for themselves.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::set::{Doc, Question, Set};

#[derive(Debug, Deserialize)]
struct DocLine {
    group: String,
    id: String,
    text: String,
    #[serde(default)]
    speaker: Option<String>,
    #[serde(default)]
    date: Option<String>,
    #[serde(default)]
    session: Value,
}

#[derive(Debug, Deserialize)]
struct QuestionLine {
    group: String,
    text: String,
    gold: Vec<String>,
    #[serde(default)]
    cat: Option<String>,
}

#[derive(Debug, Deserialize)]
struct FactLine {
    id: String,
    fact: String,
    question: String,
    #[serde(default)]
    kind: Option<String>,
}

/// Reads a pair of files.
pub(crate) fn pair(name: &str, docs: &str, questions: &str) -> Result<Set, String> {
    let is_of_turns = !name.ends_with("-obs") && !name.ends_with("-user");
    let docs = lines(docs)?.into_iter().map(|line: DocLine| Doc {
        session: session(&line.session)
            .filter(|_| is_of_turns)
            .map(|session| format!("{}/{session}", line.group)),
        group: line.group,
        id: line.id,
        text: line.text,
        who: filled(line.speaker),
        date: filled(line.date),
    });
    let questions = lines(questions)?
        .into_iter()
        .map(|line: QuestionLine| Question {
            group: line.group,
            text: line.text,
            gold: line.gold,
            kind: line.cat.unwrap_or_default(),
        });
    Ok(Set::new(name, docs.collect(), questions.collect()))
}

/// Reads facts with their questions, all in one store.
pub(crate) fn facts(name: &str, text: &str) -> Result<Set, String> {
    let mut docs = Vec::new();
    let mut questions = Vec::new();
    for line in lines::<FactLine>(text)? {
        questions.push(Question {
            group: "facts".into(),
            text: line.question,
            gold: vec![line.id.clone()],
            kind: line.kind.unwrap_or_default(),
        });
        docs.push(Doc {
            group: "facts".into(),
            id: line.id,
            text: line.fact,
            ..Doc::default()
        });
    }
    Ok(Set::new(name, docs, questions))
}

/// Sessions have numbers here, and names there.
fn session(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(name) => filled(Some(name.clone())),
        _ => None,
    }
}

fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

fn lines<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, String> {
    let filled = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    filled
        .map(|(nth, line)| {
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", nth + 1))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_read_and_further_fields_are_not() {
        let set = pair(
            "s",
            "{\"group\":\"g\",\"id\":\"1\",\"text\":\"t\",\"speaker\":\"A\",\"date\":\"\",\"idx\":3}\n\n",
            "{\"group\":\"g\",\"qid\":\"q\",\"text\":\"w?\",\"gold\":[\"1\"],\"cat\":\"k\"}",
        )
        .unwrap();
        let doc = Doc {
            group: "g".into(),
            id: "1".into(),
            text: "t".into(),
            who: Some("A".into()),
            date: None,
            session: None,
        };
        assert_eq!(set.docs, [doc]);
        assert_eq!(set.questions[0].kind, "k");
    }

    #[test]
    fn facts_are_records_and_questions() {
        let set = facts(
            "f",
            r#"{"id":"f1","fact":"a","question":"b?","kind":"para"}"#,
        )
        .unwrap();
        assert_eq!((set.docs.len(), set.docs[0].text.as_str()), (1, "a"));
        assert_eq!(set.questions[0].gold, ["f1"]);
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        let told = facts("f", "\n{\"id\":\"f1\"}").unwrap_err();
        assert!(
            told.starts_with("line 2: ") && told.contains("fact"),
            "{told}"
        );
        assert!(pair("p", "[]", "").is_err());
    }
}
