//! `memory_status`: what there is, without contents.
//!
//! For programs: it is in REST and in no list of tools, where every word costs tokens.

use mmw_core::place::{Caller, Scope};
use mmw_core::wire::{ContestedView, StatusAnswer, StatusArgs, WorkspaceView};
use mmw_store::{Failure, Memory};

use super::{Action, Asked, Facts, Hints, text};
use crate::fault::Fault;
use crate::lane::Errand;

/// The most conflicts that are named.
const MAX_CONFLICTS: usize = 100;

pub(super) fn action() -> Action {
    Action::new(
        Facts {
            name: "memory_status",
            title: "What there is",
            description: "Counts, open conflicts, what waits, when something last came in, versions.",
            hints: Hints::READ,
            scope: Scope::Read,
            takes_envelope: false,
            errand: Errand::Interactive,
        },
        call,
        |answer, _| {
            text::count(
                usize::try_from(answer.records).unwrap_or(usize::MAX),
                "record",
            )
        },
    )
    .for_programs()
}

fn call(memory: &Memory, asked: &Asked, _: StatusArgs) -> Result<StatusAnswer, Fault> {
    Ok(of(memory, &asked.caller)?)
}

/// Tells what the caller can see of a memory.
///
/// # Errors
/// [`Failure`].
pub fn of(memory: &Memory, caller: &Caller) -> Result<StatusAnswer, Failure> {
    let census = memory.census(caller)?;
    let pulse = memory.pulse(caller)?;
    let (major, minor) = memory.engine().schema_version()?;
    let conflicts = memory.open_conflicts(caller, MAX_CONFLICTS)?.into_iter();
    let workspaces = census.workspaces.into_iter();
    Ok(StatusAnswer {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        schema: Some(format!("{major}.{minor}")),
        scopes: Scope::ALL
            .iter()
            .filter(|scope| caller.scopes.has(**scope))
            .map(|scope| scope.name().to_owned())
            .collect(),
        records: census.n_records,
        user_records: census.n_user_records,
        workspaces: workspaces
            .map(|(workspace, records)| WorkspaceView { workspace, records })
            .collect(),
        waiting: census.waiting,
        conflicts: conflicts
            .map(|(workspace, fact_key)| ContestedView {
                workspace,
                fact_key,
            })
            .collect(),
        last_write: pulse.last_write,
        last_capture: pulse.last_capture,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Stage;

    #[test]
    fn what_there_is_is_told_without_contents() {
        let stage = Stage::new();
        let told = || stage.call("memory_status", &json!({})).unwrap().structured;
        assert_eq!(told().get("last_write"), None);
        stage.save("staging is `app-staging`");
        stage.save("staging is `app-stage-2`");
        let told = told();
        assert_eq!((&told["records"], &told["waiting"]), (&json!(2), &json!(0)));
        assert_eq!(
            told["conflicts"],
            json!([{"workspace": "default", "fact_key": "deploy-staging"}])
        );
        assert!(told["last_write"].is_string() && told["schema"].is_string());
        assert!(told["scopes"].as_array().unwrap().contains(&json!("read")));
        assert!(!told.to_string().contains("app-staging"));
    }
}
