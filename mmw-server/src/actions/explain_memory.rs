//! `explain_memory`: the receipt of a record.

use mmw_core::place::Scope;
use mmw_core::time::Timestamp;
use mmw_core::wire::{ExplainAnswer, ExplainArgs};
use mmw_store::Memory;

use super::reading::here;
use super::{Action, Asked, Facts, Hints, text};
use crate::fault::Fault;
use crate::lane::Errand;

pub(super) fn action() -> Action {
    Action::new(
        Facts {
            name: "explain_memory",
            title: "Explain a memory",
            description: "A record in full, with its receipt: who said it, from what, versions, links, why this status.",
            hints: Hints::READ,
            scope: Scope::Read,
            takes_envelope: false,
            errand: Errand::Look,
        },
        call,
        in_words,
    )
}

// The signature is that of every action.
#[allow(clippy::needless_pass_by_value)]
fn call(memory: &Memory, asked: &Asked, args: ExplainArgs) -> Result<ExplainAnswer, Fault> {
    Ok(memory.explain(&asked.caller, &args)?)
}

/// Returns a receipt as a model reads it.
pub fn in_words(answer: &ExplainAnswer, asked: &Asked) -> String {
    told(answer, asked.now)
}

/// Returns a receipt as a model reads it at that moment.
#[must_use]
pub fn told(answer: &ExplainAnswer, now: Timestamp) -> String {
    let record = &answer.record;
    let mut lines = vec![format!("Record {}. {}", record.id, text::DATA_NOTE)];
    lines.push(text::quoted(&record.content));
    lines.push(format!(
        "Status: {}",
        text::status(&answer.status, &answer.status_reasons)
    ));
    let mut said = format!("Saved {}", text::age(now, record.created_at));
    for (word, value) in [
        ("by", &record.agent),
        ("with", &record.client),
        ("in session", &record.session_id),
        ("on branch", &record.branch),
    ] {
        if let Some(value) = value {
            said.push_str(&format!(" {word} {value}"));
        }
    }
    lines.push(format!("{said}, workspace `{}`.", record.workspace));
    let local = here(answer.local_source.as_deref(), answer.local_span.as_ref());
    lines.push(match (&record.source_id, &record.source_hash) {
        (Some(source), Some(hash)) => format!("Source: {source} at {hash}{local}"),
        (Some(source), None) => format!("Source: {source}, no hash recorded{local}"),
        (None, _) => "Source: none".to_owned(),
    });
    if let Some(newer) = answer.superseded_by {
        lines.push(format!("Superseded by {newer}"));
    }
    if !answer.versions.is_empty() {
        lines.push("Versions, newest first:".to_owned());
        lines.extend(
            answer
                .versions
                .iter()
                .map(|version| text::version(version, now)),
        );
    }
    for resolution in &answer.resolutions {
        lines.push(format!(
            "Decided by a person ({}) {}: {} holds",
            resolution.way,
            text::age(now, resolution.at),
            resolution.winner
        ));
    }
    for relation in &answer.graph_relations {
        let said = if relation.snippet.is_empty() {
            String::new()
        } else {
            format!(": {}", text::snippet(&relation.snippet))
        };
        lines.push(format!(
            "Link {} {} {}{said}",
            relation.kind, relation.direction, relation.id
        ));
    }
    for replaced in &answer.replaced {
        lines.push(format!(
            "Replaced by the guard: {} in `{}` ({})",
            text::count(replaced.count as usize, "secret"),
            replaced.field,
            replaced.rule
        ));
    }
    if let Some(approval) = &answer.approval {
        lines.push(format!(
            "Approved by a person ({}) {} out of the lane of {} items",
            approval.way,
            text::age(now, approval.at),
            approval.lane
        ));
    }
    let deeds: Vec<String> = answer
        .history
        .iter()
        .map(|deed| format!("{} {}", deed.deed, text::age(now, deed.at)))
        .collect();
    if !deeds.is_empty() {
        lines.push(format!("History: {}", deeds.join("; ")));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Stage;

    #[test]
    fn a_receipt_has_content_source_versions_and_history() {
        let stage = Stage::new();
        let first = stage.save("staging is `app-staging`");
        let second = stage.save("staging is `app-stage-2`");
        let text = stage.text("explain_memory", &json!({ "memory_id": first }));
        for part in [
            "> staging is `app-staging`",
            "Status: conflict (",
            "Source: docs/deploy.md, no hash recorded",
            &format!("Superseded by {second}"),
            "Versions, newest first:",
            "History: remember just now",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
