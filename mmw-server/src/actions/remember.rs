//! `remember`: saves a statement.

use mmw_core::place::Scope;
use mmw_core::wire::{RememberAnswer, RememberArgs};
use mmw_store::Memory;

use super::{Action, Asked, Facts, Hints, text};
use crate::fault::Fault;
use crate::lane::Errand;

pub(super) fn action() -> Action {
    Action::new(
        Facts {
            name: "remember",
            title: "Remember",
            description: "Save one durable fact, decision or agreement for later sessions.",
            hints: Hints::WRITE,
            scope: Scope::Write,
            takes_envelope: true,
            errand: Errand::Interactive,
        },
        call,
        in_words,
    )
}

fn call(memory: &Memory, asked: &Asked, args: RememberArgs) -> Result<RememberAnswer, Fault> {
    Ok(memory.remember(&asked.caller, args, &asked.envelope)?)
}

fn in_words(answer: &RememberAnswer, asked: &Asked) -> String {
    let mut lines = Vec::new();
    match (&answer.record, &answer.quarantine) {
        (Some(record), _) => {
            let done = if answer.deduplicated {
                "Already saved, unchanged"
            } else {
                "Saved"
            };
            let fact = record
                .fact_key
                .as_ref()
                .map(|key| format!(", fact `{key}`"))
                .unwrap_or_default();
            let status = answer.status.as_deref().unwrap_or("unverified");
            lines.push(format!(
                "{done}: {} in workspace `{}`{fact}, status {status}.",
                record.id, record.workspace
            ));
        }
        (None, Some(held)) => lines.push(format!(
            "Not in memory: held for a person's review as {} ({}: {}).",
            held.candidate_id, held.rule, held.reason
        )),
        (None, None) => lines.push(format!("Not in memory: {}.", answer.outcome)),
    }
    if !answer.superseded.is_empty() {
        let n = text::count(answer.superseded.len(), "earlier version");
        lines.push(format!("Comes after {n} of this fact; they are kept."));
    }
    if !answer.conflicts_with.is_empty() {
        lines.push("In conflict with what was saved before:".to_owned());
        lines.extend(
            answer
                .conflicts_with
                .iter()
                .map(|claim| text::claim(claim, asked.now)),
        );
    }
    for replaced in &answer.replaced {
        lines.push(format!(
            "Replaced before saving: {} in `{}` ({}).",
            text::count(replaced.count as usize, "secret"),
            replaced.field,
            replaced.rule
        ));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Stage;

    #[test]
    fn it_tells_what_was_saved_and_what_that_disagrees_with() {
        let stage = Stage::new();
        let first = stage.save("staging is `app-staging`");
        let arguments = json!({
            "content": "staging is `app-stage-2`", "fact_key": "deploy-staging",
        });
        let text = stage.text("remember", &arguments);
        assert!(
            text.starts_with("Saved: ") && text.contains("status unverified"),
            "{text}"
        );
        assert!(
            text.contains("In conflict") && text.contains(&first),
            "{text}"
        );
        assert!(
            stage
                .text("remember", &arguments)
                .starts_with("Already saved")
        );
    }

    #[test]
    fn a_secret_is_replaced_and_told_without_being_shown() {
        let stage = Stage::new();
        let secret = format!("ghp_{}", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
        let content = format!("the deploy token is {secret} for the pipeline");
        match stage.call("remember", &json!({ "content": content })) {
            Ok(answer) => {
                assert!(!answer.structured.to_string().contains(&secret));
                assert!(answer.text.contains("secret"), "{}", answer.text);
            }
            Err(fault) => assert!(!fault.to_string().contains(&secret)),
        }
    }
}
