//! What of ours is in a client's settings now, under whatever name.

use std::path::PathBuf;

use serde_json::Value;

use super::client::Setting;
use super::edit::{EditError, Syntax, What, is_our_handler, is_our_server};
use super::{file, json, lines, toml};

/// A server or a hook of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Registered {
    /// The file that it is in.
    pub(crate) file: PathBuf,
    /// The server's name; none for a hook.
    pub(crate) server: Option<String>,
    /// The program as it is started: a path, or a name that is looked for on the path.
    pub(crate) program: String,
}

/// Returns what is registered in the file of a setting, of the kind that the setting is of.
///
/// # Errors
/// A sentence, if the file can't be read.
pub(crate) fn registered(setting: &Setting) -> Result<Vec<Registered>, String> {
    registered_at(setting, &setting.part.path)
}

/// Returns what is registered in the file of a setting at another place in it, of the kind that the setting
/// is of.
///
/// # Errors
/// A sentence, if the file can't be read.
pub(crate) fn registered_at(setting: &Setting, path: &[&str]) -> Result<Vec<Registered>, String> {
    let found = file::read(&setting.file).map_err(|error| crate::exit::chain(&error))?;
    let Some(text) = found.text else {
        return Ok(Vec::new());
    };
    let value = read(&text, setting.syntax).map_err(|error| error.to_string())?;
    let place = path.iter().fold(&value, |value, name| {
        value.get(*name).unwrap_or(&Value::Null)
    });
    let one = |server: Option<String>, program: String| Registered {
        file: setting.file.clone(),
        server,
        program,
    };
    Ok(match &setting.part.what {
        What::Server { .. } => {
            let servers = place.as_object().into_iter().flatten();
            servers
                .filter(|(_, value)| is_our_server(value))
                .map(|(name, value)| one(Some(name.clone()), program(value, false)))
                .collect()
        }
        What::Hook { .. } => {
            let mut handlers = Vec::new();
            for element in place.as_array().into_iter().flatten() {
                match element.get("hooks").and_then(Value::as_array) {
                    Some(inner) => handlers.extend(inner),
                    None => handlers.push(element),
                }
            }
            let ours = handlers
                .into_iter()
                .filter(|handler| is_our_handler(handler));
            ours.map(|handler| one(None, program(handler, true)))
                .collect()
        }
    })
}

fn read(text: &str, syntax: Syntax) -> Result<Value, EditError> {
    let (plain, _) = lines::plain(text);
    match syntax {
        Syntax::Json => json::read(&plain),
        Syntax::Toml => toml::read_all(&plain),
    }
}

/// Returns the program that an entry starts; a hook may say it as a command line.
fn program(value: &Value, is_hook: bool) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match value.get("command").or_else(|| value.get("bash")) {
        Some(Value::Array(words)) => words.first().map(text).unwrap_or_default(),
        Some(command) if !is_hook || value.get("args").is_some() => text(command),
        Some(line) => super::entry::program_of(&text(line)),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::client::ALL;
    use super::super::entry::Entry;
    use super::super::places::{Places, System};
    use super::*;

    #[test]
    fn what_was_put_there_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().as_os_str().to_owned();
        let places = Places::of(System::Unix, |name| (name == "HOME").then(|| home.clone()));
        let entry = Entry {
            program: "/a b/mmw-agent".to_owned(),
            environment: Vec::new(),
            system: System::Unix,
        };
        for client in ALL {
            let settings = client.settings(&places, &entry, true);
            for setting in &settings {
                assert_eq!(registered(setting), Ok(Vec::new()), "{}", client.id);
            }
            for setting in &settings {
                let found = file::read(&setting.file).unwrap();
                let text = found.text.clone().unwrap_or_default();
                let text = super::super::edit::put(&text, setting.syntax, &setting.part, false);
                file::replace(&found, Some(&text.unwrap())).unwrap();
            }
            for setting in &settings {
                let ours = registered(setting).unwrap();
                let [ours] = ours.as_slice() else {
                    panic!("{}: {ours:?}", client.id);
                };
                assert_eq!(ours.program, "/a b/mmw-agent", "{}", client.id);
                let is_server = matches!(setting.part.what, What::Server { .. });
                assert_eq!(ours.server.is_some(), is_server);
            }
        }
    }
}
