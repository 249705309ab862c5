//! `validate_memory`: tells which records rest on another state of a source.

use mmw_core::place::Scope;
use mmw_core::wire::{ValidateAnswer, ValidateArgs, ValidatedView};
use mmw_store::Memory;

use super::{Action, Asked, Facts, Hints, text};
use crate::fault::Fault;
use crate::lane::Errand;

pub(super) fn action() -> Action {
    Action::new(
        Facts {
            name: "validate_memory",
            title: "Check memory against a source",
            description: "List records that rest on another state of a source.",
            hints: Hints::READ,
            scope: Scope::Read,
            takes_envelope: false,
            errand: Errand::Interactive,
        },
        call,
        in_words,
    )
}

// The signature is that of every action.
#[allow(clippy::needless_pass_by_value)]
fn call(memory: &Memory, asked: &Asked, args: ValidateArgs) -> Result<ValidateAnswer, Fault> {
    Ok(memory.validate(&asked.caller, &args)?)
}

fn in_words(answer: &ValidateAnswer, asked: &Asked) -> String {
    let mut lines = vec![format!(
        "{} checked: {} unchanged, {} stale, {} in conflict, {} without a hash to compare.",
        text::count(answer.checked as usize, "record"),
        answer.unchanged,
        answer.stale.len(),
        answer.conflicts.len(),
        answer.unknown
    )];
    for (title, records) in [("Stale", &answer.stale), ("In conflict", &answer.conflicts)] {
        if !records.is_empty() {
            lines.push(format!("{title} ({}):", text::DATA_NOTE));
            lines.extend(records.iter().map(|record| line(record, asked)));
        }
    }
    lines.extend(text::withheld(answer.withheld));
    lines.join("\n")
}

fn line(record: &ValidatedView, asked: &Asked) -> String {
    let fact = record
        .fact_key
        .as_ref()
        .map(|key| format!("fact `{key}`, "))
        .unwrap_or_default();
    format!(
        "- {} ({fact}{}, workspace `{}`, {}): {}",
        record.id,
        record.source_id,
        record.workspace,
        text::age(asked.now, record.created_at),
        text::snippet(&record.content)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Stage;

    #[test]
    fn stale_records_are_listed_with_their_source() {
        let stage = Stage::new();
        let hash = |digits: &str| format!("sha256:{}", digits.repeat(32));
        let saved = json!({
            "content": "staging is `app-staging`", "source_id": "docs/deploy.md", "source_hash": hash("5a"),
        });
        stage.call("remember", &saved).unwrap();
        let check = |digits: &str| json!({ "source_id": "docs/deploy.md", "current_source_hash": hash(digits) });
        let text = stage.text("validate_memory", &check("5a"));
        assert!(
            text.starts_with("1 record checked: 1 unchanged, 0 stale"),
            "{text}"
        );
        let text = stage.text("validate_memory", &check("c3"));
        assert!(
            text.contains("0 unchanged, 1 stale") && text.contains("docs/deploy.md"),
            "{text}"
        );
    }
}
