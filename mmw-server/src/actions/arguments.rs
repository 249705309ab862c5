//! What a caller wrote, checked against an action's schema before it becomes values.
//!
//! A refusal names the argument, what is wrong with it, and for an unknown one the nearest that
//! exists, so that an agent can mend the call in one step. Values are never repeated: they may be
//! long, or secret. What needs more than a schema is checked in `mmw_core::validation`.

use jsonschema::Validator;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Object;
use crate::fault::{Code, Fault};

/// How alike two names must be for one to be suggested for the other, 0 to 1.
const NEAR_ENOUGH: f64 = 0.75;

/// What belongs into the envelope and is easily taken for an argument.
const ENVELOPE_MEMBERS: [&str; 9] = [
    "idempotency_key",
    "proposed_id",
    "recorded_at",
    "agent",
    "client",
    "session_id",
    "branch",
    "source_hash_text",
    "span",
];

/// How much of an unknown name is repeated, in characters.
const ECHOED_CHARS: usize = 60;

/// The compiled schema of an action's arguments.
pub(super) struct Arguments {
    names: Vec<String>,
    validator: Validator,
}

impl Arguments {
    /// Compiles a schema.
    pub(super) fn of(schema: &Object) -> Self {
        let names = schema
            .get("properties")
            .and_then(Value::as_object)
            .map(|properties| properties.keys().cloned().collect())
            .unwrap_or_default();
        let validator = jsonschema::draft202012::new(&Value::Object(schema.clone()))
            .expect("the schema of an action is a schema; a test compiles them all");
        Self { names, validator }
    }

    /// Checks arguments.
    pub(super) fn check(&self, mut arguments: Object) -> Result<Object, Fault> {
        if let Some(unknown) = arguments.keys().find(|name| !self.names.contains(name)) {
            return Err(self.unknown(unknown));
        }
        arguments.retain(|_, value| !value.is_null());
        let arguments = Value::Object(arguments);
        if let Some(error) = self.validator.iter_errors(&arguments).find_map(|error| {
            let path = error.instance_path().to_string();
            refusal(&path, error.kind(), error.instance())
        }) {
            return Err(error);
        }
        match arguments {
            Value::Object(arguments) => Ok(arguments),
            _ => Err(Fault::internal()),
        }
    }

    fn unknown(&self, name: &str) -> Fault {
        let nearest = self
            .names
            .iter()
            .map(|known| (strsim::jaro_winkler(&name.to_lowercase(), known), known))
            .max_by(|(one, _), (other, _)| one.total_cmp(other))
            .filter(|(likeness, _)| *likeness >= NEAR_ENOUGH);
        let hint = match nearest {
            _ if ENVELOPE_MEMBERS.contains(&name) => {
                "It is no argument but belongs into the envelope: `_meta[\"mmw/envelope\"]` over MCP, \
                 `envelope` in a body of REST."
                    .to_owned()
            }
            Some((_, known)) => format!("Did you mean `{known}`?"),
            None => format!("Known arguments: {}.", self.names.join(", ")),
        };
        let name: String = name.chars().take(ECHOED_CHARS).collect();
        Fault::argument(name, "unknown argument").hint(hint)
    }
}

/// Turns checked arguments into the action's own type.
pub(super) fn read<A: DeserializeOwned>(arguments: &Object) -> Result<A, Fault> {
    serde_path_to_error::deserialize(Value::Object(arguments.clone())).map_err(|error| {
        let path = error.path().to_string();
        // The inner message may repeat a value; the schema's check has caught all but oddities.
        tracing::debug!(%path, "arguments passed the schema but not the type");
        Fault {
            field: Some(path),
            ..Fault::new(Code::InvalidArgument, "has the wrong form")
        }
    })
}

/// Returns the refusal in our own words; `None` for what the domain refuses with better ones.
fn refusal(path: &str, kind: &ValidationErrorKind, instance: &Value) -> Option<Fault> {
    let problem = match kind {
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            return Some(Fault::argument(field(path, Some(name)), "is required"));
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let name = unexpected.first().map(String::as_str);
            return Some(Fault::argument(field(path, name), "unknown argument"));
        }
        ValidationErrorKind::Type { kind } => format!("must be {}", type_words(kind)),
        ValidationErrorKind::Enum { options } => {
            let options: Vec<&str> = options
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            format!("must be one of: {}", options.join(", "))
        }
        ValidationErrorKind::Minimum { limit } => format!("must be at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("must be at most {limit}"),
        ValidationErrorKind::MinLength { limit: 1 } => "may not be empty".to_owned(),
        ValidationErrorKind::MinLength { limit } => {
            format!("must have at least {limit} characters")
        }
        ValidationErrorKind::MaxItems { limit } => format!(
            "has {} entries; at most {limit} are allowed",
            instance.as_array().map_or(0, Vec::len)
        ),
        // Lengths are bounded in bytes, after trimming: the domain's work.
        ValidationErrorKind::MaxLength { .. } => return None,
        _ => "has the wrong form".to_owned(),
    };
    Some(Fault::argument(field(path, None), problem))
}

/// Writes a JSON pointer as a caller spells it: `/tags/3` is `tags[3]`.
fn field(pointer: &str, last: Option<&str>) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1).chain(last) {
        if part.bytes().all(|byte| byte.is_ascii_digit()) && !path.is_empty() {
            path.push_str(&format!("[{part}]"));
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.extend(part.chars().take(ECHOED_CHARS));
        }
    }
    path
}

fn type_words(kind: &TypeKind) -> &'static str {
    let TypeKind::Single(kind) = kind else {
        return "of another type";
    };
    match kind.to_string().as_str() {
        "string" => "a string",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "an object",
        _ => "of another type",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use crate::actions::Registry;

    /// A text that must not come back.
    const MARK: &str = "hunter2";

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            Just(Value::from(MARK)),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("[a-z]{1,4}", inner, 0..4)
                    .prop_map(Value::from_iter),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_arguments_are_taken_or_refused_without_repeating_a_value(
            values in proptest::collection::vec(any_value(), 16),
            unknown in proptest::option::of("[a-z_]{1,12}"),
        ) {
            for action in Registry::standard().iter() {
                let properties = action.input["properties"].as_object().unwrap();
                let mut arguments: crate::actions::Object = properties
                    .keys()
                    .zip(&values)
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect();
                if let Some(unknown) = &unknown {
                    arguments.insert(unknown.clone(), Value::from(MARK));
                }
                if let Err(refused) = action.check(arguments) {
                    prop_assert!(refused.field.is_some());
                    prop_assert!(!refused.to_string().contains(MARK), "{}", refused);
                }
            }
        }
    }

    fn check(tool: &str, arguments: &Value, field: &str, message: &str) {
        let registry = Registry::standard();
        let action = registry.get(tool).unwrap();
        let refused = action
            .check(arguments.as_object().unwrap().clone())
            .unwrap_err();
        assert_eq!(refused.field.as_deref(), Some(field));
        assert!(refused.to_string().contains(message), "{refused}");
    }

    #[test]
    fn an_unknown_argument_is_named_with_the_nearest_valid_one() {
        check(
            "search",
            &json!({"query": "q", "worksapce": "w"}),
            "worksapce",
            "Did you mean `workspace`?",
        );
        check(
            "search",
            &json!({"query": "q", "sourceId": "w"}),
            "sourceId",
            "Did you mean `source_id`?",
        );
        check(
            "remember",
            &json!({"content": "x", "idempotency_key": "k"}),
            "idempotency_key",
            "belongs into the envelope",
        );
        check(
            "forget",
            &json!({"zzz": 1}),
            "zzz",
            "Known arguments: memory_id, source_id",
        );
        check(
            "explain_memory",
            &json!({"id": "x", "memory_id": "y"}),
            "id",
            "memory_id",
        );
    }

    #[test]
    fn types_choices_and_bounds_are_enforced() {
        check("search", &json!({}), "query", "is required");
        check("search", &json!({"query": null}), "query", "is required");
        check("search", &json!({"query": ""}), "query", "may not be empty");
        check("search", &json!({"query": 5}), "query", "must be a string");
        check(
            "search",
            &json!({"query": "q", "limit": 0}),
            "limit",
            "at least 1",
        );
        check(
            "search",
            &json!({"query": "q", "limit": 51}),
            "limit",
            "at most 50",
        );
        check(
            "search",
            &json!({"query": "q", "limit": 2.5}),
            "limit",
            "a whole number",
        );
        check(
            "search",
            &json!({"query": "q", "tags": "a"}),
            "tags",
            "a list",
        );
        check(
            "search",
            &json!({"query": "q", "tags": ["a", 1]}),
            "tags[1]",
            "a string",
        );
        check(
            "search",
            &json!({"query": "q", "history": "yes"}),
            "history",
            "true or false",
        );
        check(
            "search",
            &json!({"query": "q", "current_sources": {"a": 1}}),
            "current_sources.a",
            "a string",
        );
        check(
            "remember",
            &json!({"content": "x", "kind": "note"}),
            "kind",
            "must be one of: fact, decision",
        );
        check(
            "remember",
            &json!({"content": "x", "confidence": 1.5}),
            "confidence",
            "at most 1",
        );
    }

    #[test]
    fn null_is_left_out_and_a_whole_number_may_have_a_point() {
        let registry = Registry::standard();
        let arguments = json!({"query": "q", "limit": 2.0, "workspace": null});
        let checked = registry
            .get("search")
            .unwrap()
            .check(arguments.as_object().unwrap().clone())
            .unwrap();
        let read: mmw_core::wire::SearchArgs = super::read(&checked).unwrap();
        assert_eq!((read.limit, read.workspace), (Some(2), None));
    }

    #[test]
    fn a_refusal_never_repeats_the_value() {
        let registry = Registry::standard();
        let arguments = json!({"content": "x", "kind": "hunter2", "confidence": "hunter2"});
        let refused = registry
            .get("remember")
            .unwrap()
            .check(arguments.as_object().unwrap().clone())
            .unwrap_err();
        assert!(!refused.to_string().contains("hunter2"), "{refused}");
    }
}
