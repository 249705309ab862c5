//! `list_sourced`: everything that rests on sources, page by page, so that a program that sees the files can
//! compare them all.
//!
//! For programs: it is in REST and in no list of tools, where every word costs tokens.

use mmw_core::place::Scope;
use mmw_core::wire::{SourcedAnswer, SourcedArgs};
use mmw_store::{Behind, Memory};

use super::{Action, Asked, Facts, Hints, text};
use crate::fault::Fault;
use crate::lane::Errand;

/// The most statements of a page, and as many as there are if nothing else is said.
const MAX_PAGE: i64 = 1000;

pub(super) fn action() -> Action {
    Action::new(
        Facts {
            name: "list_sourced",
            title: "List what rests on sources",
            description: "Every statement in force that names a source or derives from others, newest first, page by page.",
            hints: Hints::READ,
            scope: Scope::Read,
            takes_envelope: false,
            errand: Errand::Interactive,
        },
        call,
        |answer, _| text::count(answer.hits.len(), "statement"),
    )
    .for_programs()
}

// The signature is that of every action.
#[allow(clippy::needless_pass_by_value)]
fn call(memory: &Memory, asked: &Asked, args: SourcedArgs) -> Result<SourcedAnswer, Fault> {
    let behind = match args.after.as_deref() {
        None => None,
        Some(text) => Some(
            Behind::read(text)
                .ok_or_else(|| Fault::argument("after", "must be the `next` of an earlier page"))?,
        ),
    };
    let limit = args.limit.unwrap_or(MAX_PAGE).clamp(1, MAX_PAGE);
    let limit = usize::try_from(limit).unwrap_or(1);
    let workspace = args.workspace.as_deref();
    let (hits, next) = memory.sourced_page(&asked.caller, workspace, behind, limit)?;
    Ok(SourcedAnswer {
        hits,
        next: next.map(|next| next.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Stage;

    #[test]
    fn a_page_says_where_the_next_one_begins() {
        let stage = Stage::new();
        let (first, second) = (stage.save("one"), stage.save("two"));
        let page = |arguments| stage.call("list_sourced", &arguments).unwrap().structured;
        let newest = page(json!({"limit": 1}));
        assert_eq!(newest["hits"][0]["id"], second);
        let oldest = page(json!({"limit": 1, "after": newest["next"]}));
        assert_eq!(oldest["hits"][0]["id"], first);
        assert_eq!(page(json!({}))["hits"].as_array().unwrap().len(), 2);
        assert_eq!(page(json!({})).get("next"), None);
        let wrong = stage.call("list_sourced", &json!({"after": "x"}));
        assert_eq!(wrong.unwrap_err().field.as_deref(), Some("after"));
    }
}
