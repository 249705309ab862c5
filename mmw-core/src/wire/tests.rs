//! What is sent and kept reads back as it was.

use std::fmt::Debug;

use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::samples::{caller, clean, drafts, labels, moments, record_ids};
use super::*;
use crate::fact::plan::{Plan, plan};
use crate::ids::{PrincipalId, RecordId, ResolutionId};

/// Sends a value and takes it in again.
fn again<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let json = serde_json::to_string(value).unwrap();
    serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e}: {json}"))
}

fn required<T: JsonSchema>() -> Vec<String> {
    let schema = schema_for!(T);
    let names = schema.get("required").and_then(Value::as_array).cloned();
    let names = names.unwrap_or_default();
    names
        .iter()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect()
}

#[track_caller]
fn check_schema<T: JsonSchema + Serialize + DeserializeOwned + Default>(must: &[&str]) {
    assert_eq!(required::<T>(), must);
    let schema = schema_for!(T);
    let properties = schema.get("properties").and_then(Value::as_object).unwrap();
    assert_eq!(schema.get("type"), Some(&"object".into()));
    // A call with what is required and nothing else can be read, and one without it cannot.
    let least: serde_json::Map<String, Value> = must
        .iter()
        .map(|name| ((*name).to_owned(), "x".into()))
        .collect();
    assert!(T::deserialize(Value::Object(least.clone())).is_ok());
    for name in must {
        assert!(properties.contains_key(*name), "{name}");
        let mut less = least.clone();
        less.remove(*name);
        assert!(T::deserialize(Value::Object(less)).is_err(), "{name}");
    }
    // Whatever is left out is not sent as a null, which some models imitate.
    let sent = serde_json::to_value(T::default()).unwrap();
    assert_eq!(sent.as_object().unwrap().keys().collect::<Vec<_>>(), must);
}

#[test]
fn schemas_require_what_an_action_cannot_do_without() {
    check_schema::<RememberArgs>(&["content"]);
    check_schema::<SearchArgs>(&["query"]);
    check_schema::<ForgetArgs>(&[]);
    check_schema::<ValidateArgs>(&["source_id", "current_source_hash"]);
    check_schema::<ExplainArgs>(&["memory_id"]);
    check_schema::<ResolveArgs>(&["fact_key", "winner"]);
    check_schema::<ReviewArgs>(&[]);
    check_schema::<EnvelopeArgs>(&[]);
}

#[test]
fn schemas_state_the_limits_that_the_rules_keep() {
    let schema = schema_for!(RememberArgs);
    let of = |name: &str, limit: &str| {
        let properties = schema.get("properties").unwrap();
        properties[name].get(limit).and_then(Value::as_u64)
    };
    let limit = |n: usize| Some(n as u64);
    assert_eq!(
        of("content", "maxLength"),
        limit(crate::record::MAX_CONTENT_BYTES)
    );
    assert_eq!(
        of("fact_key", "maxLength"),
        limit(crate::record::MAX_FACT_KEY_CHARS)
    );
    assert_eq!(of("tags", "maxItems"), limit(crate::record::MAX_TAGS));
    assert_eq!(
        of("derived_from", "maxItems"),
        limit(crate::record::MAX_DERIVED_FROM)
    );
    assert_eq!(of("confidence", "maximum"), Some(1));
    let kinds: Vec<&str> = crate::record::Kind::ALL
        .iter()
        .map(|kind| kind.name())
        .collect();
    let properties = schema.get("properties").unwrap();
    assert_eq!(properties["kind"]["enum"], serde_json::json!(kinds));
    let visible: Vec<&str> = crate::record::Visibility::ALL
        .iter()
        .map(|one| one.name())
        .collect();
    assert_eq!(properties["visibility"]["enum"], serde_json::json!(visible));
}

fn views() -> impl Strategy<Value = RecordView> {
    (drafts(), record_ids(), moments()).prop_map(|(draft, id, now)| {
        match plan(&clean(draft), &caller(), id, now, None) {
            Plan::New(record) => RecordView::of(&record),
            Plan::Existing(_) => unreachable!("nothing was there"),
        }
    })
}

fn reasons() -> impl Strategy<Value = ReasonView> {
    (
        labels(),
        labels(),
        labels(),
        ids(),
        of(labels()),
        of(labels()),
    )
        .prop_map(|(code, level, text, ids, source_id, cause)| ReasonView {
            code,
            level,
            text,
            ids,
            source_id,
            cause,
        })
}

fn ids() -> impl Strategy<Value = Vec<RecordId>> {
    vec(record_ids(), 0..3)
}

fn people() -> impl Strategy<Value = PrincipalId> {
    any::<[u8; 16]>().prop_map(PrincipalId::from_bytes)
}

fn replaced() -> impl Strategy<Value = Vec<ReplacedView>> {
    let one = (labels(), labels(), any::<u32>()).prop_map(|(field, rule, count)| ReplacedView {
        field,
        rule,
        count,
    });
    vec(one, 0..3)
}

fn spans() -> impl Strategy<Value = SpanArgs> {
    (labels(), labels(), labels()).prop_map(|(kind, label, hash)| SpanArgs { kind, label, hash })
}

fn relations() -> impl Strategy<Value = Vec<RelationView>> {
    let one =
        (labels(), labels(), record_ids(), labels()).prop_map(|(kind, direction, id, snippet)| {
            RelationView {
                kind,
                direction,
                id,
                snippet,
            }
        });
    vec(one, 0..2)
}

fn anchors() -> impl Strategy<Value = Vec<Anchor>> {
    let one = (
        record_ids(),
        labels(),
        of(labels()),
        of(labels()),
        of(spans()),
    )
        .prop_map(
            |(record, source_id, source_hash, source_hash_text, span)| Anchor {
                record,
                source_id,
                source_hash,
                source_hash_text,
                span,
            },
        );
    vec(one, 0..2)
}

fn differences() -> impl Strategy<Value = Vec<DifferenceView>> {
    let one = (
        record_ids(),
        labels(),
        vec(labels(), 0..2),
        vec(labels(), 0..2),
    )
        .prop_map(|(with, text, only_here, only_there)| DifferenceView {
            with,
            text,
            only_here,
            only_there,
        });
    vec(one, 0..2)
}

fn hits() -> impl Strategy<Value = Hit> {
    let scores = (
        0.0_f64..=1.0,
        of(0.0_f64..=1.0),
        of(any::<u32>()),
        of(0.0_f64..=1.0),
    );
    let status = (
        labels(),
        vec(reasons(), 0..3),
        of(record_ids()),
        any::<u32>(),
    );
    let local_span = (labels(), labels(), of(labels()))
        .prop_map(|(kind, label, lines)| LocalSpan { kind, label, lines });
    let rest = (
        relations(),
        anchors(),
        of(labels()),
        any::<bool>(),
        of(local_span),
    );
    (views(), status, differences(), scores, rest).prop_map(
        |(record, status, differences, (score, lexical, lexical_rank, semantic), rest)| Hit {
            record,
            status: status.0,
            status_reasons: status.1,
            superseded_by: status.2,
            older_versions: status.3,
            differences,
            graph_relations: rest.0,
            score,
            score_parts: ScoreView {
                lexical,
                lexical_rank,
                lexical_before: lexical,
                semantic,
                semantic_rank: lexical_rank,
                crowding: lexical,
            },
            anchors: rest.1,
            local_source: rest.2,
            local_span: rest.4,
            truncated: rest.3,
        },
    )
}

fn versions() -> impl Strategy<Value = Vec<VersionView>> {
    let one = (
        record_ids(),
        labels(),
        moments(),
        of(labels()),
        labels(),
        any::<bool>(),
    )
        .prop_map(
            |(id, content, created_at, source_id, status, resolved_away)| VersionView {
                id,
                content,
                created_at,
                source_id,
                status,
                resolved_away,
                superseded_by: resolved_away.then_some(id),
            },
        );
    vec(one, 0..3)
}

fn resolutions() -> impl Strategy<Value = ResolutionView> {
    (
        any::<[u8; 16]>(),
        record_ids(),
        ids(),
        moments(),
        people(),
        labels(),
        of(labels()),
    )
        .prop_map(|(id, winner, closed, at, by, way, note)| ResolutionView {
            id: ResolutionId::from_bytes(id),
            winner,
            closed,
            at,
            by,
            way,
            note,
        })
}

#[track_caller]
fn check_answer<T: Serialize + DeserializeOwned + PartialEq + Debug>(
    answer: &T,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(&again(answer), answer);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_draft_is_the_same_after_it_was_kept(draft in drafts()) {
        let (args, envelope) = again(&RememberArgs::of(&draft));
        let (args_before, envelope_before) = RememberArgs::of(&draft);
        prop_assert_eq!((&args, &envelope), (&args_before, &envelope_before));
        prop_assert_eq!(args.into_draft(&envelope), Ok(draft));
    }

    #[test]
    fn arguments_are_the_same_after_they_were_sent(
        texts in (labels(), of(labels()), of(labels()), of(labels()), of(labels())),
        list in vec(labels(), 0..3),
        sources in btree_map(labels(), labels(), 0..3),
        limit in of(any::<i64>()),
        yes in any::<bool>(),
    ) {
        let (text, one, two, three, four) = texts;
        check_answer(&SearchArgs {
            query: text.clone(), workspace: one.clone(), scope: two.clone(), limit,
            source_id: three.clone(), current_source_hash: four.clone(), current_sources: sources,
            exclude_stale: yes, kind: one.clone(), tags: list.clone(), as_of: two.clone(),
            history: yes, detail: three.clone(), max_tokens: limit,
            keeps_anchors: false,
        })?;
        check_answer(&ForgetArgs {
            memory_id: one.clone(), source_id: two.clone(), workspace: three.clone(),
            reason: four.clone(), dry_run: yes,
        })?;
        check_answer(&ValidateArgs {
            source_id: text.clone(), current_source_hash: text.clone(), workspace: one.clone(),
        })?;
        check_answer(&ExplainArgs { memory_id: text.clone() })?;
        check_answer(&ResolveArgs {
            fact_key: text.clone(), workspace: one.clone(), winner: text, note: two.clone(),
        })?;
        check_answer(&ReviewArgs {
            action: one.clone(), ids: list, content: two, note: three, kind: four,
            workspace: one, limit,
        })?;
    }

    #[test]
    fn what_remember_answers_can_be_read(
        record in of(views()), outcome in labels(), status in of(labels()), superseded in ids(),
        replaced in replaced(), deduplicated in any::<bool>(),
        conflicts in vec((record_ids(), labels(), moments(), of(labels())), 0..3),
        held in of((labels(), labels(), labels())), source_note in of(labels()),
    ) {
        let conflicts_with = conflicts.into_iter()
            .map(|(id, content, created_at, source_id)| Conflicting { id, content, created_at, source_id })
            .collect();
        let quarantine = held
            .map(|(candidate_id, rule, reason)| QuarantineView { candidate_id, rule, reason });
        check_answer(&RememberAnswer {
            outcome, record, status, conflicts_with, superseded, replaced, deduplicated, quarantine,
            source_note,
        })?;
    }

    #[test]
    fn what_search_answers_can_be_read(
        hits in vec(hits(), 0..3), total in any::<u32>(), elsewhere in vec((labels(), any::<u32>()), 0..2),
        degraded in vec(labels(), 0..2), omitted in 0_u32..3, took_ms in 0.0_f64..1e6, notice in of(labels()),
    ) {
        let elsewhere = elsewhere.into_iter()
            .map(|(workspace, hits)| Elsewhere { workspace, hits })
            .collect();
        check_answer(&SearchAnswer { hits, total, elsewhere, degraded, omitted, took_ms, notice })?;
    }

    #[test]
    fn what_forget_and_validate_answer_can_be_read(
        counts in any::<(u32, u32, u32, u32)>(), ids in ids(), dry_run in any::<bool>(),
        found in vec((record_ids(), labels(), of(labels()), moments(), vec(reasons(), 0..3)), 0..3),
    ) {
        let (one, two, three, four) = counts;
        check_answer(&ForgetAnswer {
            forgotten: one, already_forgotten: two, links: three, index_rows: four, ids, dry_run,
        })?;
        let stale: Vec<_> = found.into_iter()
            .map(|(id, text, maybe, created_at, status_reasons)| ValidatedView {
                id, workspace: text.clone(), fact_key: maybe.clone(), content: text.clone(),
                source_id: text.clone(), source_hash: maybe, created_at, status: text, status_reasons,
            })
            .collect();
        check_answer(&ValidateAnswer {
            checked: one, unchanged: two, unknown: three, conflicts: stale.clone(), stale,
            withheld: one,
        })?;
    }

    #[test]
    fn what_explain_and_resolve_answer_can_be_read(
        record in views(), status_reasons in vec(reasons(), 0..3), versions in versions(),
        resolution in resolutions(), differences in differences(), graph_relations in relations(),
        anchors in anchors(), replaced in replaced(), superseded_by in of(record_ids()),
        deed in (moments(), labels(), people(), of(labels())),
    ) {
        let (at, text, by, maybe) = deed;
        check_answer(&ResolveAnswer {
            fact_key: text.clone(), workspace: text.clone(), resolution: resolution.clone(),
            versions: versions.clone(),
        })?;
        let approval = maybe.clone().map(|note| ApprovalView {
            candidate_id: text.clone(), lane: text.clone(), by, way: text.clone(), at,
            note: Some(note.clone()), evidence: vec![note],
        });
        let history = vec![DeedView {
            at, deed: text.clone(), way: text.clone(), by, key: maybe.clone(), why: maybe,
        }];
        check_answer(&ExplainAnswer {
            record, status: text, status_reasons, superseded_by, versions,
            resolutions: vec![resolution], differences, graph_relations, anchors,
            local_source: None, local_span: None, replaced, approval, history,
        })?;
    }

    #[test]
    fn what_review_answers_can_be_read(
        texts in (labels(), labels(), labels(), labels()), maybe in of(labels()), evidence in vec(labels(), 0..2),
        times in (moments(), moments()), record in of(record_ids()), waiting in any::<u32>(),
    ) {
        let (text, kind, state, content) = texts;
        let item = LaneItemView {
            candidate_id: text.clone(), kind, state, content, workspace: text.clone(),
            fact_key: maybe.clone(), classification: text.clone(), why_durable: maybe.clone(),
            rule: maybe.clone(), reason: maybe.clone(), evidence, source_id: maybe,
            created_at: times.0, expires_at: times.1, record,
        };
        check_answer(&ReviewAnswer { action: text, items: vec![item], waiting })?;
    }
}
