//! What `rescan` reports with `--json`: the same for the server's store and for a computer's own.

use mmw_store::RescanReport;
use serde_json::{Value, json};

/// Returns the report as data: counts, fields, rules and ids, never a value that was replaced.
#[must_use]
pub fn data(report: &RescanReport) -> Value {
    let replaced: Vec<Value> = report
        .replaced
        .iter()
        .map(|((field, rule), n)| json!({ "field": field, "rule": rule, "count": n }))
        .collect();
    let touched: Vec<Value> = report
        .touched
        .iter()
        .map(
            |touched| json!({ "what": touched.what, "done": touched.done, "rules": touched.rules }),
        )
        .collect();
    json!({
        "dry_run": report.is_dry_run,
        "looked_at": report.n_looked_at,
        "redacted": report.n_redacted,
        "withdrawn": report.n_withdrawn,
        "lane_items": report.n_lane_items,
        "texts": report.n_texts,
        "reported": report.n_reported,
        "replaced": replaced,
        "touched": touched,
        "compacted": report.is_compacted,
    })
}
