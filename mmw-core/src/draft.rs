//! What somebody wants to save, before and after the guard looked at it.
//!
//! Only a [`Screened`] draft can be planned, and only the guard makes one (fenced by `clippy.toml`).

use crate::ids::RecordId;
use crate::place::WorkspaceName;
use crate::record::{Confidence, DEFAULT_SCOPE, FactKey, Kind, Visibility};
use crate::source::{Origin, SourceId};
use crate::time::Timestamp;
use crate::validation::Invalid;

/// What the agent adds to a write by itself. Never taken from content.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Envelope {
    /// Makes a repeated request the same request.
    pub idempotency_key: Option<String>,
    /// The id that a queued write was given when it was queued.
    pub proposed_id: Option<RecordId>,
    /// When it was said, by the agent's clock.
    pub recorded_at: Option<Timestamp>,
    /// The agent (`claude-code`).
    pub agent: Option<String>,
    /// The client program and version.
    pub client: Option<String>,
    /// The session in the client.
    pub session: Option<String>,
    /// The git branch that was checked out.
    pub branch: Option<String>,
}

/// The longest idempotency key, in characters.
pub const MAX_IDEMPOTENCY_KEY_CHARS: usize = 255;

/// A statement to be saved: every field has been validated, none has been screened.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The statement, trimmed.
    pub content: String,
    /// The workspace it goes to.
    pub workspace: WorkspaceName,
    /// The topic, if it has one.
    pub fact_key: Option<FactKey>,
    /// What sort of statement it is.
    pub kind: Kind,
    /// A free label of who or what wrote it.
    pub label: Option<String>,
    /// The source and its hashes.
    pub origin: Origin,
    /// How sure the author is.
    pub confidence: Confidence,
    /// The records it is derived from, without repetitions.
    pub derived_from: Vec<RecordId>,
    /// A label for filtering.
    pub scope: String,
    /// Labels for filtering.
    pub tags: Vec<String>,
    /// The first moment at which the statement holds.
    pub valid_from: Option<Timestamp>,
    /// The moment from which it no longer holds.
    pub valid_until: Option<Timestamp>,
    /// Who may see it.
    pub visibility: Visibility,
    /// What the agent added.
    pub envelope: Envelope,
}

impl Draft {
    /// Returns a draft of that content in the `default` workspace, everything else left open.
    ///
    /// # Errors
    /// As [`crate::validation::content`].
    pub fn new(content: &str) -> Result<Self, Invalid> {
        Ok(Self {
            content: crate::validation::content(content)?,
            workspace: WorkspaceName::default(),
            fact_key: None,
            kind: Kind::Fact,
            label: None,
            origin: Origin::default(),
            confidence: Confidence::default(),
            derived_from: Vec::new(),
            scope: DEFAULT_SCOPE.to_owned(),
            tags: Vec::new(),
            valid_from: None,
            valid_until: None,
            visibility: Visibility::Project,
            envelope: Envelope::default(),
        })
    }

    /// Checks what concerns more than one field.
    ///
    /// # Errors
    /// A hash or span without a `source_id`; a period that ends before it begins; a visibility
    /// other than `project`, which needs an organization.
    pub fn check(&self) -> Result<(), Invalid> {
        let origin = &self.origin;
        if origin.id.is_none() {
            let orphan = if origin.hash.is_some() {
                Some("source_hash")
            } else if origin.revision.is_some() {
                Some("source_revision")
            } else if origin.text_hash.is_some() {
                Some("source_hash_text")
            } else if origin.span.is_some() {
                Some("span")
            } else {
                None
            };
            if let Some(field) = orphan {
                return Err(Invalid::new(
                    field,
                    "needs a source_id: it says of what it is",
                ));
            }
        }
        if let (Some(start), Some(end)) = (self.valid_from, self.valid_until)
            && end <= start
        {
            return Err(Invalid::new("valid_until", "must be later than valid_from"));
        }
        if self.visibility != Visibility::Project {
            return Err(Invalid::new(
                "visibility",
                "only `project` is possible outside an organization",
            ));
        }
        Ok(())
    }

    /// Returns every text of the draft that could carry a secret or an instruction. Hashes, ids and
    /// times are not among them: their form has been validated.
    #[must_use]
    pub fn texts(&self) -> Vec<(Field, &str)> {
        let (origin, envelope) = (&self.origin, &self.envelope);
        let mut texts = vec![
            (Field::Content, self.content.as_str()),
            (Field::Workspace, self.workspace.as_str()),
            (Field::Scope, self.scope.as_str()),
        ];
        let optional = [
            (Field::FactKey, self.fact_key.as_ref().map(FactKey::as_str)),
            (Field::Source, self.label.as_deref()),
            (Field::SourceId, origin.id.as_ref().map(SourceId::as_str)),
            (Field::SourceRevision, origin.revision.as_deref()),
            (
                Field::Span,
                origin.span.as_ref().map(|span| span.label.as_str()),
            ),
            (Field::Agent, envelope.agent.as_deref()),
            (Field::Client, envelope.client.as_deref()),
            (Field::Session, envelope.session.as_deref()),
            (Field::Branch, envelope.branch.as_deref()),
        ];
        for (field, text) in optional {
            texts.extend(text.map(|text| (field, text)));
        }
        for (nth, tag) in self.tags.iter().enumerate() {
            texts.push((Field::Tag(nth), tag));
        }
        texts
    }

    /// Puts a redacted text in the place of a field's text. `workspace` and `fact_key` are left as
    /// they are: a placeholder there would merge unrelated things, so the guard refuses instead.
    pub fn replace_text(&mut self, field: Field, text: String) {
        match field {
            Field::Content => self.content = text,
            Field::Workspace | Field::FactKey => {}
            Field::Source => self.label = Some(text),
            Field::SourceId => self.origin.id = SourceId::new(&text),
            Field::SourceRevision => self.origin.revision = Some(text),
            Field::Span => {
                if let Some(span) = &mut self.origin.span {
                    span.label = text;
                }
            }
            Field::Scope => self.scope = text,
            Field::Tag(nth) => {
                if let Some(tag) = self.tags.get_mut(nth) {
                    *tag = text;
                }
            }
            Field::Agent => self.envelope.agent = Some(text),
            Field::Client => self.envelope.client = Some(text),
            Field::Session => self.envelope.session = Some(text),
            Field::Branch => self.envelope.branch = Some(text),
        }
    }
}

/// A text field of a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// `content`
    Content,
    /// `workspace`
    Workspace,
    /// `fact_key`
    FactKey,
    /// `source`
    Source,
    /// `source_id`
    SourceId,
    /// `source_revision`
    SourceRevision,
    /// The label of the span in the envelope.
    Span,
    /// `scope`
    Scope,
    /// One of `tags`.
    Tag(usize),
    /// The envelope's `agent`.
    Agent,
    /// The envelope's `client`.
    Client,
    /// The envelope's `session_id`.
    Session,
    /// The envelope's `branch`.
    Branch,
}

impl Field {
    /// Returns the name of the argument.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Workspace => "workspace",
            Self::FactKey => "fact_key",
            Self::Source => "source",
            Self::SourceId => "source_id",
            Self::SourceRevision => "source_revision",
            Self::Span => "span",
            Self::Scope => "scope",
            Self::Tag(_) => "tags",
            Self::Agent => "agent",
            Self::Client => "client",
            Self::Session => "session_id",
            Self::Branch => "branch",
        }
    }
}

/// What the guard replaced: how many texts of which field, by which rule. Never the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    /// The name of the field.
    pub field: &'static str,
    /// The id of the rule.
    pub rule: String,
    /// How many values were replaced.
    pub count: u32,
}

/// A draft that the guard has looked at: secrets are replaced, planted instructions were refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Screened {
    draft: Draft,
    replaced: Vec<Replacement>,
}

impl Screened {
    /// Seals a draft. Only `mmw-guard` may call this; `clippy.toml` refuses it elsewhere.
    #[must_use]
    pub const fn sealed_by_guard(draft: Draft, replaced: Vec<Replacement>) -> Self {
        Self { draft, replaced }
    }

    /// Returns the clean draft.
    #[must_use]
    pub const fn draft(&self) -> &Draft {
        &self.draft
    }

    /// Returns what was replaced.
    #[must_use]
    pub fn replaced(&self) -> &[Replacement] {
        &self.replaced
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::ContentHash;

    #[test]
    fn a_hash_without_an_id_is_an_error() {
        let mut draft = Draft::new("a fact").unwrap();
        draft.origin.hash = ContentHash::new("git:abc").ok();
        assert_eq!(draft.check().unwrap_err().field, "source_hash");
        draft.origin.id = SourceId::new("docs/a.md");
        assert_eq!(draft.check(), Ok(()));
    }

    #[test]
    fn a_period_ends_after_it_begins() {
        let mut draft = Draft::new("a fact").unwrap();
        draft.valid_from = Some(Timestamp::from_ms(10));
        draft.valid_until = Some(Timestamp::from_ms(10));
        assert_eq!(draft.check().unwrap_err().field, "valid_until");
    }

    #[test]
    fn visibility_other_than_project_needs_an_organization() {
        let mut draft = Draft::new("a fact").unwrap();
        draft.visibility = Visibility::Author;
        assert_eq!(draft.check().unwrap_err().field, "visibility");
    }

    #[test]
    fn every_text_can_be_replaced_and_is_listed() {
        let mut draft = Draft::new("c").unwrap();
        draft.fact_key = FactKey::new("k").ok();
        draft.label = Some("l".into());
        draft.origin = Origin {
            id: SourceId::new("i"),
            revision: Some("r".into()),
            span: Some(crate::source::Span {
                kind: "lines".into(),
                label: "L1".into(),
                hash: ContentHash::new("x:1").unwrap(),
            }),
            ..Origin::default()
        };
        draft.tags = vec!["t0".into(), "t1".into()];
        draft.envelope = Envelope {
            agent: Some("a".into()),
            client: Some("cl".into()),
            session: Some("s".into()),
            branch: Some("b".into()),
            ..Envelope::default()
        };
        let fields: Vec<Field> = draft.texts().into_iter().map(|(field, _)| field).collect();
        assert_eq!(fields.len(), 14);
        for field in fields {
            draft.replace_text(field, "clean".into());
        }
        let left: Vec<_> = draft
            .texts()
            .into_iter()
            .filter(|(_, text)| *text != "clean")
            .map(|(field, _)| field)
            .collect();
        assert_eq!(left, [Field::Workspace, Field::FactKey]);
    }
}
