//! What is read as a resource or recalled by a prompt, in words.

use mmw_core::time::Timestamp;
use mmw_core::wire::{BriefView, FactView, LocalSpan, Reading, SourcedVersion};

use super::{explain_memory, search, text};

/// Returns what was read as a model reads it at that moment.
#[must_use]
pub fn told(reading: &Reading, now: Timestamp) -> String {
    match reading {
        Reading::Record(receipt) => explain_memory::told(receipt, now),
        Reading::Fact(fact) => fact_told(fact, now),
        Reading::Brief(brief) => brief_told(brief, now),
        Reading::Recall { topic, found } => recalled(topic, &search::told(found, now)),
    }
}

/// Returns what a prompt says that recalls a topic, of which this was found.
#[must_use]
pub fn recalled(topic: &str, found: &str) -> String {
    format!("What does our memory hold on this topic: {topic}\n\nFound in memory:\n\n{found}")
}

fn fact_told(fact: &FactView, now: Timestamp) -> String {
    let mut lines = vec![format!(
        "Fact `{}` in workspace `{}`: {}, newest first. {}",
        fact.fact_key,
        fact.workspace,
        text::count(fact.versions.len(), "version"),
        text::DATA_NOTE
    )];
    for sourced in &fact.versions {
        lines.push(text::version(&with_local(sourced), now));
        lines.push(text::quoted(&sourced.version.content));
    }
    lines.join("\n")
}

fn with_local(sourced: &SourcedVersion) -> mmw_core::wire::VersionView {
    let mut version = sourced.version.clone();
    version.source_id = version
        .source_id
        .map(|source| format!("{source}{}", here(sourced.local_source.as_deref(), None)));
    version
}

fn brief_told(brief: &BriefView, now: Timestamp) -> String {
    let n_records = usize::try_from(brief.records).unwrap_or(usize::MAX);
    let mut lines = vec![format!(
        "Workspace `{}`: {}. {}",
        brief.workspace,
        text::count(n_records, "record"),
        text::DATA_NOTE
    )];
    for (place, key) in &brief.conflicts {
        lines.push(format!(
            "Open conflict: fact `{key}` in workspace `{place}`"
        ));
    }
    if brief.waiting > 0 {
        lines.push(format!("Waiting for review: {}", brief.waiting));
    }
    lines.extend(text::withheld(brief.withheld));
    for hit in &brief.hits {
        let record = &hit.record;
        let source = record.source_id.as_deref();
        lines.push(format!(
            "- {} ({}, {}, {}{}): {}",
            record.id,
            text::status(&hit.status, &hit.status_reasons),
            text::age(now, record.created_at),
            source.unwrap_or("no source"),
            here(
                hit.local_source.as_deref().filter(|_| source.is_some()),
                None
            ),
            text::snippet(&record.content)
        ));
    }
    lines.join("\n")
}

/// Says what the agent found of a source, with which part of it was compared: ` (changed here)`.
pub(super) fn here(local_source: Option<&str>, span: Option<&LocalSpan>) -> String {
    let Some(state) = local_source else {
        return String::new();
    };
    let compared = match span {
        None => String::new(),
        Some(span) => match &span.lines {
            Some(lines) => format!("; {} compared, now lines {lines}", span.kind),
            None => format!("; {} compared", span.kind),
        },
    };
    format!(" ({state} here{compared})")
}
