//! What an argument may be, and the words with which it is refused.
//!
//! A refusal names the field, what was wrong with it and the limit, so that an agent can mend the
//! call in one step. Nothing is cut or guessed silently.

use crate::ids::RecordId;
use crate::place::{WorkspaceChoice, WorkspaceName};
use crate::record::{
    Confidence, FactKey, MAX_CONTENT_BYTES, MAX_DERIVED_FROM, MAX_LABEL_CHARS, MAX_TAG_CHARS,
    MAX_TAGS,
};
use crate::source::{ContentHash, MAX_SOURCE_ID_BYTES, MAX_SPAN_KIND_BYTES, SourceId};
use crate::time::Timestamp;

/// An argument that can't be accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct Invalid {
    /// The argument, as the caller spelled it (`derived_from[3]` inside a list).
    pub field: String,
    /// What is wrong and what would be right.
    pub problem: String,
}

impl Invalid {
    /// Returns a refusal of that field.
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            problem: problem.into(),
        }
    }
}

/// Returns the trimmed content.
///
/// # Errors
/// Empty, above [`MAX_CONTENT_BYTES`], or with a NUL character, which not every store can keep.
pub fn content(text: &str) -> Result<String, Invalid> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err(Invalid::new("content", "may not be empty"));
    }
    if trimmed.len() > MAX_CONTENT_BYTES {
        return Err(Invalid::new(
            "content",
            format!(
                "has {} bytes; at most {MAX_CONTENT_BYTES} are kept in one record. Save several \
                 records, or a summary with the document as source_id",
                trimmed.len()
            ),
        ));
    }
    no_nul("content", trimmed)?;
    Ok(trimmed.to_owned())
}

fn no_nul(field: &str, text: &str) -> Result<(), Invalid> {
    if text.contains('\0') {
        return Err(Invalid::new(field, "may not contain the character U+0000"));
    }
    Ok(())
}

/// Returns a trimmed label of at most [`MAX_LABEL_CHARS`] characters on one line.
///
/// # Errors
/// Empty, too long, or with a control character.
pub fn label(field: &str, text: &str) -> Result<String, Invalid> {
    short_text(field, text, MAX_LABEL_CHARS)
}

fn short_text(field: &str, text: &str, max_chars: usize) -> Result<String, Invalid> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err(Invalid::new(
            field,
            "may not be empty; leave it out instead",
        ));
    }
    let n_chars = trimmed.chars().count();
    if n_chars > max_chars {
        return Err(Invalid::new(
            field,
            format!("has {n_chars} characters; at most {max_chars} are allowed"),
        ));
    }
    if trimmed.chars().any(char::is_control) {
        return Err(Invalid::new(
            field,
            "may not contain control characters or line breaks",
        ));
    }
    Ok(trimmed.to_owned())
}

/// Returns the folded fact key.
///
/// # Errors
/// As [`FactKey::new`].
pub fn fact_key(text: &str) -> Result<FactKey, Invalid> {
    FactKey::new(text).map_err(|e| Invalid::new("fact_key", e.to_string()))
}

/// Returns the source id.
///
/// # Errors
/// Empty, too long, or with a control character.
pub fn source_id(field: &str, text: &str) -> Result<SourceId, Invalid> {
    SourceId::new(text).ok_or_else(|| {
        Invalid::new(
            field,
            format!("must be 1 to {MAX_SOURCE_ID_BYTES} bytes without control characters"),
        )
    })
}

/// Returns the kind of a span: a plain word such as `heading`, `lines` or `symbol`, never free text.
///
/// # Errors
/// Anything but 1 to [`MAX_SPAN_KIND_BYTES`] small letters and `-`.
pub fn span_kind(field: &str, text: &str) -> Result<String, Invalid> {
    let is_word = (1..=MAX_SPAN_KIND_BYTES).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    is_word.then(|| text.to_owned()).ok_or_else(|| {
        Invalid::new(
            field,
            format!(
                "must be a word of at most {MAX_SPAN_KIND_BYTES} small letters, such as `heading`, \
                 `lines` or `symbol`"
            ),
        )
    })
}

/// Returns the hash.
///
/// # Errors
/// As [`ContentHash::new`].
pub fn hash(field: &str, text: &str) -> Result<ContentHash, Invalid> {
    ContentHash::new(text).map_err(|e| Invalid::new(field, e.to_string()))
}

/// Returns the confidence, [`crate::record::DEFAULT_CONFIDENCE`] if none is given.
///
/// # Errors
/// NaN or outside 0 to 1.
pub fn confidence(value: Option<f64>) -> Result<Confidence, Invalid> {
    value.map_or_else(
        || Ok(Confidence::default()),
        |value| {
            Confidence::new(value)
                .ok_or_else(|| Invalid::new("confidence", "must be a number from 0 to 1"))
        },
    )
}

/// Returns the moment.
///
/// # Errors
/// Anything that is no RFC 3339 time or date.
pub fn moment(field: &str, text: &str) -> Result<Timestamp, Invalid> {
    Timestamp::parse(text).map_err(|e| Invalid::new(field, e.to_string()))
}

/// Returns the ids without repetitions, in the order given.
///
/// # Errors
/// A text that is no id, or more than [`MAX_DERIVED_FROM`] different ids.
pub fn derived_from(texts: &[String]) -> Result<Vec<RecordId>, Invalid> {
    let mut ids: Vec<RecordId> = Vec::new();
    for (nth, text) in texts.iter().enumerate() {
        let id = text
            .parse()
            .map_err(|e| Invalid::new(format!("derived_from[{nth}]"), format!("{e}")))?;
        if !ids.contains(&id) {
            ids.push(id);
        }
        if ids.len() > MAX_DERIVED_FROM {
            return Err(Invalid::new(
                "derived_from",
                format!(
                    "names more than {MAX_DERIVED_FROM} records; derive from summaries instead"
                ),
            ));
        }
    }
    Ok(ids)
}

/// Returns the trimmed tags without repetitions, in the order given.
///
/// # Errors
/// More than [`MAX_TAGS`], or a tag that is empty, longer than [`MAX_TAG_CHARS`] characters or has
/// a control character.
pub fn tags(texts: &[String]) -> Result<Vec<String>, Invalid> {
    let mut tags: Vec<String> = Vec::new();
    for (nth, text) in texts.iter().enumerate() {
        let tag = short_text(&format!("tags[{nth}]"), text, MAX_TAG_CHARS)?;
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    if tags.len() > MAX_TAGS {
        return Err(Invalid::new(
            "tags",
            format!("has {} tags; at most {MAX_TAGS} are allowed", tags.len()),
        ));
    }
    Ok(tags)
}

/// Returns the workspace of a write, `default` if none is given.
///
/// # Errors
/// As [`WorkspaceName::new`].
pub fn workspace(text: Option<&str>) -> Result<WorkspaceName, Invalid> {
    text.map_or_else(
        || Ok(WorkspaceName::default()),
        |text| WorkspaceName::new(text).map_err(|e| Invalid::new("workspace", e.to_string())),
    )
}

/// Returns the workspaces of a read, `default` if none is given.
///
/// # Errors
/// As [`WorkspaceChoice::new`].
pub fn workspace_choice(text: Option<&str>) -> Result<WorkspaceChoice, Invalid> {
    text.map_or_else(
        || Ok(WorkspaceChoice::One(WorkspaceName::default())),
        |text| WorkspaceChoice::new(text).map_err(|e| Invalid::new("workspace", e.to_string())),
    )
}

/// Returns the choice of that name.
///
/// # Errors
/// A name that is not among the choices, which are listed.
pub fn choice<T: Copy>(
    field: &str,
    text: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, Invalid> {
    all.iter()
        .copied()
        .find(|choice| name(*choice) == text)
        .ok_or_else(|| {
            let names: Vec<_> = all.iter().map(|choice| name(*choice)).collect();
            Invalid::new(field, format!("must be one of: {}", names.join(", ")))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Kind;

    #[test]
    fn content_is_bounded_in_bytes_after_trimming() {
        let full = "é".repeat(MAX_CONTENT_BYTES / 2);
        assert_eq!(content(&format!("  {full}\n")).unwrap(), full);
        assert!(
            content(&format!("{full}x"))
                .unwrap_err()
                .problem
                .contains("16385 bytes")
        );
        for bad in ["", " \t\n", "a\0b"] {
            assert_eq!(content(bad).unwrap_err().field, "content");
        }
        assert_eq!(
            content("__proto__ $& $1 <script> \u{202e}\u{1}").unwrap(),
            "__proto__ $& $1 <script> \u{202e}\u{1}"
        );
    }

    #[test]
    fn a_list_names_its_bad_element() {
        let id = "0192f0c1-8a6b-7c3d-9e4f-0123456789ab".to_owned();
        assert_eq!(derived_from(&[id.clone(), id.clone()]).unwrap().len(), 1);
        assert_eq!(
            derived_from(&[id, "x".into()]).unwrap_err().field,
            "derived_from[1]"
        );
        assert_eq!(
            tags(&["a".into(), " ".into()]).unwrap_err().field,
            "tags[1]"
        );
    }

    #[test]
    fn lists_are_bounded_at_their_limit() {
        let many = |n: usize| (0..n).map(|i| format!("t{i}")).collect::<Vec<_>>();
        assert_eq!(tags(&many(MAX_TAGS)).unwrap().len(), MAX_TAGS);
        assert!(tags(&many(MAX_TAGS + 1)).is_err());
        assert!(tags(&["x".repeat(64)]).is_ok());
        assert!(tags(&["x".repeat(65)]).is_err());
    }

    #[test]
    fn the_kind_of_a_span_is_a_word() {
        for word in ["heading", "lines", "symbol", "code-block"] {
            assert_eq!(span_kind("span.kind", word).unwrap(), word);
        }
        for text in ["", "Heading", "two words", "ghp_a1b2", &"x".repeat(33)] {
            assert!(span_kind("span.kind", text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_wrong_choice_is_answered_with_the_right_ones() {
        let refused = choice("kind", "note", Kind::ALL, Kind::name).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "kind: must be one of: fact, decision, preference, pattern, context, summary"
        );
    }
}
