//! Edits of TOML: comments, order and layout stay.

use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, value};

use super::edit::{EditError, Part, What, is_our_server};

pub(super) fn put(text: &str, part: &Part, replace: bool) -> Result<String, EditError> {
    let mut document = parsed(text)?;
    // No client keeps hooks of ours in TOML.
    let What::Server { name, value } = &part.what else {
        return Ok(text.to_owned());
    };
    let mut servers: &mut dyn TableLike = document.as_table_mut();
    for (nth, step) in part.path.iter().enumerate() {
        let item = servers.entry(step).or_insert_with(|| {
            let mut table = Table::new();
            // `[mcp_servers.mmw]` says it all; a line `[mcp_servers]` above it would say nothing.
            table.set_implicit(true);
            Item::Table(table)
        });
        servers = item
            .as_table_like_mut()
            .ok_or_else(|| EditError::shape(&part.path[..=nth], "no table"))?;
    }
    match servers.get_mut(name) {
        None => {
            servers.insert(name, Item::Table(table_of(value)));
        }
        Some(item) => {
            let is_ours = is_our_server(&read(item));
            match item.as_table_like_mut() {
                Some(table) if is_ours => merge(table, value),
                _ if replace => *item = Item::Table(table_of(value)),
                _ => return Err(EditError::Taken { name: name.clone() }),
            }
        }
    }
    Ok(document.to_string())
}

pub(super) fn take_out(text: &str, part: &Part) -> Result<String, EditError> {
    let mut document = parsed(text)?;
    if matches!(part.what, What::Hook { .. }) {
        return Ok(text.to_owned());
    }
    let mut servers: &mut dyn TableLike = document.as_table_mut();
    for step in &part.path {
        let Some(inner) = servers.get_mut(step).and_then(Item::as_table_like_mut) else {
            return Ok(text.to_owned());
        };
        servers = inner;
    }
    // Whatever a person called it, it is this program.
    let servers_of_ours = servers
        .iter()
        .filter(|(_, item)| is_our_server(&read(item)));
    let names: Vec<String> = servers_of_ours.map(|(name, _)| name.to_owned()).collect();
    if names.is_empty() {
        return Ok(text.to_owned());
    }
    for name in names {
        servers.remove(&name);
    }
    Ok(document.to_string())
}

/// Returns what a program reads.
pub(super) fn read_all(text: &str) -> Result<Value, EditError> {
    Ok(read(parsed(text)?.as_item()))
}

fn parsed(text: &str) -> Result<DocumentMut, EditError> {
    text.parse()
        .map_err(|error: toml_edit::TomlError| EditError::Broken {
            syntax: "TOML",
            what: format!(
                "{}{}",
                error.message(),
                place(text, error.span().map(|span| span.start))
            ),
        })
}

fn place(text: &str, at: Option<usize>) -> String {
    let before = at.and_then(|at| text.get(..at));
    before.map_or_else(String::new, |before| {
        format!(" on line {}", before.matches('\n').count() + 1)
    })
}

fn table_of(members: &Map<String, Value>) -> Table {
    let mut table = Table::new();
    merge(&mut table, members);
    table
}

/// Brings a table up to date, member by member; others stay.
fn merge(table: &mut dyn TableLike, wanted: &Map<String, Value>) {
    for (name, new) in wanted {
        match (table.get_mut(name), new) {
            (Some(item), Value::Object(inner)) if item.is_table_like() => {
                if let Some(table) = item.as_table_like_mut() {
                    merge(table, inner);
                }
            }
            (Some(item), _) if read(item) == *new => {}
            _ => {
                table.insert(name, value(written(new)));
            }
        }
    }
}

/// Returns a value as TOML writes it; nothing of ours is a number with a fraction, or null.
fn written(value: &Value) -> toml_edit::Value {
    match value {
        Value::Null => "".into(),
        Value::Bool(yes) => (*yes).into(),
        Value::Number(number) => number.as_i64().unwrap_or_default().into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(elements) => elements.iter().map(written).collect::<Array>().into(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.as_str(), written(value)))
            .collect::<InlineTable>()
            .into(),
    }
}

/// Returns what a program reads there.
fn read(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => read_value(value),
        Item::Table(table) => object(table.iter().map(|(name, item)| (name, read(item)))),
        Item::ArrayOfTables(_) => Value::Null,
    }
}

fn read_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Boolean(yes) => (*yes.value()).into(),
        toml_edit::Value::Array(elements) => elements.iter().map(read_value).collect(),
        toml_edit::Value::InlineTable(table) => {
            object(table.iter().map(|(name, value)| (name, read_value(value))))
        }
        // Nothing of ours is one of these, so that they equal nothing of ours.
        toml_edit::Value::Float(_) | toml_edit::Value::Datetime(_) => Value::Null,
    }
}

fn object<'a>(members: impl Iterator<Item = (&'a str, Value)>) -> Value {
    Value::Object(
        members
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}
