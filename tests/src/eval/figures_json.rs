//! Writes the figures as one JSON object, for programs that compare runs.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::planted::{self, Stopped};
use super::rivals::Measured;
use super::secrets::{self, BySource, Recall};
use super::statistics::Share;

/// Returns every figure of a run.
pub(crate) fn of(
    secrets: &secrets::Figures,
    planted: &planted::Figures,
    rivals: &[Measured],
) -> Value {
    let rivals: Vec<Value> = rivals
        .iter()
        .map(|rival| {
            json!({
                "name": rival.name,
                "left_out": rival.left_out,
                "own": recall(rival.own),
                "this_guard_on_the_same_rows": recall(rival.ours),
                "figures": on_secrets(&rival.figures),
            })
        })
        .collect();
    json!({
        "secrets": on_secrets(secrets),
        "rivals": rivals,
        "planted": {
            "planted": listed(&planted.planted),
            "honest": listed(&planted.honest),
            "f1_quarantine": planted.f1(|stopped| stopped.quarantine),
            "f1_reject": planted.f1(|stopped| stopped.reject),
            "by_kind": mapped(&planted.by_kind, stopped),
            "honest_by_kind": mapped(&planted.honest_by_kind, stopped),
            "by_source": mapped(&planted.by_source, stopped),
            "honest_by_source": mapped(&planted.honest_by_source, stopped),
            "by_rule": mapped(&planted.by_rule, |by| json!({
                "tier_a": by.tier_a,
                "other_tiers": by.other_tiers,
                "honest": by.honest,
                "precision": share(by.precision()),
            })),
        },
    })
}

fn on_secrets(figures: &secrets::Figures) -> Value {
    json!({
        "all": recall(figures.all),
        "foreign": recall(figures.foreign),
        "ordinary": share(figures.ordinary),
        "near_miss": share(figures.near_miss),
        "rule_fp": share(figures.rule_fp),
        "precision": share(figures.precision()),
        "f1": figures.f1(),
        "by_kind": mapped(&figures.by_kind, |by| recall(*by)),
        "ordinary_by_kind": mapped(&figures.ordinary_by_kind, |by| share(*by)),
        "by_source": mapped(&figures.by_source, by_source),
        "by_family": mapped(&figures.by_family, by_source),
        "by_rule": mapped(&figures.by_rule, |by| json!({
            "right": by.right,
            "beside": by.beside,
            "ordinary": by.wrong,
            "near": by.near,
            "precision": share(by.precision()),
        })),
    })
}

fn share(share: Share) -> Value {
    let (low, high) = share.interval().unzip();
    json!({
        "hits": share.hits,
        "of": share.of,
        "value": share.value(),
        "low": low,
        "high": high,
    })
}

fn recall(recall: Recall) -> Value {
    json!({ "found": share(recall.found), "full": share(recall.full) })
}

fn by_source(by: &BySource) -> Value {
    json!({
        "found": share(by.recall.found),
        "full": share(by.recall.full),
        "redacted": share(by.wrong),
        "f1": by.f1(),
    })
}

fn stopped(stopped: &Stopped) -> Value {
    json!({ "quarantine": share(stopped.quarantine), "reject": share(stopped.reject) })
}

fn listed(groups: &[(&'static str, Stopped)]) -> Value {
    let entries = groups
        .iter()
        .map(|(name, of)| ((*name).to_owned(), stopped(of)));
    Value::Object(entries.collect::<Map<_, _>>())
}

fn mapped<T>(by: &BTreeMap<String, T>, value: impl Fn(&T) -> Value) -> Value {
    let entries = by.iter().map(|(name, of)| (name.clone(), value(of)));
    Value::Object(entries.collect::<Map<_, _>>())
}
