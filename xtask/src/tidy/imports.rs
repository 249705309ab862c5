//! The import table: which member may depend on which.

use super::Complaint;
use super::checkout::Checkout;
use super::manifests::{MEMBERS, dependencies, manifest, place_of};

/// For each package the packages of this workspace that it may depend on, in tests too.
const MAY_IMPORT: [(&str, &[&str]); 8] = [
    ("mmw-core", &[]),
    ("mmw-guard", &["mmw-core"]),
    // Itself is not listed: a crate's tests are part of it.
    ("mmw-store", &["mmw-core", "mmw-guard"]),
    ("mmw-hooks", &["mmw-core", "mmw-guard"]),
    ("mmw-server", &["mmw-core", "mmw-guard", "mmw-store"]),
    (
        "mmw-agent",
        &[
            "mmw-core",
            "mmw-guard",
            "mmw-store",
            "mmw-server",
            "mmw-hooks",
        ],
    ),
    (
        "mmw-tests",
        &[
            "mmw-core",
            "mmw-guard",
            "mmw-store",
            "mmw-server",
            "mmw-agent",
            "mmw-hooks",
        ],
    ),
    ("xtask", &[]),
];

/// Checks the dependencies of every member on other members.
pub(super) fn check(checkout: &Checkout) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (folder, package) in MEMBERS {
        // A manifest that can't be read is the business of the rule for manifests.
        let Ok(manifest) = manifest(checkout, folder) else {
            continue;
        };
        let allowed = MAY_IMPORT
            .iter()
            .find(|(importer, _)| *importer == package)
            .map_or(&[][..], |(_, allowed)| *allowed);
        for (name, wanted) in dependencies(&manifest) {
            let real = wanted
                .get("package")
                .and_then(toml::Value::as_str)
                .unwrap_or(name);
            let is_member = MEMBERS.iter().any(|(_, member)| *member == real);
            if is_member && !allowed.contains(&real) {
                let list = if allowed.is_empty() {
                    "no member".to_owned()
                } else {
                    allowed.join(", ")
                };
                complaints.push(Complaint {
                    place: place_of(folder),
                    rule: "imports",
                    what: format!("{package} may not import {real}"),
                    remedy: format!(
                        "it may import {list}; move the code to the crate that owns the idea"
                    ),
                });
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::super::check_places;
    use super::*;

    #[test]
    fn arrows_point_one_way() {
        let check_one = |folder: &str, imported: &str, allowed: bool| {
            let path = place_of(folder);
            for table in ["dependencies", "dev-dependencies"] {
                let text = format!("[{table}]\n{imported} = {{ workspace = true }}\n");
                let places: &[&str] = if allowed { &[] } else { &[&path] };
                check_places(check, &[(&path, &text)], places);
            }
        };
        check_one("mmw-guard", "mmw-core", true);
        check_one("mmw-core", "mmw-guard", false);
        check_one("mmw-store", "mmw-server", false);
        check_one("mmw-hooks", "mmw-store", false);
        check_one("mmw-server", "mmw-hooks", false);
        check_one("mmw-agent", "mmw-server", true);
        check_one("tests", "mmw-agent", true);
        check_one("xtask", "mmw-core", false);
    }

    #[test]
    fn another_name_does_not_hide_a_member() {
        let text = "[target.'cfg(unix)'.dependencies]\nkernel = { workspace = true, package = \"mmw-store\" }\n";
        check_places(
            check,
            &[("mmw-core/Cargo.toml", text)],
            &["mmw-core/Cargo.toml"],
        );
    }

    #[test]
    fn every_member_has_a_line_in_the_table() {
        for (_, package) in MEMBERS {
            assert!(MAY_IMPORT.iter().any(|(importer, _)| *importer == package));
        }
    }
}
