//! The generated documents: tool pages, OpenAPI, the table of the environment.
//!
//! Kept in the repository by `cargo xtask codegen`, which also checks that they are in step.

use std::fmt::Write as _;

use serde_json::Value;

use crate::actions::{Action, Registry};
use crate::config::ENVIRONMENT;
use crate::rest::openapi;

/// A generated document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Document {
    /// The pages of the tools, in Markdown.
    Tools,
    /// The description of REST, in JSON.
    Openapi,
    /// The table of the environment, in Markdown.
    Environment,
}

/// Returns a generated document.
#[must_use]
pub fn render(which: Document) -> String {
    match which {
        Document::Tools => tools(),
        Document::Openapi => format!("{:#}\n", openapi::document(&Registry::standard())),
        Document::Environment => environment(),
    }
}

fn environment() -> String {
    let mut page = "| variable | meaning | default |\n|---|---|---|\n".to_owned();
    for variable in ENVIRONMENT {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} |",
            variable.name, variable.meaning, variable.default
        );
    }
    page
}

fn tools() -> String {
    let mut page = "# Tools\n".to_owned();
    let registry = Registry::standard();
    for action in registry.iter().filter(|action| action.is_tool()) {
        tool(&mut page, action);
    }
    page.push_str(
        "\n# For programs\n\nOver REST only, at `POST /api/v1/<name>`: no client's model is offered them.\n",
    );
    for action in registry.iter().filter(|action| !action.is_tool()) {
        tool(&mut page, action);
    }
    page
}

fn tool(page: &mut String, action: &Action) {
    let facts = &action.facts;
    let hints = facts.hints;
    let mut words = vec![if hints.read_only {
        "read-only"
    } else {
        "write"
    }];
    if hints.destructive {
        words.push("destructive");
    }
    if hints.idempotent {
        words.push("idempotent");
    }
    // Writing to a String can't fail.
    let _ = write!(
        page,
        "\n## `{}`\n\n{}\n\nNeeds the scope `{}`{}; {}.\n\n| argument | type | meaning |\n|---|---|---|\n",
        facts.name,
        facts.description,
        facts.scope.name(),
        if action.can_ask() {
            ", or a person who is asked over stdio"
        } else {
            ""
        },
        words.join(", ")
    );
    let required: Vec<&str> = strings(action.input.get("required"));
    let properties = action.input.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        let star = if required.contains(&name.as_str()) {
            " (required)"
        } else {
            ""
        };
        let meaning = schema
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let _ = writeln!(page, "| `{name}`{star} | {} | {meaning} |", type_of(schema));
    }
}

fn type_of(schema: &Value) -> String {
    let choices = strings(schema.get("enum"));
    if !choices.is_empty() {
        return format!("`{}`", choices.join("`, `"));
    }
    let mut text = schema
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or("any")
        .to_owned();
    let bound = |name: &str| schema.get(name).map(ToString::to_string);
    match (bound("minimum"), bound("maximum")) {
        (Some(low), Some(high)) => text.push_str(&format!(" {low} to {high}")),
        (Some(low), None) => text.push_str(&format!(" from {low}")),
        _ => {}
    }
    for (keyword, words) in [("maxLength", "characters"), ("maxItems", "entries")] {
        if let Some(most) = bound(keyword) {
            text.push_str(&format!(", at most {most} {words}"));
        }
    }
    text
}

fn strings(value: Option<&Value>) -> Vec<&str> {
    value
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_name_everything() {
        let page = render(Document::Tools);
        for name in [
            "## `remember`",
            "`content` (required)",
            "integer 1 to 50",
            "`decision`",
        ] {
            assert!(page.contains(name), "{name}");
        }
        assert!(render(Document::Environment).contains("| `MMW_LISTEN` |"));
        assert!(render(Document::Openapi).starts_with("{\n"));
    }
}
