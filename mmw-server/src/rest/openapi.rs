//! The description of REST in OpenAPI 3.1, assembled from the schemas of the actions.

use mmw_core::wire::EnvelopeArgs;
use serde_json::{Map, Value, json};

use super::ENVELOPE;
use crate::actions::{Action, Object, Registry, schema_of};
use crate::desk::IDEMPOTENCY_KEY_HEADER;
use crate::fault::Code;

/// Returns the document.
#[must_use]
pub fn document(actions: &Registry) -> Value {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    schemas.insert("Fault".to_owned(), fault_schema());
    for action in actions.iter() {
        let name = action.facts.name;
        let answer = lifted((*action.output_in_words).clone(), &mut schemas);
        schemas.insert(format!("{name}.answer"), answer);
        let mut request = lifted((*action.input).clone(), &mut schemas);
        if action.facts.takes_envelope {
            let envelope = lifted(schema_of::<EnvelopeArgs>(), &mut schemas);
            request["properties"][ENVELOPE] = envelope;
        }
        schemas.insert(format!("{name}.request"), request);
        paths.insert(
            format!("/api/v1/{name}"),
            json!({ "post": operation(action) }),
        );
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "MMW memory",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Every action of the memory, as over MCP.",
        },
        "servers": [{ "url": "/" }],
        "security": [{ "key": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "key": { "type": "http", "scheme": "bearer", "bearerFormat": "mmw_…" },
            },
            "schemas": schemas,
        },
    })
}

fn operation(action: &Action) -> Value {
    let facts = &action.facts;
    let mut operation = json!({
        "operationId": facts.name,
        "summary": facts.title,
        "description": format!(
            "{} Needs the scope `{}`.", facts.description, facts.scope.name()
        ),
        "requestBody": {
            "required": true,
            "content": {
                "application/json": {
                    "schema": { "$ref": format!("#/components/schemas/{}.request", facts.name) },
                },
            },
        },
        "responses": responses(facts.name),
    });
    if facts.takes_envelope {
        operation["parameters"] = json!([{
            "name": IDEMPOTENCY_KEY_HEADER,
            "in": "header",
            "schema": { "type": "string", "maxLength": 128, "pattern": "^[!-~]+$" },
        }]);
    }
    operation
}

fn responses(name: &str) -> Value {
    let mut responses = Map::new();
    responses.insert(
        "200".to_owned(),
        json!({
            "description": "The answer.",
            "content": {
                "application/json": {
                    "schema": { "$ref": format!("#/components/schemas/{name}.answer") },
                },
            },
        }),
    );
    let mut by_status: std::collections::BTreeMap<u16, Vec<&str>> = Default::default();
    for code in Code::ALL {
        by_status
            .entry(code.status())
            .or_default()
            .push(code.name());
    }
    for (status, codes) in by_status {
        responses.insert(
            status.to_string(),
            json!({
                "description": format!("`{}`", codes.join("`, `")),
                "content": {
                    "application/json": { "schema": { "$ref": "#/components/schemas/Fault" } },
                },
            }),
        );
    }
    Value::Object(responses)
}

fn fault_schema() -> Value {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.name()).collect();
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {
                    "code": { "type": "string", "enum": codes },
                    "message": { "type": "string" },
                    "field": { "type": "string", "description": "The argument that it is about." },
                    "hint": { "type": "string", "description": "What to do about it." },
                },
            },
        },
    })
}

/// Moves the definitions inside a schema to where OpenAPI keeps them.
fn lifted(mut schema: Object, schemas: &mut Map<String, Value>) -> Value {
    if let Some(Value::Object(definitions)) = schema.shift_remove("$defs") {
        for (name, mut definition) in definitions {
            point_to_components(&mut definition);
            schemas.insert(name, definition);
        }
    }
    let mut schema = Value::Object(schema);
    point_to_components(&mut schema);
    schema
}

fn point_to_components(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some(Value::String(target)) = object.get_mut("$ref")
                && let Some(name) = target.strip_prefix("#/$defs/")
            {
                *target = format!("#/components/schemas/{name}");
            }
            object.values_mut().for_each(point_to_components);
        }
        Value::Array(list) => list.iter_mut().for_each(point_to_components),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_leads_somewhere() {
        fn walk(value: &Value, document: &Value) {
            match value {
                Value::Object(object) => {
                    if let Some(target) = object.get("$ref").and_then(Value::as_str) {
                        let pointer = target.trim_start_matches('#');
                        assert!(document.pointer(pointer).is_some(), "{target}");
                    }
                    object.values().for_each(|value| walk(value, document));
                }
                Value::Array(list) => list.iter().for_each(|value| walk(value, document)),
                _ => {}
            }
        }
        let document = document(&Registry::standard());
        walk(&document, &document);
        let paths = document["paths"].as_object().unwrap();
        assert_eq!(paths.len(), Registry::standard().iter().count());
    }
}
