//! What connecting and disconnecting does to one file: first what it would be, then the deed.

use std::path::{Path, PathBuf};

use super::client::{Client, Setting};
use super::edit::{self, What};
use super::file::{self, Found};
use super::ledger::Ledger;

/// What is to become of one file.
#[derive(Debug)]
pub(crate) struct Change {
    /// The file as it is.
    pub(crate) found: Found,
    /// What is to be in it; `None` if there is to be none.
    pub(crate) after: Option<String>,
    /// What of ours it is about, in words.
    pub(crate) what: Vec<&'static str>,
    /// It comes to be as it was before, byte for byte.
    pub(crate) is_exact: bool,
    has_ours: bool,
}

/// A file that is left as it is.
#[derive(Debug)]
pub(crate) struct Refused {
    /// The file.
    pub(crate) file: PathBuf,
    /// Why.
    pub(crate) why: String,
    /// Another server has our name: the person may want it replaced.
    pub(crate) is_taken: bool,
}

impl Refused {
    fn new(file: &Path, error: &dyn std::error::Error) -> Self {
        Self {
            file: file.to_path_buf(),
            why: crate::exit::chain(error),
            is_taken: false,
        }
    }
}

impl Change {
    /// Tells whether there is nothing to do.
    pub(crate) fn is_nothing(&self) -> bool {
        self.after == self.found.text
    }

    /// Returns what the file is now, as text.
    pub(crate) fn before(&self) -> &str {
        self.found.text.as_deref().unwrap_or_default()
    }
}

/// Returns what connecting a client would do, a change or refusal for each of its files.
pub(crate) fn to_connect(settings: &[Setting], replace: bool) -> Vec<Result<Change, Refused>> {
    by_file(settings)
        .into_iter()
        .map(|(path, settings)| {
            let found = file::read(path).map_err(|error| Refused::new(path, &error))?;
            let mut text = found.text.clone().unwrap_or_default();
            let mut has_ours = false;
            for setting in &settings {
                let refused = |error: edit::EditError| Refused {
                    is_taken: matches!(error, edit::EditError::Taken { .. }),
                    ..Refused::new(path, &error)
                };
                let Setting { syntax, part, .. } = setting;
                let without = edit::take_out(&text, *syntax, part).map_err(refused)?;
                has_ours |= without != text;
                text = edit::put(&text, *syntax, part, replace).map_err(refused)?;
            }
            Ok(Change {
                after: Some(text),
                what: what(&settings),
                is_exact: false,
                has_ours,
                found,
            })
        })
        .collect()
}

/// Returns what disconnecting a client would do, a change or refusal for each of its files.
pub(crate) fn to_disconnect(
    settings: &[Setting],
    home: &Path,
    ledger: &Ledger,
) -> Vec<Result<Change, Refused>> {
    by_file(settings)
        .into_iter()
        .map(|(path, settings)| {
            let found = file::read(path).map_err(|error| Refused::new(path, &error))?;
            let original = ledger
                .original(home, &found)
                .map_err(|error| Refused::new(path, &error))?;
            let is_exact = original.is_some();
            let after = match original {
                Some(original) => original,
                None => without(&found, &settings, ledger)
                    .map_err(|error| Refused::new(path, &error))?,
            };
            Ok(Change {
                after,
                what: what(&settings),
                is_exact,
                has_ours: true,
                found,
            })
        })
        .collect()
}

/// Returns a file's text without what is ours; none if nothing is left of a file that we made.
fn without(
    found: &Found,
    settings: &[&Setting],
    ledger: &Ledger,
) -> Result<Option<String>, edit::EditError> {
    let Some(mut text) = found.text.clone() else {
        return Ok(None);
    };
    for setting in settings {
        text = edit::take_out(&text, setting.syntax, &setting.part)?;
    }
    let is_empty = matches!(text.trim(), "" | "{}");
    let is_left = !(is_empty && ledger.was_made(&found.path));
    Ok(is_left.then_some(text))
}

/// Does it, and notes first how to undo it. Returns where a copy of the file is kept, if there was one.
pub(crate) fn connect(
    change: &Change,
    client: &Client,
    home: &Path,
    ledger: &mut Ledger,
) -> Result<Option<PathBuf>, Refused> {
    let path = &change.found.path;
    let refused = |error: file::FileError| Refused::new(path, &error);
    let after = change.after.as_deref().unwrap_or_default();
    let known = ledger.done(path).cloned();
    let noted = ledger.note(home, client.id, &change.found, after, change.has_ours);
    let copy = noted.map_err(|error| Refused {
        why: format!("a copy can't be kept of it: {}", crate::exit::chain(&error)),
        ..Refused::new(path, &error)
    })?;
    if let Err(error) = file::replace(&change.found, Some(after)) {
        // The copy of a file that was left as it is would lie there for ever.
        let _ = ledger.take_back(home, path, known);
        return Err(refused(error));
    }
    Ok(copy)
}

/// Does it, and forgets how it was.
pub(crate) fn disconnect(change: &Change, home: &Path, ledger: &mut Ledger) -> Result<(), Refused> {
    let path = &change.found.path;
    let refused = |error: file::FileError| Refused::new(path, &error);
    if !change.is_nothing() {
        file::replace(&change.found, change.after.as_deref()).map_err(refused)?;
    }
    ledger.forget(home, path).map_err(refused)
}

/// Settings of one file belong together: they are put into it at once.
fn by_file(settings: &[Setting]) -> Vec<(&Path, Vec<&Setting>)> {
    let mut files: Vec<(&Path, Vec<&Setting>)> = Vec::new();
    for setting in settings {
        match files.iter_mut().find(|(path, _)| *path == setting.file) {
            Some((_, settings)) => settings.push(setting),
            None => files.push((&setting.file, vec![setting])),
        }
    }
    files
}

fn what(settings: &[&Setting]) -> Vec<&'static str> {
    let name = |setting: &&Setting| match setting.part.what {
        What::Server { .. } => "the server `mmw`",
        What::Hook { .. } => "the Stop hook",
    };
    settings.iter().map(name).collect()
}

#[cfg(test)]
mod tests;
