//! What a caller writes: the arguments of each action, and how they become values.
//!
//! The doc comments are the descriptions that a model reads; every word there costs tokens in
//! every session, so they are as short as they can be.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::draft::{Draft, Envelope, MAX_IDEMPOTENCY_KEY_CHARS};
use crate::ids::RecordId;
use crate::place::WorkspaceChoice;
use crate::record::{DEFAULT_SCOPE, FactKey, Kind, Visibility};
use crate::source::{Origin, SourceId, Span};
use crate::time::Timestamp;
use crate::validation::{self, Invalid};

/// Arguments of `remember`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RememberArgs {
    /// The statement, self-contained. One fact a call.
    #[schemars(length(min = 1, max = 16384))]
    pub content: String,
    /// Default `default`; `@user` for the person's own, across projects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Topic. Reuse it to correct a fact: saving adds a version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub fact_key: Option<String>,
    #[allow(missing_docs, reason = "a description would only cost tokens")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["fact", "decision", "preference", "pattern", "context", "summary"]))]
    pub kind: Option<String>,
    /// Label for filtering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    #[allow(missing_docs, reason = "a description would only cost tokens")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub tags: Vec<String>,
    /// Who or what wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// File path (with `#Heading`, `#L10-L40` or `#fn name` for a part), URL or session it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<String>,
    /// `sha256:<hex>` of that file; mmw-agent adds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_hash: Option<String>,
    /// Commit or version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_revision: Option<String>,
    #[allow(missing_docs, reason = "a description would only cost tokens")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub confidence: Option<f64>,
    /// Ids of records it condenses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub derived_from: Vec<String>,
    /// RFC 3339
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<String>,
    /// RFC 3339
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<String>,
    #[allow(missing_docs, reason = "a description would only cost tokens")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["author", "unit", "project", "organization"]))]
    pub visibility: Option<String>,
}

/// What the agent adds to a write: `_meta["mmw/envelope"]` over MCP, `envelope` in REST bodies.
/// Unknown keys are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[allow(
    missing_docs,
    reason = "the fields are described at `crate::draft::Envelope`"
)]
pub struct EnvelopeArgs {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_hash_text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<SpanArgs>,
}

/// The part of a document that a fact is anchored to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[allow(
    missing_docs,
    reason = "the fields are described at `crate::source::Span`"
)]
pub struct SpanArgs {
    pub kind: String,
    pub label: String,
    pub hash: String,
}

impl RememberArgs {
    /// Returns the draft that these arguments and the agent's envelope make.
    ///
    /// # Errors
    /// The first argument that can't be accepted.
    pub fn into_draft(self, envelope: &EnvelopeArgs) -> Result<Draft, Invalid> {
        let label = |field: &str, text: Option<&String>| {
            text.map(|text| validation::label(field, text)).transpose()
        };
        let hash = |field: &str, text: Option<&String>| {
            text.map(|text| validation::hash(field, text)).transpose()
        };
        let moment = |field: &str, text: Option<&String>| {
            text.map(|text| validation::moment(field, text)).transpose()
        };
        let draft = Draft {
            content: validation::content(&self.content)?,
            workspace: validation::workspace(self.workspace.as_deref())?,
            fact_key: self
                .fact_key
                .as_deref()
                .map(validation::fact_key)
                .transpose()?,
            kind: self.kind.as_deref().map_or(Ok(Kind::Fact), |kind| {
                validation::choice("kind", kind, Kind::ALL, Kind::name)
            })?,
            label: label("source", self.source.as_ref())?,
            origin: Origin {
                id: self
                    .source_id
                    .as_deref()
                    .map(|id| validation::source_id("source_id", id))
                    .transpose()?,
                hash: hash("source_hash", self.source_hash.as_ref())?,
                text_hash: hash("source_hash_text", envelope.source_hash_text.as_ref())?,
                revision: label("source_revision", self.source_revision.as_ref())?,
                span: envelope.span.as_ref().map(SpanArgs::read).transpose()?,
            },
            confidence: validation::confidence(self.confidence)?,
            derived_from: validation::derived_from(&self.derived_from)?,
            scope: label("scope", self.scope.as_ref())?.unwrap_or_else(|| DEFAULT_SCOPE.to_owned()),
            tags: validation::tags(&self.tags)?,
            valid_from: moment("valid_from", self.valid_from.as_ref())?,
            valid_until: moment("valid_until", self.valid_until.as_ref())?,
            visibility: self
                .visibility
                .as_deref()
                .map_or(Ok(Visibility::Project), |name| {
                    validation::choice("visibility", name, Visibility::ALL, Visibility::name)
                })?,
            envelope: envelope.read()?,
        };
        draft.check()?;
        Ok(draft)
    }

    /// Returns the arguments and the envelope that make this draft, to keep it as JSON.
    #[must_use]
    pub fn of(draft: &Draft) -> (Self, EnvelopeArgs) {
        let moment = |moment: &Option<Timestamp>| moment.as_ref().map(Timestamp::to_string);
        let origin = &draft.origin;
        let args = Self {
            content: draft.content.clone(),
            workspace: Some(draft.workspace.to_string()),
            fact_key: draft.fact_key.as_ref().map(FactKey::to_string),
            kind: Some(draft.kind.name().to_owned()),
            scope: Some(draft.scope.clone()),
            tags: draft.tags.clone(),
            source: draft.label.clone(),
            source_id: origin.id.as_ref().map(SourceId::to_string),
            source_hash: origin.hash.as_ref().map(ToString::to_string),
            source_revision: origin.revision.clone(),
            confidence: Some(draft.confidence.get()),
            derived_from: draft.derived_from.iter().map(ToString::to_string).collect(),
            valid_from: moment(&draft.valid_from),
            valid_until: moment(&draft.valid_until),
            visibility: Some(draft.visibility.name().to_owned()),
        };
        let envelope = &draft.envelope;
        let envelope = EnvelopeArgs {
            idempotency_key: envelope.idempotency_key.clone(),
            proposed_id: envelope.proposed_id.as_ref().map(ToString::to_string),
            recorded_at: moment(&envelope.recorded_at),
            agent: envelope.agent.clone(),
            client: envelope.client.clone(),
            session_id: envelope.session.clone(),
            branch: envelope.branch.clone(),
            source_hash_text: origin.text_hash.as_ref().map(ToString::to_string),
            span: origin.span.as_ref().map(|span| SpanArgs {
                kind: span.kind.clone(),
                label: span.label.clone(),
                hash: span.hash.to_string(),
            }),
        };
        (args, envelope)
    }
}

impl SpanArgs {
    fn read(&self) -> Result<Span, Invalid> {
        Ok(Span {
            kind: validation::span_kind("span.kind", &self.kind)?,
            label: validation::label("span.label", &self.label)?,
            hash: validation::hash("span.hash", &self.hash)?,
        })
    }
}

impl EnvelopeArgs {
    /// Returns the envelope that these arguments make.
    ///
    /// # Errors
    /// The first argument that can't be accepted.
    pub fn read(&self) -> Result<Envelope, Invalid> {
        let label = |field: &str, text: Option<&String>| {
            text.map(|text| validation::label(field, text)).transpose()
        };
        let idempotency_key = label("idempotency_key", self.idempotency_key.as_ref())?;
        if idempotency_key
            .as_ref()
            .is_some_and(|key| key.chars().count() > MAX_IDEMPOTENCY_KEY_CHARS)
        {
            return Err(Invalid::new(
                "idempotency_key",
                format!("has more than {MAX_IDEMPOTENCY_KEY_CHARS} characters"),
            ));
        }
        Ok(Envelope {
            idempotency_key,
            proposed_id: self
                .proposed_id
                .as_deref()
                .map(|id| {
                    id.parse()
                        .map_err(|e| Invalid::new("proposed_id", format!("{e}")))
                })
                .transpose()?,
            recorded_at: self
                .recorded_at
                .as_deref()
                .map(|text| validation::moment("recorded_at", text))
                .transpose()?,
            agent: label("agent", self.agent.as_ref())?,
            client: label("client", self.client.as_ref())?,
            session: label("session_id", self.session_id.as_ref())?,
            branch: label("branch", self.branch.as_ref())?,
        })
    }
}

/// Reads a whole number that may be written `2` or `2.0`, as JSON Schema allows.
pub(super) fn whole_number<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<i64>, D::Error> {
    use serde::de::Error as _;
    let Some(number) = Option::<serde_json::Number>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let whole = number.as_i64().or_else(|| {
        let value = number.as_f64()?;
        #[allow(
            clippy::cast_possible_truncation,
            reason = "whole and within the safe range"
        )]
        let whole = value as i64;
        (value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0).then_some(whole)
    });
    whole
        .map(Some)
        .ok_or_else(|| D::Error::custom("must be a whole number"))
}

/// Arguments of `search`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SearchArgs {
    /// Words or a question.
    #[schemars(length(min = 1))]
    pub query: String,
    /// Default `default`; `*` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    #[allow(missing_docs, reason = "a description would only cost tokens")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Default 10.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole_number"
    )]
    #[schemars(range(min = 1, max = 50))]
    pub limit: Option<i64>,
    /// Only this source; with current_source_hash: what it is the hash of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<String>,
    /// Hash of that source now: hits that rest on another are stale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_source_hash: Option<String>,
    /// The same for several: {source_id: hash}.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub current_sources: BTreeMap<String, String>,
    #[allow(missing_docs, reason = "a description would only cost tokens")]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exclude_stale: bool,
    #[allow(missing_docs, reason = "a description would only cost tokens")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["fact", "decision", "preference", "pattern", "context", "summary"]))]
    pub kind: Option<String>,
    /// All of them must be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What held at that time (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// Also list superseded versions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub history: bool,
    #[allow(missing_docs, reason = "a description would only cost tokens")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["brief", "full"]))]
    pub detail: Option<String>,
    /// Cap of the answer, default 6000.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole_number"
    )]
    #[schemars(range(min = 200, max = 100_000))]
    pub max_tokens: Option<i64>,
    /// No argument: whoever asks compares files itself, and brief hits keep what that takes. It costs none
    /// of the tokens, since it is taken out before a model reads the answer.
    #[serde(skip)]
    #[schemars(skip)]
    pub keeps_anchors: bool,
}

/// Arguments of `forget`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ForgetArgs {
    /// One record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_id: Option<String>,
    /// Or everything from this source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<String>,
    /// For source_id: `*` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    #[allow(missing_docs, reason = "a description would only cost tokens")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Only tell what would go.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forgettable {
    /// One record.
    Record(RecordId),
    /// Everything from a source, in one workspace or all.
    Source(SourceId, WorkspaceChoice),
}

impl ForgetArgs {
    /// Reads what is to be forgotten.
    ///
    /// # Errors
    /// [`Invalid`]: not exactly one of id and source, or one that is none.
    pub fn what(&self) -> Result<Forgettable, Invalid> {
        match (&self.memory_id, &self.source_id) {
            // "Ids need no workspace": one that comes with an id, as models like to send it, is no harm.
            (Some(id), None) => {
                let id = id.parse();
                let id = id.map_err(|error| Invalid::new("memory_id", format!("{error}")))?;
                Ok(Forgettable::Record(id))
            }
            (None, Some(source_id)) => {
                let source_id = validation::source_id("source_id", source_id)?;
                let workspace = validation::workspace_choice(self.workspace.as_deref())?;
                Ok(Forgettable::Source(source_id, workspace))
            }
            (Some(_), Some(_)) => Err(Invalid::new(
                "source_id",
                "can't go with memory_id; give one of the two",
            )),
            (None, None) => Err(Invalid::new(
                "memory_id",
                "or source_id is needed: what shall be forgotten?",
            )),
        }
    }
}

/// Arguments of `validate_memory`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[allow(
    missing_docs,
    reason = "the names say it; descriptions would only cost tokens"
)]
pub struct ValidateArgs {
    pub source_id: String,
    pub current_source_hash: String,
    /// Default `default`; `*` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

/// Arguments of `explain_memory`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[allow(
    missing_docs,
    reason = "the names say it; descriptions would only cost tokens"
)]
pub struct ExplainArgs {
    pub memory_id: String,
}

/// Arguments of `resolve_conflict`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[allow(
    missing_docs,
    reason = "the names say it; descriptions would only cost tokens"
)]
pub struct ResolveArgs {
    pub fact_key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Id of the version that holds.
    pub winner: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Arguments of `review_candidates`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ReviewArgs {
    /// Default list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["list", "approve", "edit", "reject", "never", "release"]))]
    pub action: Option<String>,
    /// Items to decide on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50))]
    pub ids: Vec<String>,
    /// For edit: the text to save instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[allow(missing_docs, reason = "a description would only cost tokens")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[allow(missing_docs, reason = "a description would only cost tokens")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["candidate", "quarantined", "suggestion"]))]
    pub kind: Option<String>,
    #[allow(missing_docs, reason = "a description would only cost tokens")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Default 20.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "whole_number"
    )]
    #[schemars(range(min = 1, max = 50))]
    pub limit: Option<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_survives_being_kept_as_json() {
        let args = RememberArgs {
            content: "staging is `app-staging`".into(),
            workspace: Some("backend".into()),
            fact_key: Some("Deploy_Staging".into()),
            kind: Some("decision".into()),
            tags: vec!["ops".into()],
            source: Some("claude-code".into()),
            source_id: Some("docs/deploy.md#Staging".into()),
            source_hash: Some("git:abc".into()),
            source_revision: Some("4c53699".into()),
            confidence: Some(0.9),
            derived_from: vec!["0192f0c1-8a6b-7c3d-9e4f-0123456789ab".into()],
            valid_until: Some("2027-01-01".into()),
            ..RememberArgs::default()
        };
        let envelope = EnvelopeArgs {
            idempotency_key: Some("k1".into()),
            recorded_at: Some("2026-03-14T09:30:00Z".into()),
            span: Some(SpanArgs {
                kind: "heading".into(),
                label: "Staging".into(),
                hash: "x:1".into(),
            }),
            ..EnvelopeArgs::default()
        };
        let draft = args.into_draft(&envelope).unwrap();
        let (args, envelope) = RememberArgs::of(&draft);
        let json = serde_json::to_string(&(&args, &envelope)).unwrap();
        let (args, envelope): (RememberArgs, EnvelopeArgs) = serde_json::from_str(&json).unwrap();
        assert_eq!(args.into_draft(&envelope).unwrap(), draft);
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_point() {
        let read = |limit: &str| {
            serde_json::from_str::<SearchArgs>(&format!(r#"{{"query":"q","limit":{limit}}}"#))
        };
        assert_eq!(read("2.0").unwrap().limit, Some(2));
        assert_eq!(read("-1").unwrap().limit, Some(-1));
        assert_eq!(read("null").unwrap().limit, None);
        for bad in ["2.5", "\"2\"", "1e300", "true"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn unknown_keys_of_an_envelope_are_ignored() {
        let read: EnvelopeArgs = serde_json::from_str(r#"{"agent":"codex","later":1}"#).unwrap();
        assert_eq!(read.agent.as_deref(), Some("codex"));
    }

    #[test]
    fn the_first_bad_argument_is_named() {
        let field =
            |args: RememberArgs| args.into_draft(&EnvelopeArgs::default()).unwrap_err().field;
        let good = RememberArgs {
            content: "x".into(),
            ..RememberArgs::default()
        };
        assert_eq!(
            field(RememberArgs {
                content: " ".into(),
                ..good.clone()
            }),
            "content"
        );
        assert_eq!(
            field(RememberArgs {
                kind: Some("note".into()),
                ..good.clone()
            }),
            "kind"
        );
        assert_eq!(
            field(RememberArgs {
                confidence: Some(1.5),
                ..good.clone()
            }),
            "confidence"
        );
        assert_eq!(
            field(RememberArgs {
                source_hash: Some("x:1".into()),
                ..good.clone()
            }),
            "source_hash"
        );
        assert_eq!(
            field(RememberArgs {
                workspace: Some(String::new()),
                ..good.clone()
            }),
            "workspace"
        );
        assert_eq!(
            field(RememberArgs {
                visibility: Some("author".into()),
                ..good
            }),
            "visibility"
        );
    }
}
