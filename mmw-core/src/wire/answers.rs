//! What a caller gets back: the answer of each action.
//!
//! Optional fields that hold nothing are left out, so that an answer costs few tokens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::draft::Replacement;
use crate::fact::difference::Difference;
use crate::ids::{PrincipalId, RecordId, ResolutionId};
use crate::record::Record;
use crate::status::{Reason, Status};
use crate::time::Timestamp;

/// A record as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[allow(
    missing_docs,
    reason = "the fields are described at `crate::record::Record`"
)]
pub struct RecordView {
    pub id: RecordId,
    pub workspace: String,
    pub content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fact_key: Option<String>,
    pub kind: String,
    pub scope: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_hash: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_hash_text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_revision: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<super::SpanArgs>,
    pub confidence: f64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived_from: Vec<RecordId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<PrincipalId>,
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

impl RecordView {
    /// Returns the record as it is shown.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        let origin = &record.origin;
        Self {
            id: record.id,
            workspace: record.place.workspace.to_string(),
            content: record.content.clone(),
            fact_key: record.fact_key.as_ref().map(ToString::to_string),
            kind: record.kind.name().to_owned(),
            scope: record.scope.clone(),
            tags: record.tags.clone(),
            source: record.label.clone(),
            source_id: origin.id.as_ref().map(ToString::to_string),
            source_hash: origin.hash.as_ref().map(ToString::to_string),
            source_hash_text: origin.text_hash.as_ref().map(ToString::to_string),
            source_revision: origin.revision.clone(),
            span: origin.span.as_ref().map(|span| super::SpanArgs {
                kind: span.kind.clone(),
                label: span.label.clone(),
                hash: span.hash.to_string(),
            }),
            confidence: record.confidence.get(),
            derived_from: record.derived_from.clone(),
            valid_from: record.valid_from,
            valid_until: record.valid_until,
            visibility: Some(record.visibility.name().to_owned()),
            author: Some(record.said.author),
            created_at: record.said.created_at,
            received_at: Some(record.said.received_at),
            agent: record.said.agent.clone(),
            client: record.said.client.clone(),
            session_id: record.said.session.clone(),
            branch: record.said.branch.clone(),
        }
    }

    /// Returns the record without what a model does not need beside every hit; `explain_memory` has
    /// the rest.
    #[must_use]
    pub fn short(self) -> Self {
        Self {
            visibility: None,
            author: None,
            received_at: None,
            agent: None,
            client: None,
            session_id: None,
            ..self
        }
    }
}

/// The most versions that one reason names: a list of claims that each names all the others would
/// grow with their square. The sentence tells how many there are.
const MAX_DISAGREEING_IDS: usize = 8;

/// The most ids of a way to a trouble; of a longer way its beginning and its end are kept.
const MAX_CHAIN_IDS: usize = 20;

/// One reason for a status: a code for programs, a sentence for people and models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReasonView {
    /// `versions_disagree`, `source_changed`, `source_forgotten`, `source_resolved_away`,
    /// `expired`, `inherited`; from the agent also `source_missing`.
    pub code: String,
    /// The level that it raises the status to.
    pub level: String,
    /// The reason in words.
    pub text: String,
    /// The records that it is about (of versions that disagree the newest 20); for `inherited` the
    /// way to the trouble.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<RecordId>,
    /// The source that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<String>,
    /// For `inherited`: the code of the trouble at the end of the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

impl ReasonView {
    /// Returns the reason as it is shown.
    #[must_use]
    pub fn of(reason: &Reason) -> Self {
        let (ids, source_id, cause) = match reason {
            Reason::VersionsDisagree { with } => {
                let newest = with.len().saturating_sub(MAX_DISAGREEING_IDS);
                (with[newest..].to_vec(), None, None)
            }
            Reason::SourceForgotten { ids } | Reason::SourceResolvedAway { ids } => {
                (ids.clone(), None, None)
            }
            Reason::SourceChanged { source_id, .. } => {
                (Vec::new(), Some(source_id.to_string()), None)
            }
            Reason::Expired { .. } => (Vec::new(), None, None),
            Reason::Inherited { chain, cause } => {
                let source_id = match cause.as_ref() {
                    Reason::SourceChanged { source_id, .. } => Some(source_id.to_string()),
                    _ => None,
                };
                let mut ids = chain.clone();
                if ids.len() > MAX_CHAIN_IDS {
                    ids.drain(MAX_CHAIN_IDS / 2..chain.len() - MAX_CHAIN_IDS / 2);
                }
                (ids, source_id, Some(cause.code().to_owned()))
            }
        };
        Self {
            code: reason.code().to_owned(),
            level: reason.level().name().to_owned(),
            text: reason.sentence(),
            ids,
            source_id,
            cause,
        }
    }

    /// Returns all reasons of a status as they are shown.
    #[must_use]
    pub fn all_of(status: &Status) -> Vec<Self> {
        status.reasons().iter().map(Self::of).collect()
    }
}

/// A claim that a saved or shown record disagrees with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Conflicting {
    pub id: RecordId,
    pub content: String,
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<String>,
}

/// What the guard replaced in one field by one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(
    missing_docs,
    reason = "the fields are described at `crate::draft::Replacement`"
)]
pub struct ReplacedView {
    pub field: String,
    pub rule: String,
    pub count: u32,
}

impl ReplacedView {
    /// Returns the replacements as they are shown.
    #[must_use]
    pub fn all_of(replaced: &[Replacement]) -> Vec<Self> {
        replaced
            .iter()
            .map(|replacement| Self {
                field: replacement.field.to_owned(),
                rule: replacement.rule.clone(),
                count: replacement.count,
            })
            .collect()
    }
}

/// Answer of `remember`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RememberAnswer {
    /// `saved`; `deduplicated`: an equal record was there; `quarantined`: held for a person's
    /// review and not in memory; `forgotten`: the request was answered before and its record has
    /// been forgotten since; `queued`: in the local spool.
    pub outcome: String,
    /// The record; absent when it is not in memory.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordView>,
    /// Always `unverified` for a record that was saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Open versions of the fact that say something else.
    #[serde(default)]
    pub conflicts_with: Vec<Conflicting>,
    /// Earlier versions that this one comes after.
    #[serde(default)]
    pub superseded: Vec<RecordId>,
    /// What the guard replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<ReplacedView>,
    /// An equal record was there and is returned as it is.
    #[serde(default)]
    pub deduplicated: bool,
    /// Set if the guard held the write back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantine: Option<QuarantineView>,
    /// From the agent: why the source is not anchored, or not as it was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_note: Option<String>,
}

/// Why a write waits in the review lane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuarantineView {
    /// The item in the lane.
    pub candidate_id: String,
    /// The guard's rule.
    pub rule: String,
    /// The reason in words.
    pub reason: String,
}

/// A link of a hit, seen from the hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RelationView {
    /// The kind of the link.
    pub kind: String,
    /// `out` if the link starts at the hit, `in` if it leads to it.
    pub direction: String,
    /// The record at the other end.
    pub id: RecordId,
    /// The beginning of its content; empty where that could be no hit here.
    pub snippet: String,
}

/// The parts of a score.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ScoreView {
    /// How well the words match, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lexical: Option<f64>,
    /// The place among the matches by words, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lexical_rank: Option<u32>,
    /// How much of `lexical` comes from the turns before it, if it is a turn of a conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lexical_before: Option<f64>,
    /// How near the meaning is, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semantic: Option<f64>,
    /// The place among the matches by meaning, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub semantic_rank: Option<u32>,
    /// How much more crowded it is around the record than usual, as a cosine. A third of it counts against the
    /// place among the hits, not against the score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crowding: Option<f64>,
}

/// A file source that a hit rests on, directly or through what it derives from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Anchor {
    /// The record that names the source.
    pub record: RecordId,
    /// The source.
    pub source_id: String,
    /// The recorded hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_hash: Option<String>,
    /// The recorded hash with line ends folded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_hash_text: Option<String>,
    /// The part that was anchored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<super::SpanArgs>,
}

/// What makes two claims differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DifferenceView {
    /// The claim that the hit is compared with.
    pub with: RecordId,
    /// The reading: the source was revised, or the newer one wins by time.
    pub text: String,
    /// Values that only the hit has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_here: Vec<String>,
    /// Values that only the other claim has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_there: Vec<String>,
}

impl DifferenceView {
    /// Returns the difference as the older claim's (`hit_is_newer` false) or the newer claim's view.
    #[must_use]
    pub fn of(difference: &Difference, with: RecordId, hit_is_newer: bool) -> Self {
        let text = match &difference.source_revised {
            Some((was, is)) => format!(
                "the source was revised between the two ({} → {})",
                short_hash(was.as_str()),
                short_hash(is.as_str())
            ),
            None if hit_is_newer => "this one was said later".to_owned(),
            None => "the other one was said later".to_owned(),
        };
        let (only_here, only_there) = if hit_is_newer {
            (&difference.only_in_newer, &difference.only_in_older)
        } else {
            (&difference.only_in_older, &difference.only_in_newer)
        };
        Self {
            with,
            text,
            only_here: only_here.clone(),
            only_there: only_there.clone(),
        }
    }
}

/// Shortens a hash to its algorithm and first digits.
fn short_hash(hash: &str) -> String {
    hash.chars().take(19).collect()
}

/// The part of a file that was compared with what was anchored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocalSpan {
    /// `heading`, `lines` or `symbol`.
    pub kind: String,
    /// How it was called when it was anchored.
    pub label: String,
    /// The lines that it has now, such as `10-40`; unknown if it was not found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
}

/// One hit of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    /// The record.
    #[serde(flatten)]
    pub record: RecordView,
    /// `unverified`, `stale` or `conflict`.
    pub status: String,
    /// Why.
    pub status_reasons: Vec<ReasonView>,
    /// The version that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<RecordId>,
    /// How many superseded or repeated versions are folded into this hit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub older_versions: u32,
    /// For an open conflict: what the claims differ in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<DifferenceView>,
    /// Its links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub graph_relations: Vec<RelationView>,
    /// 0 to 1; from 0.5 on it is likely what was asked for.
    pub score: f64,
    /// What the score is made of.
    pub score_parts: ScoreView,
    /// The file sources of everything it derives from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<Anchor>,
    /// From the agent: `unchanged`, `changed` or `missing`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_source: Option<String>,
    /// From the agent: the part of the file that was compared, if not the whole file was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_span: Option<LocalSpan>,
    /// The content was cut; `explain_memory` has the rest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
const fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// Hits in a workspace that was not searched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Elsewhere {
    /// The workspace.
    pub workspace: String,
    /// How many records match there.
    pub hits: u32,
}

/// Answer of `search`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchAnswer {
    /// The hits, best first; open claims of one fact next to each other, newest first.
    pub hits: Vec<Hit>,
    /// How many records and facts match, before `limit`, as far as was looked.
    pub total: u32,
    /// Other workspaces of the project that have matches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<Elsewhere>,
    /// What could not be used: `semantic` (some records have no vector at hand), `semantic_language`,
    /// `common_words`, `inheritance`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<String>,
    /// Hits that were left out to keep within `max_tokens`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub omitted: u32,
    /// How long it took, in milliseconds.
    pub took_ms: f64,
    /// What a reader should know, for example that nothing was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Answer of `forget`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForgetAnswer {
    /// Records that left the reads.
    pub forgotten: u32,
    /// Records that had been forgotten before.
    pub already_forgotten: u32,
    /// Links that left the reads.
    pub links: u32,
    /// Rows of indexes that left the reads.
    pub index_rows: u32,
    /// The records.
    pub ids: Vec<RecordId>,
    /// Nothing was done: this is what would go.
    pub dry_run: bool,
}

/// A record that `validate_memory` found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ValidatedView {
    pub id: RecordId,
    pub workspace: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fact_key: Option<String>,
    pub content: String,
    pub source_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_hash: Option<String>,
    pub created_at: Timestamp,
    pub status: String,
    pub status_reasons: Vec<ReasonView>,
}

/// Answer of `validate_memory`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValidateAnswer {
    /// How many records rest on the source.
    pub checked: u32,
    /// How many of them rest on this very hash.
    pub unchanged: u32,
    /// How many recorded no hash that could be compared.
    pub unknown: u32,
    /// Those that rest on another hash.
    pub stale: Vec<ValidatedView>,
    /// Those that are in conflict.
    pub conflicts: Vec<ValidatedView>,
    /// Records that are not shown because today's guard sees an instruction in them; `rescan` moves
    /// them to the review lane.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub withheld: u32,
}

/// A version of a fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "the names say it")]
pub struct VersionView {
    pub id: RecordId,
    pub content: String,
    pub created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<String>,
    pub status: String,
    /// A person decided against it.
    pub resolved_away: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<RecordId>,
}

/// A resolution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(
    missing_docs,
    reason = "the fields are described at `crate::fact::Resolution`"
)]
pub struct ResolutionView {
    pub id: ResolutionId,
    pub winner: RecordId,
    pub closed: Vec<RecordId>,
    pub at: Timestamp,
    pub by: PrincipalId,
    pub way: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Answer of `resolve_conflict`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResolveAnswer {
    /// The fact.
    pub fact_key: String,
    /// Its workspace.
    pub workspace: String,
    /// The decision.
    pub resolution: ResolutionView,
    /// The versions after it, newest first.
    pub versions: Vec<VersionView>,
}

/// Something that was done to a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(
    missing_docs,
    reason = "the fields are described at `crate::audit::Entry`"
)]
pub struct DeedView {
    pub at: Timestamp,
    pub deed: String,
    pub way: String,
    pub by: PrincipalId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The approval through which a record came out of the review lane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs, reason = "the fields are described at `crate::capture`")]
pub struct ApprovalView {
    pub candidate_id: String,
    pub lane: String,
    pub by: PrincipalId,
    pub way: String,
    pub at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
}

/// Answer of `explain_memory`: the receipt of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainAnswer {
    /// The record, whole.
    pub record: RecordView,
    /// `unverified`, `stale` or `conflict`.
    pub status: String,
    /// Why.
    pub status_reasons: Vec<ReasonView>,
    /// The version that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<RecordId>,
    /// The versions of its fact, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<VersionView>,
    /// The decisions on its fact, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resolutions: Vec<ResolutionView>,
    /// For an open conflict: what the claims differ in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<DifferenceView>,
    /// Its links.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub graph_relations: Vec<RelationView>,
    /// The file sources of everything it derives from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub anchors: Vec<Anchor>,
    /// From the agent: `unchanged`, `changed` or `missing`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_source: Option<String>,
    /// From the agent: the part of the file that was compared, if not the whole file was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_span: Option<LocalSpan>,
    /// What the guard replaced when it was saved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<ReplacedView>,
    /// Set if it came out of the review lane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalView>,
    /// What was done to it, oldest first.
    pub history: Vec<DeedView>,
}

/// An item of the review lane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaneItemView {
    /// The id, `mem_cand_…`.
    pub candidate_id: String,
    /// `candidate`, `quarantined` or `suggestion`.
    pub kind: String,
    /// `waiting`, `promoted`, `rejected`, `never` or `expired`.
    pub state: String,
    /// The statement.
    pub content: String,
    /// Where it would go.
    pub workspace: String,
    /// Its topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fact_key: Option<String>,
    /// What sort of statement it is.
    pub classification: String,
    /// Why it would be worth keeping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_durable: Option<String>,
    /// The guard's rule that held it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The guard's reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The events that it rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The source that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<String>,
    /// When it came into the lane.
    pub created_at: Timestamp,
    /// When it expires if nobody decides.
    pub expires_at: Timestamp,
    /// The record that it became.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<RecordId>,
}

/// Answer of `review_candidates`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewAnswer {
    /// What was done: the action.
    pub action: String,
    /// The items: listed, or as they are after the decision.
    pub items: Vec<LaneItemView>,
    /// How many wait in all.
    pub waiting: u32,
}
