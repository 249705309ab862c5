//! Manifests: the members are those of the contract, and versions stand in one place.

use toml::Table;

use super::Complaint;
use super::checkout::Checkout;

/// The members of the workspace: folder and package.
pub(super) const MEMBERS: [(&str, &str); 8] = [
    ("mmw-core", "mmw-core"),
    ("mmw-guard", "mmw-guard"),
    ("mmw-store", "mmw-store"),
    ("mmw-server", "mmw-server"),
    ("mmw-agent", "mmw-agent"),
    ("mmw-hooks", "mmw-hooks"),
    ("tests", "mmw-tests"),
    ("xtask", "xtask"),
];

/// The tables of a manifest that name dependencies.
const DEPENDENCY_TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// The keys of a package that the workspace decides.
const INHERITED: [&str; 5] = ["version", "edition", "rust-version", "license", "publish"];

/// Checks the root manifest and those of the members.
pub(super) fn check(checkout: &Checkout) -> Vec<Complaint> {
    let mut complaints = members(checkout);
    for (folder, package) in MEMBERS {
        match manifest(checkout, folder) {
            Ok(manifest) => complaints.extend(member(folder, package, &manifest)),
            Err(complaint) => complaints.push(complaint),
        }
    }
    complaints
}

/// Reads the manifest of a member (of the workspace for an empty folder).
pub(super) fn manifest(checkout: &Checkout, folder: &str) -> Result<Table, Complaint> {
    let place = place_of(folder);
    let read = checkout
        .text(&place)
        .ok_or_else(|| "there is no such manifest".to_owned())
        .and_then(|text| text.parse::<Table>().map_err(|error| error.to_string()));
    read.map_err(|what| Complaint {
        place,
        rule: "manifests",
        what,
        remedy: "restore the manifest".to_owned(),
    })
}

/// Returns the path of a member's manifest.
pub(super) fn place_of(folder: &str) -> String {
    if folder.is_empty() {
        "Cargo.toml".to_owned()
    } else {
        format!("{folder}/Cargo.toml")
    }
}

/// Returns every dependency of a manifest with its name and how it is asked for, those of single
/// targets included.
pub(super) fn dependencies(manifest: &Table) -> Vec<(&str, &toml::Value)> {
    let of_targets = manifest
        .get("target")
        .and_then(toml::Value::as_table)
        .into_iter()
        .flat_map(Table::values)
        .filter_map(toml::Value::as_table);
    std::iter::once(manifest)
        .chain(of_targets)
        .flat_map(|table| DEPENDENCY_TABLES.map(|name| table.get(name)))
        .flatten()
        .filter_map(toml::Value::as_table)
        .flat_map(|table| table.iter().map(|(name, wanted)| (name.as_str(), wanted)))
        .collect()
}

fn members(checkout: &Checkout) -> Vec<Complaint> {
    let root = match manifest(checkout, "") {
        Ok(root) => root,
        Err(complaint) => return vec![complaint],
    };
    let listed: Vec<&str> = root
        .get("workspace")
        .and_then(|workspace| workspace.get("members"))
        .and_then(toml::Value::as_array)
        .map(|members| members.iter().filter_map(toml::Value::as_str).collect())
        .unwrap_or_default();
    let complain = |what: String| Complaint {
        place: place_of(""),
        rule: "members",
        what,
        remedy: "the members are given: see ARCHITECTURE.md".to_owned(),
    };
    let missing = MEMBERS
        .iter()
        .filter(|(folder, _)| !listed.contains(folder))
        .map(|(folder, _)| complain(format!("the member {folder} is missing")));
    let extra = listed
        .iter()
        .filter(|folder| !MEMBERS.iter().any(|(member, _)| member == *folder))
        .map(|folder| complain(format!("{folder} is no member of this project")));
    missing.chain(extra).collect()
}

fn member(folder: &str, package: &str, manifest: &Table) -> Vec<Complaint> {
    let complain = |rule, what, remedy: &str| Complaint {
        place: place_of(folder),
        rule,
        what,
        remedy: remedy.to_owned(),
    };
    let mut complaints = Vec::new();
    let head = manifest.get("package").and_then(toml::Value::as_table);
    let name = head
        .and_then(|head| head.get("name"))
        .and_then(toml::Value::as_str);
    if name != Some(package) {
        complaints.push(complain(
            "members",
            format!("the package in {folder} is called {package}"),
            "rename it back",
        ));
    }
    let inherits = |value: Option<&toml::Value>| {
        value.and_then(|value| value.get("workspace")) == Some(&toml::Value::Boolean(true))
    };
    for key in INHERITED {
        if !inherits(head.and_then(|head| head.get(key))) {
            complaints.push(complain(
                "versions",
                format!("package.{key} is not the workspace's"),
                "write `<key>.workspace = true`",
            ));
        }
    }
    if manifest
        .get("lints")
        .and_then(|lints| lints.get("workspace"))
        != Some(&toml::Value::Boolean(true))
    {
        complaints.push(complain(
            "versions",
            "the lints are not the workspace's".to_owned(),
            "write `[lints]` and `workspace = true`",
        ));
    }
    for (name, wanted) in dependencies(manifest) {
        if !inherits(Some(wanted)) {
            complaints.push(complain(
                "versions",
                format!("`{name}` is asked for with a version, path or git address of its own"),
                "put it into [workspace.dependencies] of the root and write `workspace = true`",
            ));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::super::check_places;
    use super::*;

    const ROOT: &str = r#"[workspace]
members = ["mmw-core", "mmw-guard", "mmw-store", "mmw-server", "mmw-agent", "mmw-hooks", "tests", "xtask"]
"#;

    fn good(package: &str) -> String {
        let inherited: String = INHERITED
            .iter()
            .map(|key| format!("{key}.workspace = true\n"))
            .collect();
        format!(
            "[package]\nname = \"{package}\"\n{inherited}[lints]\nworkspace = true\n\
             [dependencies]\nserde = {{ workspace = true, features = [\"rc\"] }}\n"
        )
    }

    fn check_manifests(root: &str, core: &str, places: &[&str]) {
        let manifests: Vec<(String, String)> = MEMBERS
            .iter()
            .map(|(folder, package)| (place_of(folder), good(package)))
            .collect();
        let mut files: Vec<(&str, &str)> = manifests
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        files[0].1 = core;
        files.push(("Cargo.toml", root));
        check_places(check, &files, places);
    }

    #[test]
    fn the_members_are_those_of_the_contract() {
        check_manifests(ROOT, &good("mmw-core"), &[]);
        check_manifests(
            &ROOT.replace("mmw-guard", "mmw-extra"),
            &good("mmw-core"),
            &["Cargo.toml", "Cargo.toml"],
        );
        check_manifests(ROOT, &good("mmw-kernel"), &["mmw-core/Cargo.toml"]);
        check_places(
            check,
            &[("Cargo.toml", ROOT)],
            &[
                "mmw-agent/Cargo.toml",
                "mmw-core/Cargo.toml",
                "mmw-guard/Cargo.toml",
                "mmw-hooks/Cargo.toml",
                "mmw-server/Cargo.toml",
                "mmw-store/Cargo.toml",
                "tests/Cargo.toml",
                "xtask/Cargo.toml",
            ],
        );
    }

    #[test]
    fn versions_stand_only_in_the_root() {
        let core = good("mmw-core");
        for own in [
            "libc = \"0.2\"",
            "libc = { version = \"0.2\" }",
            "libc = { path = \"../libc\" }",
            "[target.'cfg(unix)'.dependencies]\nlibc = \"0.2\"",
            "[dev-dependencies]\nlibc = { git = \"https://example.org/libc\" }",
        ] {
            check_manifests(ROOT, &format!("{core}{own}\n"), &["mmw-core/Cargo.toml"]);
        }
        let edition = core.replace("edition.workspace = true", "edition = \"2021\"");
        check_manifests(ROOT, &edition, &["mmw-core/Cargo.toml"]);
        let lints = core.replace("[lints]\nworkspace = true", "");
        check_manifests(ROOT, &lints, &["mmw-core/Cargo.toml"]);
    }
}
