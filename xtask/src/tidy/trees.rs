//! Crates that may not be anywhere in a member's tree, however deep.
//!
//! `cargo tree` resolves the features that the member itself asks for; the metadata of the whole
//! workspace would show those of all members together and blame one for the other's.

use super::Complaint;
use super::checkout::Checkout;
use super::manifests::{MEMBERS, manifest, place_of};
use crate::process::{Outcome, Repository, Step};

/// What a member may not have in its tree.
struct Ban {
    package: &'static str,
    crates: &'static [&'static str],
    /// The feature under which it may.
    but_under: Option<&'static str>,
    why: &'static str,
}

const RUNTIME: &[&str] = &["tokio", "hyper", "rusqlite"];

const PURE: &str = "values, rules and screening know no runtime, network or database";

const BANS: [Ban; 5] = [
    Ban {
        package: "mmw-core",
        crates: RUNTIME,
        but_under: None,
        why: PURE,
    },
    Ban {
        package: "mmw-guard",
        crates: RUNTIME,
        but_under: None,
        why: PURE,
    },
    Ban {
        package: "mmw-store",
        crates: &["hyper"],
        but_under: None,
        why: "the store is embedded: it serves nothing",
    },
    Ban {
        package: "mmw-store",
        crates: &["tokio"],
        but_under: Some("postgres"),
        why: "everything below the server is synchronous",
    },
    Ban {
        package: "mmw-hooks",
        crates: &[
            "tokio",
            "hyper",
            "rusqlite",
            "mio",
            "socket2",
            "rustls",
            "native-tls",
            "reqwest",
            "ureq",
            "curl",
            "async-std",
            "smol",
        ],
        but_under: None,
        why: "a hook sends nothing and answers at once",
    },
];

/// Checks the tree of every member that has a ban, with all features but the excepted one.
pub(super) fn check(repository: &Repository, checkout: &Checkout) -> Outcome<Vec<Complaint>> {
    let mut complaints = Vec::new();
    for ban in &BANS {
        let folder = MEMBERS
            .iter()
            .find(|(_, package)| *package == ban.package)
            .map_or(ban.package, |(folder, _)| folder);
        let features = features(checkout, folder, ban.but_under);
        let tree = Step::cargo("cargo tree --edges normal,build --prefix none --format {p}")
            .arg("--package")
            .arg(ban.package)
            .arg("--no-default-features")
            .arg("--features")
            .arg(features.join(","))
            .output(repository)?;
        for found in banned_in(&tree, ban.crates) {
            complaints.push(Complaint {
                place: place_of(folder),
                rule: "trees",
                what: format!("{found} is in the tree of {}: {}", ban.package, ban.why),
                remedy: format!(
                    "`cargo tree --package {} --invert {found}` shows who brings it",
                    ban.package
                ),
            });
        }
    }
    Ok(complaints)
}

/// Returns the features of a member without the excepted one and those that switch it on.
fn features(checkout: &Checkout, folder: &str, but: Option<&str>) -> Vec<String> {
    let Ok(manifest) = manifest(checkout, folder) else {
        return Vec::new();
    };
    let Some(declared) = manifest.get("features").and_then(toml::Value::as_table) else {
        return Vec::new();
    };
    let mut left_out: Vec<&str> = but.into_iter().collect();
    loop {
        let n_before = left_out.len();
        for (name, parts) in declared {
            let leads_there = parts
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(toml::Value::as_str)
                .any(|part| left_out.contains(&part));
            if leads_there && !left_out.contains(&name.as_str()) {
                left_out.push(name);
            }
        }
        if left_out.len() == n_before {
            break;
        }
    }
    declared
        .keys()
        .filter(|name| !left_out.contains(&name.as_str()))
        .cloned()
        .collect()
}

/// Returns those of the crates that the printed tree names.
fn banned_in<'a>(tree: &str, crates: &[&'a str]) -> Vec<&'a str> {
    crates
        .iter()
        .filter(|banned| {
            tree.lines()
                .any(|line| line.split(' ').next() == Some(banned))
        })
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn write(root: &Path, path: &str, text: &str) {
        let file = root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// A workspace in which `mmw-core` gets at a crate called `tokio` over another one.
    fn workspace(root: &Path, store: &str) {
        let package = |name: &str| {
            format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n")
        };
        let members = [
            "mmw-core",
            "mmw-guard",
            "mmw-store",
            "mmw-hooks",
            "between",
            "tokio",
        ];
        write(
            root,
            "Cargo.toml",
            &format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n"),
        );
        for name in members {
            let rest = match name {
                "mmw-core" => "[dependencies]\nbetween = { path = \"../between\" }\n",
                "between" => "[dependencies]\ntokio = { path = \"../tokio\" }\n",
                "mmw-store" => store,
                _ => "",
            };
            write(root, &format!("{name}/Cargo.toml"), &(package(name) + rest));
            write(root, &format!("{name}/src/lib.rs"), "");
        }
    }

    #[test]
    fn a_banned_crate_is_found_however_deep_and_allowed_only_under_its_feature() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::at(folder.path());
        let found = || -> Vec<String> {
            let checkout = Checkout::read(&repository).unwrap();
            let complaints = check(&repository, &checkout).unwrap();
            complaints.into_iter().map(|c| c.place).collect()
        };
        let optional = "[dependencies]\ntokio = { path = \"../tokio\", optional = true }\n\
                        [features]\npostgres = [\"dep:tokio\"]\ndefault = [\"postgres\"]\n";
        workspace(folder.path(), optional);
        assert_eq!(found(), ["mmw-core/Cargo.toml"]);
        workspace(
            folder.path(),
            "[dependencies]\ntokio = { path = \"../tokio\" }\n",
        );
        assert_eq!(found(), ["mmw-core/Cargo.toml", "mmw-store/Cargo.toml"]);
    }

    #[test]
    fn names_are_compared_whole() {
        let tree = "mmw-core v0.1.0 (/x)\ntokio-util v0.7.0\nhyper v1.0.0 (*)\n";
        assert_eq!(banned_in(tree, RUNTIME), ["hyper"]);
    }
}
