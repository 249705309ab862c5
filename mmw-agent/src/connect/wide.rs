//! Puts a member into an object that has very many members on one line.
//!
//! The tree that other edits are made on takes a time that grows with the square of such a line, because it
//! breaks it at every member first. Here the text stays on its line and gets the member behind the last one.

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

/// From how many members on a line an object is edited here. Fewer are edited in a moment.
const WIDE: usize = 256;

/// Returns the text with a member in the object that names lead to, and what is missing of that; nothing if
/// it would go into an object that is not wide, or is there already.
pub(super) fn put_member(
    text: &str,
    options: &ParseOptions,
    above: &[&str],
    name: &str,
    value: &Value,
) -> Option<String> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), options).ok()?;
    let Some(Node::Object(top)) = &parsed.value else {
        return None;
    };
    let names: Vec<&str> = above.iter().copied().chain([name]).collect();
    let mut object = top;
    for (nth, name) in names.iter().enumerate() {
        let mut named = object
            .properties
            .iter()
            .filter(|property| property.name.as_str() == *name);
        let Some(found) = named.next() else {
            let whole = names[nth + 1..].iter().rev().fold(value.clone(), inside);
            return spliced(text, object, name, &whole);
        };
        // Of one that is there twice the other edits complain.
        match (&found.value, named.next()) {
            (Node::Object(inner), None) => object = inner,
            _ => return None,
        }
    }
    None
}

fn inside(value: Value, name: &&str) -> Value {
    Value::Object(Map::from_iter([((*name).to_owned(), value)]))
}

fn spliced(text: &str, object: &Object<'_>, name: &str, value: &Value) -> Option<String> {
    let is_wide = object.properties.len() >= WIDE && !object.text(text).contains('\n');
    let last = object.properties.last().filter(|_| is_wide)?;
    let (before, after) = text.split_at_checked(last.end())?;
    let name = Value::from(name);
    Some(format!("{before},{name}:{value}{after}"))
}

#[cfg(test)]
mod tests {
    use super::super::edit::{Part, Syntax, What, put, take_out};
    use serde_json::{Value, json};

    /// As many members as real files of one line have had.
    const MANY: usize = 20_000;

    fn server() -> Part {
        let value = json!({"command": "/usr/bin/mmw-agent"});
        Part {
            path: vec!["mcpServers"],
            what: What::Server {
                name: "mmw".to_owned(),
                value: value.as_object().cloned().unwrap_or_default(),
            },
        }
    }

    fn members(n: usize) -> String {
        let members: Vec<String> = (0..n)
            .map(|nth| format!("\"k{nth}\":{{\"a\":1}}"))
            .collect();
        members.join(",")
    }

    /// Edits a file that would take minutes if the time grew with the square of its size.
    fn check(text: &str, expected: &str) {
        let edited = put(text, Syntax::Json, &server(), false).unwrap();
        let there: Value = serde_json::from_str(&edited).unwrap();
        let mut wanted: Value = serde_json::from_str(text).unwrap();
        wanted["mcpServers"]["mmw"] = json!({"command": "/usr/bin/mmw-agent"});
        assert!(there == wanted, "something else was changed");
        assert!(edited.ends_with(expected));
        let again = put(&edited, Syntax::Json, &server(), false).unwrap();
        assert!(again == edited, "a second time changed something");
        let out = take_out(&edited, Syntax::Json, &server()).unwrap();
        assert!(out == text, "what was taken out left something");
    }

    #[test]
    fn a_line_of_very_many_members_is_edited_in_linear_time() {
        let ours = "\"mmw\":{\"command\":\"/usr/bin/mmw-agent\"}";
        let members = members(MANY);
        check(
            &format!("{{\"mcpServers\":{{{members}}}}}"),
            &format!(",{ours}}}}}"),
        );
        check(
            &format!("{{{members} }}\n"),
            &format!(",\"mcpServers\":{{{ours}}} }}\n"),
        );
    }

    #[test]
    fn comments_and_a_comma_at_the_end_of_a_line_stay() {
        let text = format!("{{\"mcpServers\":{{{}, /* last */}}}}", members(300));
        let edited = put(&text, Syntax::Json, &server(), false).unwrap();
        assert!(
            edited.ends_with("/usr/bin/mmw-agent\"}, /* last */}}"),
            "{edited}"
        );
    }

    #[test]
    fn a_name_that_is_there_twice_is_refused_on_a_long_line_too() {
        let text = format!(
            "{{{},\"mcpServers\":{{}},\"mcpServers\":{{}}}}",
            members(300)
        );
        assert!(put(&text, Syntax::Json, &server(), false).is_err());
    }
}
