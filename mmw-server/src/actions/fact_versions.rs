//! `fact_versions`: the versions of a fact.
//!
//! For programs: it is in REST and in no list of tools, where every word costs tokens.

use mmw_core::place::Scope;
use mmw_core::wire::{VersionsAnswer, VersionsArgs};
use mmw_store::Memory;

use super::{Action, Asked, Facts, Hints, text};
use crate::fault::Fault;
use crate::lane::Errand;

pub(super) fn action() -> Action {
    Action::new(
        Facts {
            name: "fact_versions",
            title: "Versions of a fact",
            description: "The versions of a fact, newest first, with the status of each.",
            hints: Hints::READ,
            scope: Scope::Read,
            takes_envelope: false,
            errand: Errand::Look,
        },
        call,
        |answer, _| text::count(answer.versions.len(), "version"),
    )
    .for_programs()
}

// The signature is that of every action.
#[allow(clippy::needless_pass_by_value)]
fn call(memory: &Memory, asked: &Asked, args: VersionsArgs) -> Result<VersionsAnswer, Fault> {
    let workspace = args.workspace.as_deref();
    let versions = memory.versions(&asked.caller, workspace, &args.fact_key)?;
    Ok(VersionsAnswer { versions })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Stage;

    #[test]
    fn the_newest_version_comes_first() {
        let stage = Stage::new();
        let (first, second) = (stage.save("one"), stage.save("two"));
        let of = |key: &str| stage.call("fact_versions", &json!({ "fact_key": key }));
        let versions = of("deploy-staging").unwrap().structured["versions"].clone();
        assert_eq!(
            (&versions[0]["id"], &versions[1]["id"]),
            (&json!(second), &json!(first))
        );
        assert!(of("nothing of that name").is_err());
    }
}
