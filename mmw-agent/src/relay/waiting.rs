//! What waits for the server, entry by entry, as a person looks at it who decides what becomes of it. It is for
//! that person's own screen: a log or an error never holds a word of an entry.

use mmw_core::time::Timestamp;
use mmw_hooks::spool::{Entry, Spool, SpoolError};
use serde_json::{Value, json};

/// The most of a write that is shown, in characters.
const MAX_CHARS: usize = 120;

/// A write that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// By what a person names it.
    pub(crate) number: u64,
    /// What is to be done; empty if its file can't be read.
    pub(crate) action: String,
    /// When it was said.
    pub(crate) queued_at: Option<Timestamp>,
    /// What it is about, shortened.
    pub(crate) about: String,
}

impl Waiting {
    /// Returns it for programs.
    pub(crate) fn in_figures(&self) -> Value {
        json!({
            "number": self.number, "action": self.action, "about": self.about,
            "queued_at": self.queued_at.map(|moment| moment.to_string()),
        })
    }
}

/// Returns the first `n` that wait, oldest first, and how many do in all.
///
/// # Errors
/// If the folder can't be read.
pub(super) fn list(spool: &Spool, n: usize) -> Result<(Vec<Waiting>, usize), SpoolError> {
    let names = spool.waiting()?;
    let mut listed = Vec::new();
    for name in names.iter().take(n) {
        let entry = spool.read(*name)?;
        listed.push(Waiting {
            number: name.number(),
            queued_at: entry.as_ref().map(|entry| entry.queued_at),
            about: entry.as_ref().map(about).unwrap_or_default(),
            action: entry.map(|entry| entry.action).unwrap_or_default(),
        });
    }
    Ok((listed, names.len()))
}

/// Returns what an entry is about: a statement, or what is to be forgotten.
fn about(entry: &Entry) -> String {
    let text = ["content", "memory_id", "source_id"]
        .iter()
        .find_map(|name| entry.arguments.get(*name)?.as_str())
        .unwrap_or_default();
    crate::show::clean::snippet(text, MAX_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_are_listed_with_what_they_are_about_and_all_are_counted() {
        let home = tempfile::tempdir().unwrap();
        let spool = Spool::open(home.path(), "https://mmw.example").unwrap();
        let entry = |action: &str, arguments: Value| Entry {
            action: action.to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            envelope: json!({"idempotency_key": "k"})
                .as_object()
                .cloned()
                .unwrap_or_default(),
            queued_at: Timestamp::from_ms(7),
        };
        let long = format!("staging\n\u{1b}[2Jruns in {}", "docker ".repeat(100));
        for one in [
            entry("remember", json!({ "content": long })),
            entry("forget", json!({"source_id": "docs/old.md"})),
            entry("forget", json!({"memory_id": "0192"})),
        ] {
            spool.put(&one).unwrap();
        }
        let (listed, n) = list(&spool, 2).unwrap();
        assert_eq!((listed.len(), n), (2, 3));
        assert!(
            listed[0].about.starts_with("staging"),
            "{}",
            listed[0].about
        );
        assert!(!listed[0].about.contains(['\n', '\u{1b}']));
        assert!(listed[0].about.chars().count() <= MAX_CHARS + 1);
        assert_eq!(
            (listed[1].number, listed[1].about.as_str()),
            (2, "docs/old.md")
        );
        assert_eq!(listed[1].queued_at, Some(Timestamp::from_ms(7)));
    }
}
