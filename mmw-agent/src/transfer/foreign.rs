//! What other programs kept, in one shape, whatever it was kept in.

use mmw_core::capture::Classification;
use mmw_core::record::{MAX_LABEL_CHARS, MAX_TAG_CHARS, MAX_TAGS};
use mmw_core::source::MAX_SOURCE_ID_BYTES;
use mmw_core::text::cut_at_char;
use mmw_core::time::Timestamp;
use mmw_core::wire::{EnvelopeArgs, RememberArgs};
use mmw_store::{Arriving, Captured, Foreign, Incoming};

/// A statement as another program kept it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Statement {
    /// The number of its line or entry, from 1.
    pub(crate) line: u64,
    /// Its name there.
    pub(crate) name: String,
    /// What it says.
    pub(crate) content: String,
    /// The file that it is about, if it was taken from one; else its name stands as the source.
    pub(crate) file: Option<String>,
    /// A kind that is known here.
    pub(crate) kind: Option<&'static str>,
    pub(crate) tags: Vec<String>,
    pub(crate) session: Option<String>,
    pub(crate) agent: Option<String>,
    pub(crate) said_at: Option<Timestamp>,
    /// A machine captured it; nobody wrote it.
    pub(crate) is_captured: bool,
}

/// How statements come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum As {
    /// As the program that they come from took them in: what people wrote as records, the rest as
    /// candidates.
    Fitting,
    /// As records, all of them: for a person to say.
    Records,
    /// As candidates, all of them.
    Candidates,
}

/// Returns a statement as it is taken in. `origin` names the program.
pub(crate) fn incoming(
    statement: Statement,
    origin: &str,
    workspace: Option<&str>,
    how: As,
) -> Incoming {
    let waits = match how {
        As::Fitting => statement.is_captured,
        As::Records => false,
        As::Candidates => true,
    };
    let whole_name = format!("import:{origin}:{}", statement.name);
    let args = RememberArgs {
        content: statement.content,
        workspace: workspace.map(str::to_owned),
        kind: statement.kind.map(str::to_owned),
        tags: tags(&statement.tags),
        source: Some(format!("import:{origin}")),
        source_id: statement.file.or_else(|| source_id(&whole_name)),
        ..RememberArgs::default()
    };
    let envelope = EnvelopeArgs {
        session_id: statement.session.as_deref().and_then(label),
        agent: statement.agent.as_deref().and_then(label),
        client: Some(concat!("mmw-agent ", env!("CARGO_PKG_VERSION")).to_owned()),
        ..EnvelopeArgs::default()
    };
    let candidate = waits.then(|| Captured {
        classification: match statement.kind {
            Some("decision") => Classification::Decision,
            Some("preference") => Classification::Preference,
            Some("context" | "summary") => Classification::Context,
            _ => Classification::Fact,
        },
        why_durable: format!("{origin} kept it"),
    });
    Incoming {
        line: statement.line,
        what: Arriving::Foreign(Box::new(Foreign {
            name: whole_name,
            args,
            envelope,
            said_at: statement.said_at,
            candidate,
        })),
    }
}

/// Returns an entry that could not be read.
pub(crate) fn broken(line: u64, why: &str) -> Incoming {
    Incoming {
        line,
        what: Arriving::Broken(why.to_owned()),
    }
}

/// Returns a text on one line, without what a name may not hold.
fn one_line(text: &str) -> String {
    let spaced: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn source_id(name: &str) -> Option<String> {
    let name = one_line(name);
    let name = cut_at_char(&name, MAX_SOURCE_ID_BYTES).trim();
    (!name.is_empty()).then(|| name.to_owned())
}

fn label(text: &str) -> Option<String> {
    let line: String = one_line(text).chars().take(MAX_LABEL_CHARS).collect();
    let line = line.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// Returns the tags that can be tags here; those that are too long are left out, not cut.
fn tags(given: &[String]) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for tag in given {
        let tag = one_line(tag);
        let fits = !tag.is_empty() && tag.chars().count() <= MAX_TAG_CHARS;
        if fits && !tags.contains(&tag) && tags.len() < MAX_TAGS {
            tags.push(tag);
        }
    }
    tags
}

/// Reads a moment as JSON files have it: RFC 3339, with or without a zone (then it is UTC), or seconds or
/// milliseconds since 1970.
pub(crate) fn moment(value: &serde_json::Value) -> Option<Timestamp> {
    /// Seconds beyond this are milliseconds: it is the year 5138.
    const MOST_SECONDS: f64 = 1e11;
    match value {
        serde_json::Value::String(text) => {
            let text = text.trim();
            let read = Timestamp::parse(text)
                .or_else(|_| Timestamp::parse(&format!("{}Z", text.replacen(' ', "T", 1))));
            read.ok()
        }
        serde_json::Value::Number(number) => {
            let number = number.as_f64()?;
            let ms = if number.abs() < MOST_SECONDS {
                number * 1_000.0
            } else {
                number
            };
            // Beyond the years that there are it is held at their ends.
            #[allow(
                clippy::cast_possible_truncation,
                reason = "a cast to an integer saturates"
            )]
            let ms = ms.round() as i64;
            (ms > 0).then(|| Timestamp::from_ms(ms))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn moments_are_read_as_programs_write_them() {
        for (given, expected) in [
            (json!("2026-03-14T09:30:00Z"), Some("2026-03-14T09:30:00Z")),
            (
                json!("2026-03-14T09:30:00.5"),
                Some("2026-03-14T09:30:00.5Z"),
            ),
            (json!("2026-03-14 09:30:00"), Some("2026-03-14T09:30:00Z")),
            (
                json!("2026-03-14T02:30:00-07:00"),
                Some("2026-03-14T09:30:00Z"),
            ),
            (json!(1_773_480_600), Some("2026-03-14T09:30:00Z")),
            (json!(1_773_480_600.5), Some("2026-03-14T09:30:00.5Z")),
            (json!(1_773_480_600_000_i64), Some("2026-03-14T09:30:00Z")),
            (json!("yesterday"), None),
            (json!(-1), None),
            (json!(null), None),
        ] {
            let read = moment(&given).map(|moment| moment.to_string());
            assert_eq!(read.as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn names_and_tags_are_made_to_fit() {
        let statement = Statement {
            name: format!("a\nb{}", "é".repeat(2_000)),
            content: "x".to_owned(),
            tags: ["ok", " ok ", "", "a\tb", &"x".repeat(65)]
                .map(str::to_owned)
                .to_vec(),
            ..Statement::default()
        };
        let Arriving::Foreign(foreign) = incoming(statement, "mem0", None, As::Fitting).what else {
            panic!("it is foreign");
        };
        assert_eq!(foreign.args.tags, ["ok", "a b"]);
        assert!(
            foreign
                .args
                .source_id
                .as_ref()
                .unwrap()
                .starts_with("import:mem0:a b")
        );
        assert!(foreign.args.into_draft(&foreign.envelope).is_ok());
    }
}
