//! The record: one statement as it was saved, and the small types its fields are made of.

use std::fmt;

use unicode_normalization::UnicodeNormalization;

use crate::ids::{PrincipalId, RecordId};
use crate::place::Place;
use crate::source::Origin;
use crate::time::Timestamp;

/// The longest content, in bytes, after trimming.
pub const MAX_CONTENT_BYTES: usize = 16_384;
/// The longest fact key, in characters, after folding.
pub const MAX_FACT_KEY_CHARS: usize = 128;
/// The most sources that a record may be derived from.
pub const MAX_DERIVED_FROM: usize = 50;
/// The most tags of a record.
pub const MAX_TAGS: usize = 16;
/// The longest tag, in characters.
pub const MAX_TAG_CHARS: usize = 64;
/// The longest label (`source`, `scope`, `source_revision`, agent, client, branch, session), in characters.
pub const MAX_LABEL_CHARS: usize = 256;
/// The confidence of a record that states none.
pub const DEFAULT_CONFIDENCE: f64 = 0.5;
/// The scope of a record that states none.
pub const DEFAULT_SCOPE: &str = "shared";

/// The topic key of a fact: NFKC, lower-cased, without invisible characters; runs of white space, `_`
/// and dashes folded to one `-`, none at either end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FactKey(String);

/// The text is no fact key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FactKeyError {
    /// Nothing is left after folding.
    #[error("a fact_key may not be empty; leave it out for a record without one")]
    Empty,
    /// Longer than the limit after folding.
    #[error("a fact_key has at most {MAX_FACT_KEY_CHARS} characters")]
    TooLong,
    /// A control character.
    #[error("a fact_key may not contain control characters")]
    Control,
}

impl FactKey {
    /// Reads and folds a fact key, so that `Deploy_Staging` and `deploy staging` are one topic.
    ///
    /// # Errors
    /// [`FactKeyError`] with the reason.
    pub fn new(text: &str) -> Result<Self, FactKeyError> {
        let mut key = String::with_capacity(text.len());
        let mut pending_dash = false;
        let visible = text.nfkc().filter(|c| !is_invisible(*c));
        for c in visible.flat_map(char::to_lowercase) {
            if c.is_whitespace() || c == '_' || is_dash(c) {
                pending_dash = !key.is_empty();
            } else if c.is_control() {
                return Err(FactKeyError::Control);
            } else {
                if pending_dash {
                    key.push('-');
                    pending_dash = false;
                }
                key.push(c);
            }
        }
        // Lower-casing can leave a decomposed form; composing again keeps folding idempotent.
        let key: String = key.nfkc().collect();
        if key.is_empty() {
            return Err(FactKeyError::Empty);
        }
        if key.chars().count() > MAX_FACT_KEY_CHARS {
            return Err(FactKeyError::TooLong);
        }
        Ok(Self(key))
    }

    /// Returns the folded key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FactKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Tells whether a character shows nothing (Unicode's Default_Ignorable_Code_Point): two keys that
/// look alike are one.
const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Tells whether a character is a dash of some length.
const fn is_dash(c: char) -> bool {
    matches!(
        c,
        '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}'
    )
}

/// How sure the author was: 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Confidence(f64);

impl Confidence {
    /// Returns the confidence if it lies between 0 and 1; NaN does not.
    #[must_use]
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Default for Confidence {
    fn default() -> Self {
        Self(DEFAULT_CONFIDENCE)
    }
}

macro_rules! named_choices {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$vdoc])* $variant,)+
        }

        impl $name {
            /// Every choice, in the order in which they are listed.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the choice's name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// Returns the choice of that name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|choice| choice.name() == name)
            }
        }
    };
}
pub(crate) use named_choices;

named_choices! {
    /// What sort of statement a record is.
    Kind {
        /// Something that holds.
        Fact = "fact",
        /// Something that was decided.
        Decision = "decision",
        /// How somebody wants things done.
        Preference = "preference",
        /// Something that keeps recurring.
        Pattern = "pattern",
        /// Background.
        Context = "context",
        /// A condensation of other records.
        Summary = "summary",
    }
}

named_choices! {
    /// Who may see a record. Outside an organization only `project` is possible.
    Visibility {
        /// The author alone.
        Author = "author",
        /// The author's unit.
        Unit = "unit",
        /// Everybody in the project.
        Project = "project",
        /// Everybody in the organization.
        Organization = "organization",
    }
}

/// Who said it, when, through what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The person whose key was used.
    pub author: PrincipalId,
    /// When it was said: the agent's own time, clamped.
    pub created_at: Timestamp,
    /// When the store took it in.
    pub received_at: Timestamp,
    /// The agent (`claude-code`).
    pub agent: Option<String>,
    /// The client program and version.
    pub client: Option<String>,
    /// The session in the client.
    pub session: Option<String>,
    /// The git branch that was checked out.
    pub branch: Option<String>,
}

/// One saved statement. It is never edited; a correction is a further version of its fact.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The id.
    pub id: RecordId,
    /// Project and workspace.
    pub place: Place,
    /// The statement, trimmed, otherwise byte for byte as it was screened.
    pub content: String,
    /// The topic, if it has one: records of one topic are versions of one fact.
    pub fact_key: Option<FactKey>,
    /// What sort of statement it is.
    pub kind: Kind,
    /// A free label of who or what wrote it.
    pub label: Option<String>,
    /// The source and its hashes.
    pub origin: Origin,
    /// How sure the author was.
    pub confidence: Confidence,
    /// The records that it was derived from, in the order given.
    pub derived_from: Vec<RecordId>,
    /// A label for filtering; it restricts nothing.
    pub scope: String,
    /// Labels for filtering.
    pub tags: Vec<String>,
    /// The first moment at which the statement holds.
    pub valid_from: Option<Timestamp>,
    /// The moment from which it no longer holds.
    pub valid_until: Option<Timestamp>,
    /// Who may see it.
    pub visibility: Visibility,
    /// Who said it, when, through what.
    pub said: Said,
}

impl Record {
    /// Tells whether the statement held at that moment: from `valid_from` (else from when it was
    /// said) up to, not including, `valid_until`.
    #[must_use]
    pub fn holds_at(&self, moment: Timestamp) -> bool {
        crate::fact::holds_at(
            self.valid_from,
            self.valid_until,
            self.said.created_at,
            moment,
        )
    }

    /// Tells whether the statement starts to hold only after that moment.
    #[must_use]
    pub fn lies_ahead_of(&self, moment: Timestamp) -> bool {
        self.valid_from.is_some_and(|start| start > moment)
    }

    /// Returns what versions are ordered by: when it was said, then the id.
    #[must_use]
    pub const fn order(&self) -> (Timestamp, RecordId) {
        (self.said.created_at, self.id)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spellings_of_one_topic_are_one_key() {
        for text in [
            "deploy-staging",
            " Deploy_Staging ",
            "deploy  staging",
            "ＤＥＰＬＯＹ\tstaging",
            "deploy\u{200b}-staging",
            "deploy\u{2011}\u{ad}staging\u{fe0f}",
            "-deploy--_staging-",
        ] {
            assert_eq!(
                FactKey::new(text).unwrap().as_str(),
                "deploy-staging",
                "{text}"
            );
        }
    }

    #[test]
    fn a_fact_key_has_bounds() {
        assert_eq!(FactKey::new(" _ "), Err(FactKeyError::Empty));
        assert_eq!(FactKey::new("a\u{0}b"), Err(FactKeyError::Control));
        assert!(FactKey::new(&"k".repeat(128)).is_ok());
        assert_eq!(FactKey::new(&"k".repeat(129)), Err(FactKeyError::TooLong));
    }

    #[test]
    fn confidence_lies_between_zero_and_one() {
        assert!(Confidence::new(0.0).is_some() && Confidence::new(1.0).is_some());
        for bad in [f64::NAN, -0.1, 1.1, f64::INFINITY] {
            assert!(Confidence::new(bad).is_none(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn folding_a_fact_key_twice_equals_once(text in "\\PC{0,40}") {
            if let Ok(once) = FactKey::new(&text) {
                prop_assert_eq!(FactKey::new(once.as_str()), Ok(once.clone()));
            }
        }
    }
}
