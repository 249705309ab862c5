//! `resolve_conflict`: a person decides which version of a fact holds.

use mmw_core::place::Scope;
use mmw_core::validation::Invalid;
use mmw_core::wire::{ExplainArgs, ResolveAnswer, ResolveArgs, VersionView};
use mmw_store::Memory;
use serde_json::{Value, json};

use super::{Action, Asked, Facts, Hints, Object, Question, text};
use crate::fault::{Code, Fault};
use crate::lane::Errand;

/// How much of a version a person is shown before deciding, in characters.
const SHOWN_CHARS: usize = 4000;

/// Versions that a question lists.
const MAX_SHOWN: usize = 20;

pub(super) fn action() -> Action {
    Action::new(
        Facts {
            name: "resolve_conflict",
            title: "Resolve a conflict",
            description: "Decide which version of a fact holds. A person must agree.",
            hints: Hints::WRITE,
            scope: Scope::Review,
            takes_envelope: false,
            errand: Errand::Interactive,
        },
        call,
        in_words,
    )
    .asking(ask)
}

// The signature is that of every action.
#[allow(clippy::needless_pass_by_value)]
fn call(memory: &Memory, asked: &Asked, args: ResolveArgs) -> Result<ResolveAnswer, Fault> {
    let Some(reviewer) = asked.reviewer else {
        return Err(Fault::new(
            Code::Forbidden,
            "only a person resolves a conflict",
        ));
    };
    Ok(memory.resolve(&asked.caller, reviewer, &args)?)
}

fn ask(memory: &Memory, asked: &Asked, args: &ResolveArgs) -> Result<Option<Question>, Fault> {
    let versions = memory.versions(&asked.caller, args.workspace.as_deref(), &args.fact_key)?;
    let winner = versions
        .iter()
        .find(|version| version.id.to_string() == args.winner.trim())
        .ok_or_else(|| Invalid::new("winner", "is no version of this fact"))?;
    let mut message = format!(
        "The agent asks to resolve a conflict of the fact `{}` in workspace `{}`. \
         Accepting closes all versions but the chosen one; it can be changed later.\n\
         Proposed: {}\n\nVersions, newest first:",
        args.fact_key,
        args.workspace.as_deref().unwrap_or("default"),
        winner.id
    );
    for version in versions.iter().take(MAX_SHOWN) {
        message.push('\n');
        message.push_str(&text::version(version, asked.now));
        if version.content.len() > text::SNIPPET_CHARS {
            message.push('\n');
            message.push_str(&text::quoted(&text::cut(&version.content, SHOWN_CHARS)));
        }
    }
    let choices: Vec<Value> = versions
        .iter()
        .take(MAX_SHOWN)
        .map(|version| json!({ "const": version.id, "title": title(version) }))
        .collect();
    let mut properties = Object::new();
    properties.insert(
        "winner".to_owned(),
        json!({
            "type": "string",
            "title": "The version that holds",
            "oneOf": choices,
            "default": winner.id,
        }),
    );
    properties.insert(
        "note".to_owned(),
        json!({ "type": "string", "title": "Note (optional)" }),
    );
    // Once anything was decided, an older answer is to another question.
    let receipt = memory.explain(
        &asked.caller,
        &ExplainArgs {
            memory_id: winner.id.to_string(),
        },
    )?;
    let last = receipt.resolutions.first();
    let about = versions
        .iter()
        .map(|version| version.id.to_string())
        .chain(last.map(|resolution| resolution.id.to_string()))
        .collect();
    Ok(Some(Question {
        message,
        properties,
        about,
    }))
}

fn title(version: &VersionView) -> String {
    text::cut(&version.content.replace(['\n', '\r'], " "), 80)
}

fn in_words(answer: &ResolveAnswer, asked: &Asked) -> String {
    let mut lines = vec![format!(
        "Resolved: {} holds for fact `{}` in workspace `{}`, decided by a person ({}). Versions:",
        answer.resolution.winner, answer.fact_key, answer.workspace, answer.resolution.way
    )];
    lines.extend(
        answer
            .versions
            .iter()
            .map(|version| text::version(version, asked.now)),
    );
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Stage;

    #[test]
    fn only_a_person_resolves() {
        let stage = Stage::new();
        stage.save("staging is `app-staging`");
        let second = stage.save("staging is `app-stage-2`");
        let arguments = json!({ "fact_key": "deploy-staging", "winner": second });
        let refused = stage.call("resolve_conflict", &arguments).unwrap_err();
        assert_eq!(refused.code, Code::Forbidden);
        let text = stage.with_a_person().text("resolve_conflict", &arguments);
        assert!(
            text.starts_with(&format!("Resolved: {second} holds")),
            "{text}"
        );
        assert!(text.contains("decided against"), "{text}");
    }

    #[test]
    fn the_question_shows_every_version_and_offers_the_choice() {
        let stage = Stage::new();
        let first = stage.save("staging is `app-staging`");
        let second = stage.save("staging is `app-stage-2`");
        let args = |winner: &str| ResolveArgs {
            fact_key: "deploy-staging".into(),
            winner: winner.into(),
            ..ResolveArgs::default()
        };
        let question = ask(&stage.memory, &stage.asked, &args(&second))
            .unwrap()
            .unwrap();
        assert_eq!(question.about, [second.clone(), first.clone()]);
        assert!(
            question.message.contains("app-staging") && question.message.contains("app-stage-2")
        );
        assert_eq!(question.properties["winner"]["default"], json!(second));
        let refused = ask(&stage.memory, &stage.asked, &args("x")).unwrap_err();
        assert_eq!(refused.field.as_deref(), Some("winner"));
    }
}
