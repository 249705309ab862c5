//! The file of the reference memory server: a knowledge graph, one entity or relation a line.
//!
//! Each observation is a statement about its entity, each relation one about both. An entity about which
//! nothing was observed says at least what it is.

use serde::Deserialize;
use serde_json::Value;

use super::foreign::{Statement, moment};

/// What a line holds; newer servers add moments.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    Entity {
        name: String,
        #[serde(rename = "entityType", default)]
        entity_type: String,
        #[serde(default)]
        observations: Vec<Value>,
    },
    Relation {
        from: String,
        to: String,
        #[serde(rename = "relationType")]
        relation: String,
    },
}

/// Tells whether a line is one of such a file.
pub(crate) fn is_line(line: &[u8]) -> bool {
    serde_json::from_slice::<Line>(line).is_ok()
}

/// Returns the statements of a line, or why it can't be read.
pub(crate) fn statements(number: u64, line: &[u8]) -> Result<Vec<Statement>, String> {
    let line: Line = serde_json::from_slice(line)
        .map_err(|error| format!("is no entity or relation (column {})", error.column()))?;
    Ok(match line {
        Line::Entity {
            name,
            entity_type,
            observations,
        } => {
            let about = |content: String, said_at: &Value| Statement {
                line: number,
                name: name.clone(),
                content,
                tags: vec![entity_type.clone()],
                said_at: moment(said_at),
                ..Statement::default()
            };
            let mut found: Vec<Statement> = observations
                .iter()
                .filter_map(|observation| {
                    let text = observation
                        .as_str()
                        .or_else(|| observation["content"].as_str())?;
                    let said_at = &observation["timestamp"];
                    Some(about(format!("{name}: {}", text.trim()), said_at))
                })
                .collect();
            if found.is_empty() && !entity_type.trim().is_empty() {
                found.push(about(format!("{name}: {entity_type}"), &Value::Null));
            }
            found
        }
        Line::Relation { from, to, relation } => vec![Statement {
            line: number,
            name: from.clone(),
            content: format!("{from} {} {to}", relation.replace('_', " ")),
            tags: vec!["relation".to_owned()],
            ..Statement::default()
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn contents(line: &str) -> Vec<String> {
        let found = statements(1, line.as_bytes()).unwrap();
        found.into_iter().map(|one| one.content).collect()
    }

    #[test]
    fn observations_and_relations_are_statements() {
        let entity = r#"{"type":"entity","name":"billing","entityType":"service","observations":["runs on 8081","owned by Ada "]}"#;
        assert_eq!(
            contents(entity),
            ["billing: runs on 8081", "billing: owned by Ada"]
        );
        let bare = r#"{"type":"entity","name":"billing","entityType":"service","observations":[]}"#;
        assert_eq!(contents(bare), ["billing: service"]);
        let relation =
            r#"{"type":"relation","from":"billing","to":"postgres","relationType":"depends_on"}"#;
        assert_eq!(contents(relation), ["billing depends on postgres"]);
        let newer = r#"{"type":"entity","name":"a","observations":[{"content":"b","timestamp":"2026-03-14T09:30:00Z"}]}"#;
        let found = &statements(1, newer.as_bytes()).unwrap()[0];
        assert_eq!(found.said_at.unwrap().to_string(), "2026-03-14T09:30:00Z");
    }

    #[test]
    fn a_line_that_is_none_is_not_repeated() {
        for line in [
            "{\"type\":\"hunter2\"}",
            "hunter2",
            "{}",
            "[]",
            "{\"type\":\"entity\",\"name\":7}",
        ] {
            let why = statements(1, line.as_bytes()).unwrap_err();
            assert!(
                !why.contains("hunter2") && !is_line(line.as_bytes()),
                "{why}"
            );
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = statements(1, &bytes);
        }
    }
}
