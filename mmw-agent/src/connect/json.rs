//! Edits of JSON as people write it: comments, trailing commas, order and layout stay.

use std::borrow::Cow;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value};

use super::edit::{EditError, Part, What, is_our_handler, is_our_server};
use super::wide;

/// The list of handlers in a group of hooks.
const HANDLERS: &str = "hooks";

pub(super) fn put(text: &str, part: &Part, replace: bool) -> Result<String, EditError> {
    let (text, is_done) = put_in_wide(text, part);
    let text = text.as_ref();
    let root = parsed(text)?;
    if is_done {
        return Ok(text.to_owned());
    }
    let top = top(&root)?;
    match &part.what {
        What::Server { name, value } => {
            let servers = object_at(&top, &part.path)?;
            put_server(&servers, name, value, replace, &part.path)?;
        }
        What::Hook {
            handler,
            is_grouped,
            beside,
        } => put_hook(&top, part, handler, *is_grouped, beside)?,
    }
    let mut edited = root.to_string();
    if text.is_empty() && !edited.ends_with('\n') {
        edited.push('\n');
    }
    Ok(edited)
}

/// Puts into objects with very many members on one line what goes there. Tells whether that was all.
fn put_in_wide<'t>(text: &'t str, part: &Part) -> (Cow<'t, str>, bool) {
    let options = options();
    match &part.what {
        What::Server { name, value } => {
            let value = Value::Object(value.clone());
            let edited = wide::put_member(text, &options, &part.path, name, &value);
            edited.map_or((text.into(), false), |edited| (edited.into(), true))
        }
        What::Hook {
            handler,
            is_grouped,
            beside,
        } => {
            let mut text = Cow::Borrowed(text);
            for (name, value) in beside {
                let edited = wide::put_member(&text, &options, &[], name, value);
                text = edited.map_or(text, Cow::Owned);
            }
            let Some((list, above)) = part.path.split_last() else {
                return (text, false);
            };
            let value = Value::Array(vec![element(handler, *is_grouped)]);
            let edited = wide::put_member(&text, &options, above, list, &value);
            edited.map_or((text, false), |edited| (edited.into(), true))
        }
    }
}

pub(super) fn take_out(text: &str, part: &Part) -> Result<String, EditError> {
    let root = parsed(text)?;
    if root.value().is_none() {
        return Ok(text.to_owned());
    }
    let top = top(&root)?;
    match &part.what {
        What::Server { .. } => take_out_servers(&top, &part.path),
        What::Hook { is_grouped, .. } => take_out_hook(&top, part, *is_grouped),
    }
    Ok(root.to_string())
}

/// Whatever a person called it, it is this program.
fn take_out_servers(top: &CstObject, path: &[&str]) {
    let Some(servers) = existing(top, path) else {
        return;
    };
    let is_ours = |server: &CstObjectProp| {
        let value = server.value().and_then(|value| value.to_serde_value());
        value.as_ref().is_some_and(is_our_server)
    };
    let ours: Vec<CstObjectProp> = servers.properties().into_iter().filter(is_ours).collect();
    let has_ours = !ours.is_empty();
    for server in ours {
        server.remove();
    }
    if has_ours {
        remove_empty(top, path);
    }
}

/// Returns what a program reads.
pub(super) fn read(text: &str) -> Result<Value, EditError> {
    Ok(parsed(text)?.to_serde_value().unwrap_or_default())
}

fn options() -> ParseOptions {
    ParseOptions {
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
        ..ParseOptions::default()
    }
}

fn parsed(text: &str) -> Result<CstRootNode, EditError> {
    CstRootNode::parse(text, &options()).map_err(|error| EditError::Broken {
        syntax: "JSON",
        what: error.to_string(),
    })
}

fn top(root: &CstRootNode) -> Result<CstObject, EditError> {
    root.object_value_or_create()
        .ok_or_else(|| EditError::shape(&["the whole file"], "no object"))
}

/// Returns the object that names lead to, making what is missing.
fn object_at(top: &CstObject, path: &[&str]) -> Result<CstObject, EditError> {
    let mut object = top.clone();
    for (nth, name) in path.iter().enumerate() {
        let here = &path[..=nth];
        only_one(&object, name, here)?;
        object = object
            .object_value_or_create(name)
            .ok_or_else(|| EditError::shape(here, "no object"))?;
    }
    Ok(object)
}

/// Of a name that is there twice, one reader takes the first and another the last.
fn only_one(object: &CstObject, name: &str, path: &[&str]) -> Result<(), EditError> {
    let properties = object.properties().into_iter();
    let named = properties.filter(|property| property.decoded_name().as_deref() == Some(name));
    if named.count() > 1 {
        return Err(EditError::shape(path, "there twice"));
    }
    Ok(())
}

fn existing(top: &CstObject, path: &[&str]) -> Option<CstObject> {
    let mut object = top.clone();
    for name in path {
        object = object.object_value(name)?;
    }
    Some(object)
}

fn put_server(
    servers: &CstObject,
    name: &str,
    value: &Map<String, Value>,
    replace: bool,
    path: &[&str],
) -> Result<(), EditError> {
    let whole: Vec<&str> = path.iter().copied().chain([name]).collect();
    only_one(servers, name, &whole)?;
    let Some(server) = servers.get(name) else {
        servers.append(name, input(&Value::Object(value.clone())));
        return Ok(());
    };
    let is_ours = server.to_serde_value().as_ref().is_some_and(is_our_server);
    match server.object_value() {
        Some(object) if is_ours => merge(&object, value),
        _ if replace => server.set_value(input(&Value::Object(value.clone()))),
        _ => {
            return Err(EditError::Taken {
                name: name.to_owned(),
            });
        }
    }
    Ok(())
}

/// Brings an object up to date, member by member; others stay.
fn merge(object: &CstObject, wanted: &Map<String, Value>) {
    for (name, value) in wanted {
        match (object.get(name), value) {
            (None, _) => {
                object.append(name, input(value));
            }
            (Some(member), Value::Object(inner)) if member.object_value().is_some() => {
                if let Some(object) = member.object_value() {
                    merge(&object, inner);
                }
            }
            (Some(member), _) => {
                if member.to_serde_value().as_ref() != Some(value) {
                    member.set_value(input(value));
                }
            }
        }
    }
}

fn put_hook(
    top: &CstObject,
    part: &Part,
    handler: &Map<String, Value>,
    is_grouped: bool,
    beside: &[(&str, Value)],
) -> Result<(), EditError> {
    let Some((list, above)) = part.path.split_last() else {
        return Ok(());
    };
    for (name, value) in beside {
        if top.get(name).is_none() {
            top.append(name, input(value));
        }
    }
    let object = object_at(top, above)?;
    only_one(&object, list, &part.path)?;
    let array = object
        .array_value_or_create(list)
        .ok_or_else(|| EditError::shape(&part.path, "no list"))?;
    let ours = handlers(&array, is_grouped).into_iter().find(|handler| {
        handler
            .to_serde_value()
            .as_ref()
            .is_some_and(is_our_handler)
    });
    if let Some(ours) = ours.and_then(|node| node.as_object()) {
        // Only what starts the program: a time limit is the person's to change.
        let starts = ["command", "args", "bash", "powershell"];
        let starts = handler
            .iter()
            .filter(|(name, _)| starts.contains(&name.as_str()));
        let starts = starts.map(|(name, value)| (name.clone(), value.clone()));
        merge(&ours, &starts.collect());
        return Ok(());
    }
    array.ensure_multiline();
    array.append(input(&element(handler, is_grouped)));
    Ok(())
}

/// Returns what is in the list.
fn element(handler: &Map<String, Value>, is_grouped: bool) -> Value {
    let handler = Value::Object(handler.clone());
    if is_grouped {
        serde_json::json!({ HANDLERS: [handler] })
    } else {
        handler
    }
}

/// Returns the handlers of a list, or of all groups of a list.
fn handlers(array: &CstArray, is_grouped: bool) -> Vec<CstNode> {
    let elements = array.elements();
    if !is_grouped {
        return elements;
    }
    let groups = elements.into_iter().filter_map(|node| node.as_object());
    groups
        .filter_map(|group| group.array_value(HANDLERS))
        .flat_map(|inner| inner.elements())
        .collect()
}

fn take_out_hook(top: &CstObject, part: &Part, is_grouped: bool) {
    let Some((list, above)) = part.path.split_last() else {
        return;
    };
    let Some(object) = existing(top, above) else {
        return;
    };
    let Some(array) = object.array_value(list) else {
        return;
    };
    let is_ours = |node: &CstNode| node.to_serde_value().as_ref().is_some_and(is_our_handler);
    let mut has_removed = false;
    for element in array.elements() {
        if !is_grouped {
            if is_ours(&element) {
                element.remove();
                has_removed = true;
            }
            continue;
        }
        let inner = element
            .as_object()
            .and_then(|group| group.array_value(HANDLERS));
        let Some(inner) = inner else { continue };
        let mut was_here = false;
        for handler in inner.elements() {
            if is_ours(&handler) {
                handler.remove();
                was_here = true;
            }
        }
        has_removed |= was_here;
        if was_here && inner.elements().is_empty() && !has_comment(&inner.into()) {
            element.remove();
        }
    }
    if has_removed && array.elements().is_empty() && !has_comment(&array.into()) {
        if let Some(property) = object.get(list) {
            property.remove();
        }
        remove_empty(top, above);
    }
}

/// Removes what names lead to as far as it is empty now, from the inside.
fn remove_empty(top: &CstObject, path: &[&str]) {
    let Some((name, above)) = path.split_last() else {
        return;
    };
    let Some(outer) = existing(top, above) else {
        return;
    };
    let Some(property) = outer.get(name) else {
        return;
    };
    let is_empty = property
        .object_value()
        .is_some_and(|object| object.properties().is_empty() && !has_comment(&object.into()));
    if is_empty {
        property.remove();
        remove_empty(top, above);
    }
}

fn has_comment(node: &CstNode) -> bool {
    node.children().iter().any(CstNode::is_comment)
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(yes) => CstInputValue::Bool(*yes),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(elements) => CstInputValue::Array(elements.iter().map(input).collect()),
        Value::Object(members) => CstInputValue::Object(
            members
                .iter()
                .map(|(name, value)| (name.clone(), input(value)))
                .collect(),
        ),
    }
}
