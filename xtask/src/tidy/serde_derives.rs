//! Forms that are sent or stored derive serde in one room, `mmw-core/src/wire`.
//!
//! A value of the domain that derived serde would have its fields frozen by whoever stored it.

use super::Complaint;
use super::checkout::Checkout;
use super::scan;

/// The crates whose values may be stored or sent.
const WATCHED: [&str; 4] = [
    "mmw-core/src/",
    "mmw-guard/src/",
    "mmw-store/src/",
    "mmw-hooks/src/",
];

/// The room of the wire twins.
const ROOM: [&str; 2] = ["mmw-core/src/wire/", "mmw-core/src/wire.rs"];

/// Here rules that are compiled in are read: nobody sends or stores that form, so it may change
/// freely. Only reading is allowed.
const COMPILED_IN: &str = "mmw-guard/src/";

/// Checks that nothing outside the room derives serde.
pub(super) fn check(checkout: &Checkout) -> Vec<Complaint> {
    checkout
        .rust()
        .filter(|(path, _)| WATCHED.iter().any(|folder| path.starts_with(folder)))
        .filter(|(path, _)| !ROOM.iter().any(|room| path.starts_with(room)))
        .flat_map(|(path, source)| {
            let derives: &[&str] = if path.starts_with(COMPILED_IN) {
                &["Serialize"]
            } else {
                &["Serialize", "Deserialize"]
            };
            let lines = lines_deriving(&scan::code(source), derives);
            lines.into_iter().map(move |line| Complaint {
                place: format!("{path}:{line}"),
                rule: "serde",
                what: "serde is derived outside the wire".to_owned(),
                remedy: "make a twin in mmw-core/src/wire and convert".to_owned(),
            })
        })
        .collect()
}

fn lines_deriving(code: &str, derives: &[&str]) -> Vec<usize> {
    let mut lines = Vec::new();
    for (at, _) in code.match_indices("derive(") {
        let list = code[at..].split(')').next().unwrap_or_default();
        if derives.iter().any(|name| scan::has_word(list, name)) {
            lines.push(code[..at].matches('\n').count() + 1);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::check_places;
    use super::*;

    #[test]
    fn only_the_wire_derives_serde() {
        let source = "//! x\n#[derive(\n    Debug,\n    serde::Serialize,\n)]\nstruct A;\n";
        check_places(
            check,
            &[
                ("mmw-core/src/wire/args.rs", source),
                ("mmw-core/src/wire.rs", source),
                ("mmw-core/src/record.rs", source),
                ("mmw-store/src/sqlite/row.rs", source),
                ("mmw-server/src/rest.rs", source),
            ],
            &["mmw-core/src/record.rs:2", "mmw-store/src/sqlite/row.rs:2"],
        );
        let reading = "#[derive(serde::Deserialize)] struct Rule;";
        check_places(
            check,
            &[
                ("mmw-guard/src/rules.rs", reading),
                ("mmw-store/src/rules.rs", reading),
            ],
            &["mmw-store/src/rules.rs:1"],
        );
        check_places(
            check,
            &[("mmw-guard/src/rules.rs", source)],
            &["mmw-guard/src/rules.rs:2"],
        );
        check_places(
            check,
            &[(
                "mmw-core/src/record.rs",
                "#[derive(Debug)] struct A; // derive(Serialize)",
            )],
            &[],
        );
    }
}
