//! `forget`: takes records out of every read.

use mmw_core::place::Scope;
use mmw_core::wire::{ForgetAnswer, ForgetArgs};
use mmw_store::Memory;

use super::{Action, Asked, Facts, Hints, text};
use crate::fault::Fault;
use crate::lane::Errand;

pub(super) fn action() -> Action {
    Action::new(
        Facts {
            name: "forget",
            title: "Forget",
            description: "Forget one record, or everything from a source.",
            hints: Hints {
                read_only: false,
                destructive: true,
                idempotent: true,
            },
            scope: Scope::Forget,
            takes_envelope: false,
            errand: Errand::Interactive,
        },
        call,
        in_words,
    )
}

// The signature is that of every action.
#[allow(clippy::needless_pass_by_value)]
fn call(memory: &Memory, asked: &Asked, args: ForgetArgs) -> Result<ForgetAnswer, Fault> {
    Ok(memory.forget(&asked.caller, &args)?)
}

fn in_words(answer: &ForgetAnswer, _: &Asked) -> String {
    let done = if answer.dry_run {
        "Nothing was done; this would be forgotten"
    } else {
        "Forgotten"
    };
    let mut line = format!(
        "{done}: {}, {}, {}.",
        text::count(answer.forgotten as usize, "record"),
        text::count(answer.links as usize, "link"),
        text::count(answer.index_rows as usize, "index row")
    );
    if answer.already_forgotten > 0 {
        line.push_str(&format!(
            " {} had been forgotten before.",
            text::count(answer.already_forgotten as usize, "record")
        ));
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Stage;

    #[test]
    fn it_tells_what_went_and_what_would_go() {
        let stage = Stage::new();
        let id = stage.save("staging is `app-staging`");
        let dry = stage.text("forget", &json!({ "memory_id": id, "dry_run": true }));
        assert!(
            dry.starts_with("Nothing was done; this would be forgotten: 1 record,"),
            "{dry}"
        );
        let text = stage.text("forget", &json!({ "memory_id": id }));
        assert!(text.starts_with("Forgotten: 1 record,"), "{text}");
        let again = stage.text("forget", &json!({ "memory_id": id }));
        assert!(
            again.contains("1 record had been forgotten before"),
            "{again}"
        );
    }
}
