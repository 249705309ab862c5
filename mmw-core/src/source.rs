//! Where a statement came from, and the comparison that tells whether it has changed since.
//!
//! A hash is provenance, not proof: equality means "unchanged since it was said", never "true".

use std::fmt;

/// The longest `source_id`, in bytes.
pub const MAX_SOURCE_ID_BYTES: usize = 1024;

/// The longest hash, in bytes.
pub const MAX_HASH_BYTES: usize = 256;

/// The longest kind of a span, in bytes.
pub const MAX_SPAN_KIND_BYTES: usize = 32;

/// Names a document, file or session; what follows the first `#` names a span of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(String);

impl SourceId {
    /// Returns the id if it is 1 to [`MAX_SOURCE_ID_BYTES`] bytes after trimming, without control characters.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let fits = !text.is_empty()
            && text.len() <= MAX_SOURCE_ID_BYTES
            && !text.chars().any(char::is_control);
        fits.then(|| Self(text.to_owned()))
    }

    /// Returns the whole id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the document without the span.
    #[must_use]
    pub fn document(&self) -> &str {
        self.0
            .split_once('#')
            .map_or(&self.0, |(document, _)| document)
    }

    /// Tells whether the id names a span of a document.
    #[must_use]
    pub fn is_span(&self) -> bool {
        self.0.contains('#')
    }

    /// Tells whether a record of `other` is meant when this id is given: the same id, or a span of
    /// the document that this id names (`docs/deploy.md` covers `docs/deploy.md#Staging`).
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self == other || (!self.is_span() && other.document() == self.0)
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A content hash written `algorithm:value`. For files `sha256:<64 hex>` of the raw bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash(String);

/// The text is no hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HashError {
    /// No algorithm, no value, white space, or too long.
    #[error(
        "not a hash of the form `algorithm:value`, such as `sha256:` and 64 hexadecimal digits"
    )]
    Form,
    /// `sha256:` without 64 hexadecimal digits.
    #[error("`sha256:` must be followed by exactly 64 hexadecimal digits")]
    Sha256,
}

impl ContentHash {
    /// Reads a hash; hexadecimal digits and the algorithm are lower-cased.
    ///
    /// # Errors
    /// [`HashError`] with the reason.
    pub fn new(text: &str) -> Result<Self, HashError> {
        let text = text.trim();
        if text.len() > MAX_HASH_BYTES {
            return Err(HashError::Form);
        }
        let (algorithm, value) = text.split_once(':').ok_or(HashError::Form)?;
        let named = !algorithm.is_empty()
            && algorithm
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
        let graphic = !value.is_empty() && value.bytes().all(|b| b.is_ascii_graphic());
        if !named || !graphic {
            return Err(HashError::Form);
        }
        let algorithm = algorithm.to_ascii_lowercase();
        let hexadecimal = value.bytes().all(|b| b.is_ascii_hexdigit());
        if algorithm == "sha256" && !(hexadecimal && value.len() == 64) {
            return Err(HashError::Sha256);
        }
        let value = if hexadecimal {
            value.to_ascii_lowercase()
        } else {
            value.to_owned()
        };
        Ok(Self(format!("{algorithm}:{value}")))
    }

    /// Returns the whole text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells whether the value has the form of a digest: hexadecimal digits, as many as a usual
    /// algorithm gives.
    #[must_use]
    pub fn is_digest(&self) -> bool {
        let value = self.0.split_once(':').map_or("", |(_, value)| value);
        matches!(value.len(), 32 | 40 | 56 | 64 | 96 | 128)
            && value.bytes().all(|b| b.is_ascii_hexdigit())
    }

    /// Returns the algorithm.
    #[must_use]
    pub fn algorithm(&self) -> &str {
        self.0
            .split_once(':')
            .map_or("", |(algorithm, _)| algorithm)
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A part of a document that a fact is anchored to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// What kind of part: `heading`, `lines`, `symbol`.
    pub kind: String,
    /// How it is called.
    pub label: String,
    /// The hash of the part alone.
    pub hash: ContentHash,
}

/// Everything that is known of a record's source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// The document, file or session.
    pub id: Option<SourceId>,
    /// The hash of its raw bytes when the statement was made.
    pub hash: Option<ContentHash>,
    /// The same with line ends folded, so that a CRLF checkout is no change.
    pub text_hash: Option<ContentHash>,
    /// Commit or version.
    pub revision: Option<String>,
    /// The part that was anchored.
    pub span: Option<Span>,
}

/// What a comparison of hashes found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// The hashes are equal.
    Unchanged,
    /// The hashes differ.
    Changed,
    /// Nothing comparable is known: no hash, another algorithm, another source.
    Unknown,
}

impl Origin {
    /// Compares the current hash of a named source with what was recorded.
    ///
    /// File hashes are compared with file hashes and span hashes with span hashes: an id with a
    /// span speaks of the span, an id without one of the whole file.
    #[must_use]
    pub fn compare(&self, named: &SourceId, current: &ContentHash) -> Freshness {
        let Some(own) = &self.id else {
            return Freshness::Unknown;
        };
        if !named.covers(own) {
            return Freshness::Unknown;
        }
        let recorded: [Option<&ContentHash>; 2] = match &self.span {
            Some(span) if named.is_span() => [Some(&span.hash), None],
            Some(_) | None => [self.hash.as_ref(), self.text_hash.as_ref()],
        };
        let mut freshness = Freshness::Unknown;
        for hash in recorded.into_iter().flatten() {
            if hash == current {
                return Freshness::Unchanged;
            }
            if hash.algorithm() == current.algorithm() {
                freshness = Freshness::Changed;
            }
        }
        freshness
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> SourceId {
        SourceId::new(text).unwrap()
    }

    fn sha(digit: char) -> ContentHash {
        ContentHash::new(&format!("sha256:{}", digit.to_string().repeat(64))).unwrap()
    }

    #[test]
    fn a_hash_is_an_algorithm_and_a_value() {
        assert_eq!(
            ContentHash::new(&format!("SHA256:{}", "AB".repeat(32)))
                .unwrap()
                .as_str(),
            format!("sha256:{}", "ab".repeat(32))
        );
        assert_eq!(ContentHash::new("git:4c536992").unwrap().algorithm(), "git");
        assert_eq!(
            ContentHash::new("sha512:Zm9v+/=").unwrap().as_str(),
            "sha512:Zm9v+/="
        );
        for (bad, why) in [
            ("", HashError::Form),
            ("abc", HashError::Form),
            (":x", HashError::Form),
            ("sha1:", HashError::Form),
            ("a b:c", HashError::Form),
            ("x:a b", HashError::Form),
            ("sha256:abc", HashError::Sha256),
        ] {
            assert_eq!(ContentHash::new(bad), Err(why), "{bad}");
        }
    }

    #[test]
    fn a_document_covers_its_spans_and_nothing_else() {
        assert!(id("docs/deploy.md").covers(&id("docs/deploy.md#Staging")));
        assert!(id("docs/deploy.md").covers(&id("docs/deploy.md")));
        assert!(!id("docs/deploy.md").covers(&id("docs/deploy.md.bak")));
        assert!(!id("docs/deploy.md#Staging").covers(&id("docs/deploy.md")));
        assert!(!id("docs").covers(&id("docs/deploy.md")));
    }

    #[test]
    fn span_hashes_are_compared_with_span_hashes() {
        let origin = Origin {
            id: Some(id("a.md#S")),
            hash: Some(sha('1')),
            span: Some(Span {
                kind: "heading".into(),
                label: "S".into(),
                hash: sha('2'),
            }),
            ..Origin::default()
        };
        assert_eq!(origin.compare(&id("a.md"), &sha('1')), Freshness::Unchanged);
        assert_eq!(origin.compare(&id("a.md"), &sha('2')), Freshness::Changed);
        assert_eq!(
            origin.compare(&id("a.md#S"), &sha('2')),
            Freshness::Unchanged
        );
        assert_eq!(origin.compare(&id("a.md#S"), &sha('1')), Freshness::Changed);
        assert_eq!(origin.compare(&id("b.md"), &sha('1')), Freshness::Unknown);
    }

    #[test]
    fn folded_line_ends_are_no_change_and_another_algorithm_tells_nothing() {
        let origin = Origin {
            id: Some(id("a")),
            hash: Some(sha('1')),
            text_hash: Some(sha('3')),
            ..Origin::default()
        };
        assert_eq!(origin.compare(&id("a"), &sha('3')), Freshness::Unchanged);
        assert_eq!(
            origin.compare(&id("a"), &ContentHash::new("git:abc").unwrap()),
            Freshness::Unknown
        );
        assert_eq!(
            Origin {
                id: Some(id("a")),
                ..Origin::default()
            }
            .compare(&id("a"), &sha('1')),
            Freshness::Unknown
        );
    }
}
