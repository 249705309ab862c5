//! What became of a source since a statement was anchored to it.

use mmw_core::source::ContentHash;
use mmw_core::wire::SpanArgs;

use super::hashes::{self, FileHashes};
use super::locate::{Fate, Part, locate};
use super::span::Kind;
use super::{Anchors, split};
use crate::roots::{Found, Meant, Refused, path};

/// The only algorithm that this program hashes with.
const ALGORITHM: &str = "sha256";

/// A source as a record or one of its anchors has it.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    /// `source_id`.
    pub(crate) source_id: String,
    hashes: Vec<ContentHash>,
    span: Option<RecordedSpan>,
}

#[derive(Debug, Clone)]
struct RecordedSpan {
    kind: Kind,
    label: String,
    hash: ContentHash,
}

/// What a source is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// As it was.
    Unchanged,
    /// It says something else.
    Changed,
    /// It is not there.
    Missing,
}

impl State {
    /// Returns the word that is sent and shown.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Missing => "missing",
        }
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checked {
    /// The state of what was compared.
    pub(crate) state: State,
    /// Set if a part was compared and not the whole file: its lines now, such as `10-40`, as far as they
    /// are known.
    pub(crate) span: Option<Option<String>>,
}

impl Checked {
    /// Returns a file that is compared whole.
    pub(crate) const fn of_file(state: State) -> Self {
        Self { state, span: None }
    }
}

impl Recorded {
    /// Returns what was recorded of a source; `None` without one. Hashes of other algorithms can't be
    /// compared and are left out.
    pub(crate) fn new(
        source_id: Option<&str>,
        hash: Option<&str>,
        text_hash: Option<&str>,
        span: Option<&SpanArgs>,
    ) -> Option<Self> {
        let comparable = |text: &str| {
            ContentHash::new(text)
                .ok()
                .filter(|hash| hash.algorithm() == ALGORITHM)
        };
        Some(Self {
            source_id: source_id?.to_owned(),
            hashes: [hash, text_hash]
                .into_iter()
                .flatten()
                .filter_map(comparable)
                .collect(),
            span: span.and_then(|span| {
                Some(RecordedSpan {
                    kind: Kind::named(&span.kind)?,
                    label: span.label.clone(),
                    hash: comparable(&span.hash)?,
                })
            }),
        })
    }

    fn compare(&self, hashes: &FileHashes) -> Checked {
        let is_same = self.hashes.iter().any(|hash| hashes.has(hash));
        Checked::of_file(if is_same {
            State::Unchanged
        } else {
            State::Changed
        })
    }

    /// Tells whether the source is named by its whole path.
    pub(crate) fn is_absolute(&self) -> bool {
        std::path::Path::new(split(&self.source_id).0).is_absolute()
    }

    /// Tells whether a part of a file is compared, not the whole file.
    pub(crate) const fn is_part(&self) -> bool {
        self.span.is_some()
    }

    /// Returns the document, if it looks like a file.
    pub(crate) fn document(&self) -> Option<&str> {
        let document = split(&self.source_id).0;
        path::looks_like_one(document).then_some(document)
    }
}

impl Anchors {
    /// Returns what became of a source; nothing if it is no file, lies where nothing is read, or nothing
    /// was recorded that it could be compared with.
    pub(crate) fn check(&self, recorded: &Recorded) -> Option<Checked> {
        let document = recorded.document()?;
        let is_anchored = !recorded.hashes.is_empty() || recorded.span.is_some();
        let mut opened = match self.roots().open(document, Meant::Stored) {
            Ok(Found::File(opened)) => opened,
            // Without a hash nobody ever saw the file: only what is a path beyond doubt is missed.
            Ok(Found::Missing) if is_anchored || path::is_surely_one(document) => {
                return Some(Checked::of_file(State::Missing));
            }
            // A folder or the like has taken the file's place.
            Err(Refused::NoFile) if is_anchored => return Some(Checked::of_file(State::Missing)),
            Ok(Found::Missing) | Err(_) => return None,
        };
        if !is_anchored {
            return None;
        }
        match &recorded.span {
            Some(span) => {
                let source = recorded.source_id.clone();
                let key = (source, span.label.clone(), span.hash.clone());
                let look = |bytes: &[u8]| self.look_for(recorded, span, bytes);
                self.0.cache.part(&mut opened, key, look)
            }
            None => {
                let hashes = self.0.cache.hashes(&mut opened)?;
                Some(recorded.compare(&hashes))
            }
        }
    }

    /// Returns what became of a source whose file has, or had, this content; nothing if nothing was
    /// recorded that it could be compared with.
    pub(crate) fn check_content(
        &self,
        recorded: &Recorded,
        content: Option<&[u8]>,
    ) -> Option<Checked> {
        let Some(bytes) = content else {
            return Some(Checked::of_file(State::Missing));
        };
        match &recorded.span {
            Some(span) => Some(self.look_for(recorded, span, bytes)),
            None if recorded.hashes.is_empty() => None,
            None => Some(recorded.compare(&FileHashes::of(bytes)?)),
        }
    }

    fn look_for(&self, recorded: &Recorded, span: &RecordedSpan, bytes: &[u8]) -> Checked {
        let Some(text) = hashes::text(bytes) else {
            // It was text once.
            return of_part(Fate::Changed(None));
        };
        let surroundings = self.0.kept.get(&recorded.source_id, &span.hash);
        let part = Part {
            kind: span.kind,
            label: &span.label,
            hash: &span.hash,
            surroundings: surroundings.as_ref(),
        };
        of_part(locate(&part, text))
    }
}

fn of_part(fate: Fate) -> Checked {
    let (state, range) = match fate {
        Fate::Unchanged(range) => (State::Unchanged, Some(range)),
        Fate::Changed(range) => (State::Changed, range),
        Fate::Missing => (State::Missing, None),
    };
    let lines = range.map(|range| match range.len() {
        0 | 1 => format!("{}", range.start + 1),
        _ => format!("{}-{}", range.start + 1, range.end),
    });
    Checked {
        state,
        span: Some(lines),
    }
}
