//! The receipt of a record: who said it, from what, what became of it.

use mmw_core::wire::{ExplainAnswer, VersionView};

use super::Page;
use super::answers::{about, differences, reasons};
use super::clean::snippet;
use super::style::{DIM, PLAIN, STRONG, status};

/// How much is shown of a version or a record at the end of a link, in characters.
const SNIPPET_CHARS: usize = 70;

/// Shows the receipt.
pub(crate) fn explained(page: &mut Page, answer: &ExplainAnswer) {
    let record = &answer.record;
    page.line(format!(
        "{}{}",
        status(&answer.status),
        about(page, record, true)
    ));
    page.body("  ", PLAIN, &record.content);
    reasons(page, &answer.status_reasons);
    differences(page, &answer.differences);
    page.gap();

    page.pair("id", &record.id.to_string());
    page.pair(
        "said",
        &format!("{} ({})", record.created_at, page.age(record.created_at)),
    );
    let who = [
        &record.source,
        &record.agent,
        &record.client,
        &record.session_id,
    ];
    let who: Vec<&str> = who.into_iter().flatten().map(String::as_str).collect();
    pair_if(page, "by", &who.join(" · "));
    let from = [
        &record.source_id,
        &record.source_revision,
        &record.source_hash,
    ];
    let mut from: Vec<&str> = from.into_iter().flatten().map(String::as_str).collect();
    let local = answer.local_source.as_ref();
    let local = local.map(|state| format!("{state} here"));
    from.extend(local.as_deref());
    pair_if(page, "from", &from.join(" · "));
    pair_if(page, "branch", record.branch.as_deref().unwrap_or_default());
    page.pair("confidence", &record.confidence.to_string());
    if record.valid_from.is_some() || record.valid_until.is_some() {
        let end = |moment: Option<mmw_core::time::Timestamp>| {
            moment.map_or_else(|| "…".to_owned(), |moment| moment.to_string())
        };
        page.pair(
            "holds",
            &format!("{} to {}", end(record.valid_from), end(record.valid_until)),
        );
    }
    if let Some(newer) = answer.superseded_by {
        page.pair("superseded", &format!("by {newer}"));
    }
    for one in &answer.replaced {
        page.pair(
            "replaced",
            &format!("{} in {} ({})", one.count, one.field, one.rule),
        );
    }
    if let Some(approval) = &answer.approval {
        let note = approval
            .note
            .as_deref()
            .map_or(String::new(), |note| format!(": {note}"));
        let how = format!(
            "{} by {}, {}{note}",
            approval.lane,
            approval.way,
            page.age(approval.at)
        );
        page.pair("approved", &how);
    }

    if answer.versions.len() > 1 {
        heading(page, "versions, newest first");
        for version in &answer.versions {
            show_version(page, version, version.id == record.id);
        }
    }
    if !answer.resolutions.is_empty() {
        heading(page, "decisions");
        for made in &answer.resolutions {
            let note = made
                .note
                .as_deref()
                .map_or(String::new(), |note| format!(": {note}"));
            let how = format!("{} by {}{note}", page.age(made.at), made.way);
            page.remark("  ", "", &format!("{} won, {how}", made.winner));
        }
    }
    if !answer.graph_relations.is_empty() {
        heading(page, "links");
        for link in &answer.graph_relations {
            let arrow = if link.direction == "in" { "←" } else { "→" };
            let end = snippet(&link.snippet, SNIPPET_CHARS);
            page.remark(
                "  ",
                "",
                &format!("{arrow} {} {} {end}", link.kind, link.id),
            );
        }
    }
    if !answer.anchors.is_empty() {
        heading(page, "rests on");
        for anchor in &answer.anchors {
            let hash = anchor.source_hash.as_deref().unwrap_or("no hash");
            page.remark(
                "  ",
                "",
                &format!("{} ({})", anchor.source_id, snippet(hash, 19)),
            );
        }
    }
    if !answer.history.is_empty() {
        heading(page, "history");
        for deed in &answer.history {
            let why = deed
                .why
                .as_deref()
                .map_or(String::new(), |why| format!(": {why}"));
            let what = format!("{} {} by {}{why}", deed.at, deed.deed, deed.way);
            page.remark("  ", "", &what);
        }
    }
}

fn pair_if(page: &mut Page, label: &str, value: &str) {
    if !value.is_empty() {
        page.pair(label, value);
    }
}

fn heading(page: &mut Page, text: &str) {
    page.gap();
    page.line(format!("{STRONG}{text}{STRONG:#}"));
}

fn show_version(page: &mut Page, version: &VersionView, is_this: bool) {
    let mark = if is_this { "▸" } else { " " };
    let word = if version.resolved_away {
        format!("{DIM}decided against{DIM:#}")
    } else {
        status(&version.status)
    };
    let age = page.age(version.created_at);
    page.line(format!("{mark} {word}  {DIM}{age} · {}{DIM:#}", version.id));
    page.body("    ", PLAIN, &snippet(&version.content, SNIPPET_CHARS));
}
