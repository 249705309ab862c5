//! An edit of one settings file's text: what we add to it, and how it is taken out again.
//!
//! Both are functions from text to text. To add what is there changes nothing; to take out what was added
//! to a text leaves what the person wrote.

use serde_json::{Map, Value};

use super::entry::{is_our_hook, is_ours};
use super::{json, lines, toml};

/// The syntax of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// JSON, with comments and trailing commas where the person uses them.
    Json,
    /// TOML.
    Toml,
}

/// Something of ours in a settings file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    /// The names that lead to it.
    pub(crate) path: Vec<&'static str>,
    /// What is there.
    pub(crate) what: What,
}

/// What something of ours is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum What {
    /// A server, by its name.
    Server {
        /// The name.
        name: String,
        /// How it is started.
        value: Map<String, Value>,
    },
    /// A hook, one of a list.
    Hook {
        /// What the client runs.
        handler: Map<String, Value>,
        /// The list is of groups, each with its own list `hooks`.
        is_grouped: bool,
        /// What must stand beside the list, such as a version of the format.
        beside: Vec<(&'static str, Value)>,
    },
}

/// Why a settings file was left as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EditError {
    /// The file is not what its name says.
    #[error("it is no valid {syntax}: {what}")]
    Broken {
        /// The syntax.
        syntax: &'static str,
        /// What is wrong, with the place.
        what: String,
    },
    /// Something else is where ours would go.
    #[error("`{path}` in it is {what}")]
    Shape {
        /// The names that lead there.
        path: String,
        /// What it is.
        what: &'static str,
    },
    /// The name is somebody else's.
    #[error("it has a server `{name}` already, which is not this program")]
    Taken {
        /// The name.
        name: String,
    },
}

impl EditError {
    pub(super) fn shape(path: &[&str], what: &'static str) -> Self {
        Self::Shape {
            path: path.join("."),
            what,
        }
    }
}

/// Returns the text with something of ours in it; a part that is there already is brought up to date and
/// keeps what the person added. `replace` lets it take the place of another server of that name.
///
/// # Errors
/// [`EditError`]; what was given is then to be left alone.
pub(crate) fn put(
    text: &str,
    syntax: Syntax,
    part: &Part,
    replace: bool,
) -> Result<String, EditError> {
    let (plain, written) = lines::plain(text);
    let edited = match syntax {
        Syntax::Json => json::put(&plain, part, replace)?,
        Syntax::Toml => toml::put(&plain, part, replace)?,
    };
    Ok(written.restore(&edited))
}

/// Returns the text without what is ours.
///
/// # Errors
/// [`EditError`] if it can't be read.
pub(crate) fn take_out(text: &str, syntax: Syntax, part: &Part) -> Result<String, EditError> {
    let (plain, written) = lines::plain(text);
    let edited = match syntax {
        Syntax::Json => json::take_out(&plain, part)?,
        Syntax::Toml => toml::take_out(&plain, part)?,
    };
    Ok(written.restore(&edited))
}

/// Tells whether a server is this program.
pub(super) fn is_our_server(value: &Value) -> bool {
    let program = match value.get("command") {
        Some(Value::Array(words)) => words.first(),
        other => other,
    };
    program.and_then(Value::as_str).is_some_and(is_ours)
}

/// Tells whether a hook runs this program at the end of a turn.
pub(super) fn is_our_handler(value: &Value) -> bool {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let first = value.get("args").and_then(|args| args.get(0));
    let by_arguments = text("command").is_some_and(is_ours)
        && first.and_then(Value::as_str) == Some(super::entry::STOP);
    by_arguments
        || ["command", "bash"]
            .iter()
            .any(|name| text(name).is_some_and(is_our_hook))
}

#[cfg(test)]
mod tests;
