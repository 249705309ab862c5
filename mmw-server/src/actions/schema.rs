//! The schemas of arguments and answers, without what only costs tokens.
//!
//! Made from the wire twins of `mmw_core`. Left out: dialect, titles, `null` beside a type (an
//! argument that is null is taken as left out), defaults that say nothing, number formats that
//! some clients warn about.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::Object;

/// Returns the schema of an action's arguments: an object without other properties.
pub(super) fn of_arguments<A: JsonSchema>() -> Object {
    let mut schema = plain::<A>(true);
    schema.shift_remove("description");
    // Some clients want the member also where there is no argument.
    schema.entry("properties").or_insert_with(|| json!({}));
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

/// Returns the schema of an action's answer.
pub(super) fn of_answer<R: JsonSchema>(in_words: bool) -> Object {
    plain::<R>(in_words)
}

fn plain<T: JsonSchema>(in_words: bool) -> Object {
    let generator = SchemaSettings::draft2020_12()
        .with(|settings| settings.meta_schema = None)
        .into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    simplify(&mut schema, in_words);
    match schema {
        Value::Object(schema) => schema,
        _ => Object::new(),
    }
}

/// Simplifies a schema and everything in it.
fn simplify(schema: &mut Value, in_words: bool) {
    let Value::Object(schema) = schema else {
        return;
    };
    for noise in ["title", "default", "format"] {
        schema.shift_remove(noise);
    }
    if !in_words {
        schema.shift_remove("description");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type") != Some(&json!("null")));
        if let [Value::Object(only)] = choices.as_slice() {
            let only = only.clone();
            schema.shift_remove("anyOf");
            for (name, value) in only {
                schema.entry(name).or_insert(value);
            }
        }
    }
    for (name, value) in schema.iter_mut() {
        match (name.as_str(), value) {
            // Here the keys are names of the user's, not keywords.
            ("properties" | "$defs", Value::Object(named)) => {
                named
                    .values_mut()
                    .for_each(|schema| simplify(schema, in_words));
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(choices)) => {
                choices
                    .iter_mut()
                    .for_each(|schema| simplify(schema, in_words));
            }
            ("items" | "additionalProperties", schema) => simplify(schema, in_words),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::actions::Registry;

    #[test]
    fn schemas_say_nothing_that_only_costs_tokens() {
        fn walk(schema: &Value, path: &str) {
            match schema {
                Value::Object(object) => {
                    for (name, value) in object {
                        let here = format!("{path}/{name}");
                        if !path.ends_with("/properties") {
                            for noise in ["format", "default", "$schema"] {
                                assert_ne!(name, noise, "{here}");
                            }
                            assert!(name != "title", "{here}");
                        }
                        walk(value, &here);
                    }
                }
                Value::Array(list) => list.iter().for_each(|value| walk(value, path)),
                Value::String(text) => assert_ne!(text, "null", "{path}"),
                _ => {}
            }
        }
        for action in Registry::standard().iter() {
            for schema in [&action.input, &action.output, &action.output_in_words] {
                walk(&Value::Object((**schema).clone()), action.facts.name);
                assert_eq!(schema.get("type"), Some(&Value::from("object")));
                jsonschema::draft202012::new(&Value::Object((**schema).clone())).unwrap();
            }
        }
    }
}
