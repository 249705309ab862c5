//! Values of all sorts for property tests.

use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

use crate::draft::{Draft, Envelope, Screened};
use crate::ids::{AccountId, PrincipalId, ProjectId, RecordId};
use crate::place::{Caller, Scopes, Way, WorkspaceName};
use crate::record::{Confidence, FactKey, Kind, Visibility};
use crate::source::{ContentHash, Origin, SourceId, Span};
use crate::time::Timestamp;
use crate::validation;

/// Any id of a record.
pub(crate) fn record_ids() -> impl Strategy<Value = RecordId> {
    any::<[u8; 16]>().prop_map(RecordId::from_bytes)
}

/// Any moment from the first to the last.
pub(crate) fn moments() -> impl Strategy<Value = Timestamp> {
    any::<i64>().prop_map(|ms| Timestamp::from_ms(ms % 300_000_000_000_000))
}

/// Any text that is a label.
pub(crate) fn labels() -> impl Strategy<Value = String> {
    "\\PC{1,12}".prop_filter_map("a label", |text| validation::label("label", &text).ok())
}

/// One of a few sources, so that two often agree.
pub(crate) fn source_ids() -> impl Strategy<Value = SourceId> {
    select(vec!["docs/a.md", "docs/a.md#Part", "docs/b.md", "url é"])
        .prop_filter_map("a source", SourceId::new)
}

/// One of a few hashes, of two algorithms.
pub(crate) fn hashes() -> impl Strategy<Value = ContentHash> {
    select(vec!["git:1", "git:2", "git:3", "x:1", "x:2"])
        .prop_filter_map("a hash", |text| ContentHash::new(text).ok())
}

fn origins() -> impl Strategy<Value = Origin> {
    let span = ("[a-z][a-z-]{0,7}", labels(), hashes()).prop_map(|(kind, label, hash)| Span {
        kind,
        label,
        hash,
    });
    let named = (
        source_ids(),
        of(hashes()),
        of(hashes()),
        of(labels()),
        of(span),
    )
        .prop_map(|(id, hash, text_hash, revision, span)| Origin {
            id: Some(id),
            hash,
            text_hash,
            revision,
            span,
        });
    of(named).prop_map(Option::unwrap_or_default)
}

fn envelopes() -> impl Strategy<Value = Envelope> {
    let said = (of(labels()), of(labels()), of(labels()), of(labels()));
    (of(labels()), of(record_ids()), of(moments()), said).prop_map(
        |(idempotency_key, proposed_id, recorded_at, (agent, client, session, branch))| Envelope {
            idempotency_key,
            proposed_id,
            recorded_at,
            agent,
            client,
            session,
            branch,
        },
    )
}

/// Any draft that has been validated.
pub(crate) fn drafts() -> impl Strategy<Value = Draft> {
    let content =
        "[\\PC\n\t]{1,40}".prop_filter_map("a content", |text| validation::content(&text).ok());
    let workspace = select(vec!["default", "backend", "@user", "Ünï"])
        .prop_filter_map("a workspace", |name| WorkspaceName::new(name).ok());
    let key = "[a-zA-Z_ é-]{1,9}".prop_filter_map("a key", |text| FactKey::new(&text).ok());
    let tags = prop::collection::vec(labels(), 0..4)
        .prop_filter_map("tags", |tags| validation::tags(&tags).ok());
    let sources = prop::collection::btree_set(record_ids(), 0..4);
    let sort = (
        select(Kind::ALL),
        of(labels()),
        (0.0_f64..=1.0).prop_filter_map("a confidence", Confidence::new),
        labels(),
        tags,
    );
    let rest = (of(moments()), of(moments()), origins(), envelopes());
    (content, workspace, of(key), sort, sources, rest).prop_filter_map(
        "a draft",
        |(content, workspace, fact_key, sort, sources, rest)| {
            let (kind, label, confidence, scope, tags) = sort;
            let (valid_from, valid_until, origin, envelope) = rest;
            let draft = Draft {
                content,
                workspace,
                fact_key,
                kind,
                label,
                origin,
                confidence,
                derived_from: sources.into_iter().collect(),
                scope,
                tags,
                valid_from,
                valid_until: valid_until.filter(|end| valid_from.is_none_or(|start| start < *end)),
                visibility: Visibility::Project,
                envelope,
            };
            draft.check().is_ok().then_some(draft)
        },
    )
}

/// A draft as if the guard had found nothing in it.
pub(crate) fn clean(draft: Draft) -> Screened {
    #[allow(clippy::disallowed_methods, reason = "the guard is above this crate")]
    Screened::sealed_by_guard(draft, Vec::new())
}

/// An agent's caller in a project of its own.
pub(crate) fn caller() -> Caller {
    Caller {
        account: AccountId::from_bytes([1; 16]),
        project: ProjectId::from_bytes([2; 16]),
        user_project: ProjectId::from_bytes([3; 16]),
        principal: PrincipalId::from_bytes([4; 16]),
        key: None,
        scopes: Scopes::agent(),
        way: Way::Mcp,
    }
}
