//! Reads LoCoMo and REALTALK: dialogues in sessions, with questions that name the turns which answer
//! them.
//!
//! LoCoMo has "observations" too, short facts with the turns that they come from: a set of their own,
//! in which a question's gold are the facts of its turns.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::set::{Doc, Question, Set};

/// The names of LoCoMo's kinds of questions, from 1.
const KINDS: [&str; 5] = [
    "multi-hop",
    "temporal",
    "open-domain",
    "single-hop",
    "adversarial",
];

/// Tells whether the JSON is LoCoMo's: a list of conversations with questions.
pub(crate) fn is_locomo(json: &Value) -> bool {
    json.get(0)
        .is_some_and(|first| first["conversation"].is_object() && first["qa"].is_array())
}

/// Tells whether the JSON is a chat of REALTALK: sessions beside the questions.
pub(crate) fn is_realtalk(json: &Value) -> bool {
    json["session_1"].is_array() && json["qa"].is_array()
}

/// Reads LoCoMo: the turns and the observations, each a set.
pub(crate) fn locomo(json: &Value) -> Result<[Set; 2], String> {
    let mut turns = (Vec::new(), Vec::new());
    let mut facts = (Vec::new(), Vec::new());
    for (nth, sample) in json.as_array().into_iter().flatten().enumerate() {
        let group = sample["sample_id"]
            .as_str()
            .map_or_else(|| format!("conversation-{nth}"), str::to_owned);
        let conversation = sample["conversation"]
            .as_object()
            .ok_or_else(|| format!("{group} has no conversation"))?;
        for (session, said) in sessions(conversation) {
            let date = date_of(conversation, session);
            turns.0.extend(said.iter().filter_map(|turn| {
                let photo = turn["blip_caption"].as_str().unwrap_or_default();
                let text = turn["text"].as_str().unwrap_or_default();
                let text = match photo {
                    "" => text.to_owned(),
                    photo => format!("{text} [shares a photo: {photo}]"),
                };
                doc(&group, session, turn, text, date.clone())
            }));
        }
        let of_turns = observations(&group, sample, conversation, &mut facts.0);
        for question in questions(&group, sample) {
            let turns_named = question.gold.iter();
            let gold = turns_named
                .filter_map(|turn| of_turns.get(turn))
                .flatten()
                .cloned()
                .collect();
            facts.1.push(Question {
                gold,
                ..question.clone()
            });
            turns.1.push(question);
        }
    }
    Ok([
        Set::new("locomo", turns.0, turns.1),
        Set::new("locomo-obs", facts.0, facts.1),
    ])
}

/// Reads chats of REALTALK, each under its name.
pub(crate) fn realtalk(chats: &[(String, Value)]) -> Set {
    let (mut docs, mut asked) = (Vec::new(), Vec::new());
    for (group, chat) in chats {
        let Some(fields) = chat.as_object() else {
            continue;
        };
        for (session, said) in sessions(fields) {
            let of_session = date_of(fields, session);
            docs.extend(said.iter().filter_map(|turn| {
                let text = turn["clean_text"]
                    .as_str()
                    .filter(|text| !text.trim().is_empty())
                    .unwrap_or("[photo]");
                let date = turn["date_time"].as_str().map(str::to_owned);
                doc(
                    group,
                    session,
                    turn,
                    text.to_owned(),
                    date.or_else(|| of_session.clone()),
                )
            }));
        }
        asked.extend(questions(group, chat));
    }
    Set::new("realtalk", docs, asked)
}

fn doc(
    group: &str,
    session: usize,
    turn: &Value,
    text: String,
    date: Option<String>,
) -> Option<Doc> {
    Some(Doc {
        group: group.to_owned(),
        id: turn["dia_id"].as_str()?.to_owned(),
        text,
        who: turn["speaker"].as_str().map(str::to_owned),
        date,
        session: Some(format!("{group}/{session}")),
    })
}

/// Returns the sessions by their numbers.
fn sessions(fields: &Map<String, Value>) -> Vec<(usize, &Vec<Value>)> {
    let numbered = |(name, said): (&String, _)| {
        let number = name.strip_prefix("session_")?.parse().ok()?;
        Some((number, Value::as_array(said)?))
    };
    let mut all: Vec<_> = fields.iter().filter_map(numbered).collect();
    all.sort_by_key(|(number, _)| *number);
    all
}

fn date_of(fields: &Map<String, Value>, session: usize) -> Option<String> {
    let date = fields.get(&format!("session_{session}_date_time"))?;
    date.as_str().map(str::to_owned)
}

/// Adds the observations of a conversation; returns which of them come from which turn.
fn observations(
    group: &str,
    sample: &Value,
    conversation: &Map<String, Value>,
    docs: &mut Vec<Doc>,
) -> HashMap<String, Vec<String>> {
    let mut of_turns: HashMap<String, Vec<String>> = HashMap::new();
    let mut n_facts = 0;
    for (name, by_speaker) in sample["observation"].as_object().into_iter().flatten() {
        let session = name.split('_').find_map(|part| part.parse().ok());
        let date = session.and_then(|session| date_of(conversation, session));
        for (who, facts) in by_speaker.as_object().into_iter().flatten() {
            for fact in facts.as_array().into_iter().flatten() {
                let Some(text) = fact[0].as_str() else {
                    continue;
                };
                let id = format!("O{n_facts}");
                n_facts += 1;
                for turn in evidence(&fact[1]) {
                    of_turns.entry(turn).or_default().push(id.clone());
                }
                docs.push(Doc {
                    group: group.to_owned(),
                    id,
                    text: text.to_owned(),
                    who: Some(who.clone()),
                    date: date.clone(),
                    // An observation stands for itself.
                    session: None,
                });
            }
        }
    }
    of_turns
}

fn questions(group: &str, sample: &Value) -> Vec<Question> {
    let asked = sample["qa"].as_array().into_iter().flatten();
    let read = |one: &Value| {
        let category = one["category"].as_u64().unwrap_or_default();
        let kind = usize::try_from(category)
            .ok()
            .and_then(|nth| KINDS.get(nth.checked_sub(1)?))
            .map_or("", |kind| *kind);
        Some(Question {
            group: group.to_owned(),
            text: one["question"].as_str()?.to_owned(),
            gold: evidence(&one["evidence"]),
            kind: kind.to_owned(),
        })
    };
    asked.filter_map(read).collect()
}

/// Returns the turns that are named anywhere in a value, however they are strung together:
/// `["D1:3", "D2: 04; D2:5"]` is `D1:3`, `D2:4` and `D2:5`.
fn evidence(value: &Value) -> Vec<String> {
    match value {
        Value::Array(all) => all.iter().flat_map(evidence).collect(),
        Value::String(text) => turns_in(text),
        _ => Vec::new(),
    }
}

fn turns_in(text: &str) -> Vec<String> {
    let mut turns = Vec::new();
    for part in text.split('D').skip(1) {
        let mut numbers = part
            .trim_start_matches([' ', ':'])
            .splitn(2, ':')
            .map(|number| {
                let number = number.trim_start();
                let end = number
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(number.len());
                number[..end].parse::<u32>().ok()
            });
        if let (Some(Some(session)), Some(Some(turn))) = (numbers.next(), numbers.next()) {
            turns.push(format!("D{session}:{turn}"));
        }
    }
    turns
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;

    /// A conversation in LoCoMo's layout.
    pub(crate) fn made_up_locomo() -> Value {
        json!([{
            "sample_id": "conv-1",
            "conversation": {
                "speaker_a": "Ann", "speaker_b": "Bo",
                "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "I sold the boat."}],
                "session_2_date_time": "2:00 pm on 9 May, 2023",
                "session_1": [
                    {"speaker": "Ann", "dia_id": "D1:1", "text": "Look!", "blip_caption": "a red boat"},
                    {"speaker": "Bo", "dia_id": "D1:2", "text": "Nice boat."},
                ],
                "session_1_date_time": "1:00 pm on 8 May, 2023",
            },
            "observation": {"session_1_observation": {"Ann": [["Ann has a red boat.", "D1:1"]]},
                "session_2_observation": {"Bo": [["Bo sold a boat.", ["D2:1"]]]}},
            "qa": [
                {"question": "What does Ann have?", "answer": "a boat", "evidence": ["D1:1; D1:02"], "category": 4},
                {"question": "What did Ann sell?", "evidence": ["D2:1"], "category": 5},
                {"question": "Who sold?", "evidence": ["D2:1"], "category": 1},
            ],
        }])
    }

    #[test]
    fn locomo_becomes_turns_and_facts() {
        let json = made_up_locomo();
        assert!(is_locomo(&json) && !is_realtalk(&json));
        let [turns, facts] = locomo(&json).unwrap();
        assert_eq!(turns.docs.len(), 3);
        let sessions: Vec<_> = turns
            .docs
            .iter()
            .map(|doc| doc.session.as_deref())
            .collect();
        let expected = [Some("conv-1/1"), Some("conv-1/1"), Some("conv-1/2")];
        assert_eq!(sessions, expected);
        assert_eq!(facts.docs[0].session, None);
        assert_eq!(turns.docs[0].text, "Look! [shares a photo: a red boat]");
        assert_eq!(
            turns.docs[2].date.as_deref(),
            Some("2:00 pm on 9 May, 2023")
        );
        let gold: Vec<_> = turns
            .questions
            .iter()
            .map(|one| one.gold.join(" "))
            .collect();
        assert_eq!(gold, ["D1:1 D1:2", "D2:1"]);
        assert_eq!(turns.questions[1].kind, "multi-hop");
        let gold: Vec<_> = facts
            .questions
            .iter()
            .map(|one| one.gold.join(" "))
            .collect();
        assert_eq!(gold, ["O0", "O1"]);
        assert_eq!(facts.docs[0].who.as_deref(), Some("Ann"));
    }

    #[test]
    fn realtalk_becomes_turns() {
        let chat = json!({
            "name": {"speaker_1": "A"},
            "session_1": [
                {"clean_text": "Ran in the rain.", "speaker": "A", "date_time": "29.12.2023, 00:51:12", "dia_id": "D1:1"},
                {"clean_text": " ", "speaker": "B", "dia_id": "D1:2"},
            ],
            "events_session_1": {"A": []},
            "session_1_date_time": "29.12.2023, 00:50:00",
            "qa": [{"question": "When did A run?", "evidence": ["D1:1"], "category": 2}],
        });
        assert!(is_realtalk(&chat) && !is_locomo(&chat));
        let set = realtalk(&[("Chat_1".into(), chat)]);
        assert_eq!(set.docs[1].text, "[photo]");
        assert_eq!(set.docs[1].date.as_deref(), Some("29.12.2023, 00:50:00"));
        assert_eq!(
            (
                set.questions[0].gold.join(" "),
                set.questions[0].kind.as_str()
            ),
            ("D1:1".into(), "temporal")
        );
    }

    #[test]
    fn evidence_is_read_however_it_is_strung_together() {
        for (written, read) in [
            (json!(["D1:3", "D10:12"]), "D1:3 D10:12"),
            (json!("D8:6; D9:17"), "D8:6 D9:17"),
            (json!(["D:11:26", "D30:05"]), "D11:26 D30:5"),
            (json!(["D1: 3 D2:4"]), "D1:3 D2:4"),
            (json!(null), ""),
            (json!(["D", "D3", "Day 3:00"]), ""),
        ] {
            assert_eq!(evidence(&written).join(" "), read, "{written}");
        }
    }

    #[test]
    fn a_sample_without_conversation_is_named() {
        assert!(
            locomo(&json!([{"sample_id": "x"}]))
                .unwrap_err()
                .contains('x')
        );
    }
}
