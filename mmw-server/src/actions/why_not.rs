//! `why_not`: why a record is not among the hits of a search.
//!
//! For programs: it is in REST and in no list of tools, where every word costs tokens.

use mmw_core::place::Scope;
use mmw_core::wire::{WhyNotAnswer, WhyNotArgs};
use mmw_store::Memory;

use super::{Action, Asked, Facts, Hints};
use crate::fault::Fault;
use crate::lane::Errand;

pub(super) fn action() -> Action {
    Action::new(
        Facts {
            name: "why_not",
            title: "Why a record was not found",
            description: "Why a record is not among the hits of a search, and what would bring it back.",
            hints: Hints::READ,
            scope: Scope::Read,
            takes_envelope: false,
            errand: Errand::Look,
        },
        call,
        |answer, _| answer.text.clone(),
    )
    .for_programs()
}

// The signature is that of every action.
#[allow(clippy::needless_pass_by_value)]
fn call(memory: &Memory, asked: &Asked, args: WhyNotArgs) -> Result<WhyNotAnswer, Fault> {
    let id = args
        .memory_id
        .parse()
        .map_err(|_| Fault::argument("memory_id", "is not an id"))?;
    Ok(memory.why_not(&asked.caller, &args.search, id)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Stage;

    #[test]
    fn a_record_that_does_not_match_is_told_to() {
        let stage = Stage::new();
        let id = stage.save("staging is `app-staging`");
        let ask = |query: &str, limit: f64| {
            let arguments = json!({"memory_id": id, "query": query, "limit": limit});
            stage.call("why_not", &arguments).unwrap().structured
        };
        assert_eq!(ask("staging", 2.0)["code"], "hit");
        assert_eq!(ask("zebra", 2.0)["code"], "no_match");
        let wrong = stage.call("why_not", &json!({"memory_id": "x", "query": "y"}));
        assert_eq!(wrong.unwrap_err().field.as_deref(), Some("memory_id"));
        let unknown = stage.call(
            "why_not",
            &json!({"memory_id": id, "query": "y", "limt": 1}),
        );
        assert!(unknown.unwrap_err().to_string().contains("limit"));
    }
}
