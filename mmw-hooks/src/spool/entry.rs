//! One write that waits: what is to be done, for which endpoint, with the id and the key that it keeps.
//!
//! Its file is one JSON object:
//!
//! ```json
//! {"format":1,"action":"remember","endpoint":"https://mmw.example","queued_at":"2026-03-14T09:30:00Z",
//!  "envelope":{"idempotency_key":"…","proposed_id":"…","recorded_at":"…"},"arguments":{}}
//! ```
//!
//! A refused one has `"refused":{"why":"…","at":"…"}` too. A field that is not known is kept.

use std::fmt;

use mmw_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::error::SpoolError;
use super::pace::Note;

/// The form of the file. A program that finds a larger number leaves the file alone.
const FORMAT: u64 = 1;

/// The longest name of an action and the longest idempotency key, in bytes.
pub const MAX_NAME_BYTES: usize = 256;

/// A write that waits to be sent.
#[derive(Clone, PartialEq)]
pub struct Entry {
    /// What is to be done, such as `remember`, `forget` or `capture_tool_use`.
    pub action: String,
    /// The arguments of the action. Secrets are to be replaced before: they are written as they are.
    pub arguments: Map<String, Value>,
    /// What the agent adds to the write. `idempotency_key` must be there: it makes a second sending
    /// harmless. `proposed_id` is the id that the record will have, `recorded_at` when it was said.
    pub envelope: Map<String, Value>,
    /// When it was queued. The order of entries does not depend on it.
    pub queued_at: Timestamp,
}

/// What an entry is about is nobody's business but the server's.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("action", &self.action)
            .field("queued_at", &self.queued_at)
            .finish_non_exhaustive()
    }
}

impl Entry {
    /// Returns the key that makes a second sending harmless.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&str> {
        let key = self.envelope.get("idempotency_key")?.as_str()?;
        (!key.is_empty() && key.len() <= MAX_NAME_BYTES).then_some(key)
    }

    /// Returns the content of its file.
    ///
    /// # Errors
    /// [`SpoolError::Invalid`] if it has no name or no key, or could not be read again.
    pub(super) fn to_bytes(&self, endpoint: &str) -> Result<Vec<u8>, SpoolError> {
        if self.action.is_empty() || self.action.len() > MAX_NAME_BYTES {
            return Err(SpoolError::Invalid(
                "its action needs a name of 1 to 256 bytes",
            ));
        }
        if self.idempotency_key().is_none() {
            return Err(SpoolError::Invalid(
                "its envelope needs an idempotency_key of 1 to 256 bytes: without one a second sending would write twice",
            ));
        }
        let file = json!({
            "format": FORMAT,
            "action": self.action,
            "endpoint": endpoint,
            "queued_at": self.queued_at.to_string(),
            "envelope": self.envelope,
            "arguments": self.arguments,
        });
        let bytes = line(&file);
        // What is nested too deeply can be written, but not read: better refused than lost.
        match Stored::read(&bytes, endpoint) {
            Ok(stored) if stored.entry == *self => Ok(bytes),
            _ => Err(SpoolError::Invalid(
                "it would not be the same when it is read again; it may be nested too deeply",
            )),
        }
    }
}

/// An entry as it is in its file.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) entry: Entry,
    /// Why it was refused the last time, if it was.
    pub(super) refused: Option<Note>,
    file: Map<String, Value>,
}

impl Stored {
    /// Reads the content of a file; says in words without its content why it can't.
    pub(super) fn read(bytes: &[u8], endpoint: &str) -> Result<Self, String> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err("it is empty".to_owned());
        }
        let file: Value = serde_json::from_slice(bytes).map_err(|error| {
            if error.is_eof() {
                return "it ends in the middle".to_owned();
            }
            let (row, column) = (error.line(), error.column());
            format!("it is not JSON from line {row}, column {column} on")
        })?;
        let Value::Object(file) = file else {
            return Err("it is not a JSON object".to_owned());
        };
        match file.get("format").and_then(Value::as_u64) {
            Some(FORMAT) => {}
            Some(other) => return Err(format!("it has format {other}, not {FORMAT}")),
            None => return Err("it does not say its format".to_owned()),
        }
        let text = |name: &str| file.get(name).and_then(Value::as_str);
        let object = |name: &str| {
            let value = file.get(name).and_then(Value::as_object).cloned();
            value.ok_or_else(|| format!("`{name}` is not an object"))
        };
        if text("endpoint") != Some(endpoint) {
            return Err("it is meant for another endpoint".to_owned());
        }
        let action = text("action").filter(|action| !action.is_empty());
        let queued_at = text("queued_at").and_then(|at| Timestamp::parse(at).ok());
        let entry = Entry {
            action: action.ok_or("it names no action")?.to_owned(),
            arguments: object("arguments")?,
            envelope: object("envelope")?,
            queued_at: queued_at.ok_or("it does not say when it was queued")?,
        };
        if entry.idempotency_key().is_none() {
            return Err("its envelope has no idempotency_key".to_owned());
        }
        Ok(Self {
            entry,
            refused: file.get("refused").and_then(Note::from_json),
            file,
        })
    }

    /// Returns the content of its file as one that was refused.
    pub(super) fn to_refused(&self, note: &Note) -> Vec<u8> {
        let mut file = self.file.clone();
        file.insert("refused".to_owned(), note.to_json());
        line(&Value::Object(file))
    }
}

fn line(file: &Value) -> Vec<u8> {
    let mut bytes = file.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDPOINT: &str = "https://mmw.example";

    fn entry(arguments: Value) -> Entry {
        let Value::Object(arguments) = arguments else {
            panic!("arguments are an object");
        };
        let Value::Object(envelope) = json!({ "idempotency_key": "k1", "proposed_id": "0190" })
        else {
            unreachable!()
        };
        Entry {
            action: "remember".to_owned(),
            arguments,
            envelope,
            queued_at: Timestamp::from_ms(1_700_000_000_123),
        }
    }

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let entry = entry(json!({
            "z": 1, "a": [null, true, 0.1, 1e300, "\u{0}\"\\\u{2028}🦀"], "confidence": 0.300_000_000_000_000_04
        }));
        let bytes = entry.to_bytes(ENDPOINT).unwrap();
        let stored = Stored::read(&bytes, ENDPOINT).unwrap();
        assert_eq!(stored.entry, entry);
        let names: Vec<_> = stored.entry.arguments.keys().collect();
        assert_eq!(names, ["z", "a", "confidence"]);
        assert_eq!(stored.refused, None);
    }

    #[test]
    fn a_refused_entry_is_the_same_entry_with_its_reason() {
        let entry = entry(json!({ "content": "x" }));
        let bytes = entry.to_bytes(ENDPOINT).unwrap();
        let note = Note::new("the server answered 400", Timestamp::from_ms(5));
        let refused = Stored::read(&bytes, ENDPOINT).unwrap().to_refused(&note);
        let again = Stored::read(&refused, ENDPOINT).unwrap();
        assert_eq!((again.entry, again.refused), (entry, Some(note)));
    }

    #[test]
    fn what_could_not_be_read_again_is_not_taken() {
        let mut deep = json!({});
        for _ in 0..200 {
            deep = json!({ "d": deep });
        }
        let refused = |entry: &Entry| entry.to_bytes(ENDPOINT).unwrap_err().to_string();
        assert!(refused(&entry(deep)).contains("nested too deeply"));
        for key in [json!(""), json!(7), json!("k".repeat(MAX_NAME_BYTES + 1))] {
            let mut entry = entry(json!({}));
            entry.envelope.insert("idempotency_key".to_owned(), key);
            assert!(refused(&entry).contains("idempotency_key"));
        }
        for action in [String::new(), "a".repeat(MAX_NAME_BYTES + 1)] {
            let entry = Entry {
                action,
                ..entry(json!({}))
            };
            assert!(refused(&entry).contains("action"));
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said_without_its_content() {
        let whole = entry(json!({ "content": "sesame" }))
            .to_bytes(ENDPOINT)
            .unwrap();
        let text = String::from_utf8(whole.clone()).unwrap();
        let changed = |from: &str, to: &str| text.replacen(from, to, 1).into_bytes();
        let cases: [(Vec<u8>, &str); 13] = [
            (Vec::new(), "empty"),
            (b" \n".to_vec(), "empty"),
            (vec![0; 64], "not JSON"),
            (whole[..whole.len() - 2].to_vec(), "ends in the middle"),
            (whole[..20].to_vec(), "ends in the middle"),
            (b"[]".to_vec(), "not a JSON object"),
            (b"\xff\xfe\x00sesame".to_vec(), "not JSON"),
            (changed("\"format\":1", "\"format\":2"), "format 2"),
            (changed("\"format\":1,", ""), "does not say its format"),
            (changed("mmw.example", "evil.example"), "another endpoint"),
            (changed("remember", ""), "names no action"),
            (changed("2023", "in 2023"), "when it was queued"),
            (changed("idempotency_key", "sesame"), "idempotency_key"),
        ];
        for (bytes, reason) in cases {
            let why = Stored::read(&bytes, ENDPOINT).unwrap_err();
            assert!(why.contains(reason), "{why}, not {reason}");
            assert!(!why.contains("sesame"), "{why}");
        }
    }

    #[test]
    fn an_entry_shows_nothing_of_its_content_to_a_log() {
        let shown = format!("{:?}", entry(json!({ "content": "sesame" })));
        assert!(shown.contains("remember"), "{shown}");
        assert!(
            !shown.contains("sesame") && !shown.contains("k1"),
            "{shown}"
        );
    }
}
