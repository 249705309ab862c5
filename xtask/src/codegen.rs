//! `codegen`: keeps the pages under `docs/reference` in step with the code.
//!
//! The binary `codegen` of `mmw-tests` prints one JSON object, `{"<path>": "<content>"}`, with paths
//! relative to the repository. It knows the code; this half only writes or compares.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path};

use crate::process::{Outcome, Problem, Repository, Step, problem};

/// The folder that holds generated pages and nothing else.
const FOLDER: &str = "docs/reference";

/// Writes the pages, or compares them with `check`.
pub(crate) fn run(repository: &Repository, check: bool) -> Outcome {
    let printed =
        Step::cargo("cargo run --quiet --package mmw-tests --bin codegen").output(repository)?;
    let pages = read(&printed)?;
    if check {
        let differences = compare(repository.root(), &pages)?;
        if differences.is_empty() {
            println!("codegen: {} pages are in step with the code", pages.len());
            return Ok(());
        }
        return problem(format!(
            "{}\nrun `cargo xtask codegen` and commit what it writes",
            differences.join("\n")
        ));
    }
    let changed = write(repository.root(), &pages)?;
    println!("codegen: {} pages, {changed} changed", pages.len());
    Ok(())
}

/// Reads what the binary printed.
fn read(printed: &str) -> Outcome<BTreeMap<String, String>> {
    let pages: BTreeMap<String, String> = serde_json::from_str(printed).map_err(|error| {
        Problem(format!(
            "the codegen binary printed something else: {error}"
        ))
    })?;
    if pages.is_empty() {
        return problem("the codegen binary printed no pages");
    }
    for path in pages.keys() {
        let plain = Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if !plain || !path.starts_with(&format!("{FOLDER}/")) {
            return problem(format!("{path}: generated pages lie under {FOLDER}"));
        }
    }
    Ok(pages)
}

/// Returns what differs between the pages and the folder, one line each.
fn compare(root: &Path, pages: &BTreeMap<String, String>) -> Outcome<Vec<String>> {
    let mut differences = Vec::new();
    for (path, wanted) in pages {
        match fs::read_to_string(root.join(path)) {
            Ok(found) if found == *wanted => {}
            Ok(found) => {
                let line = first_difference(&found, wanted);
                differences.push(format!("{path}:{line}: differs from the code"));
            }
            Err(_) => differences.push(format!("{path}: is missing")),
        }
    }
    for path in present(root)? {
        if !pages.contains_key(&path) {
            differences.push(format!("{path}: nothing generates it any more"));
        }
    }
    Ok(differences)
}

/// Writes the pages that differ and removes those that nothing generates. Returns how many.
fn write(root: &Path, pages: &BTreeMap<String, String>) -> Outcome<usize> {
    let failed = |path: &str, error: std::io::Error| Problem(format!("{path}: {error}"));
    let mut changed = 0;
    for (path, content) in pages {
        let file = root.join(path);
        if fs::read_to_string(&file).is_ok_and(|found| found == *content) {
            continue;
        }
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(|error| failed(path, error))?;
        }
        fs::write(&file, content).map_err(|error| failed(path, error))?;
        changed += 1;
    }
    for path in present(root)? {
        if !pages.contains_key(&path) {
            fs::remove_file(root.join(&path)).map_err(|error| failed(&path, error))?;
            changed += 1;
        }
    }
    Ok(changed)
}

/// Returns the files of the folder, relative to the repository.
fn present(root: &Path) -> Outcome<Vec<String>> {
    let mut files = Vec::new();
    let mut folders = vec![FOLDER.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(root.join(&folder)) else {
            continue;
        };
        for entry in entries {
            let entry = entry.map_err(|error| Problem(format!("{folder}: {error}")))?;
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn first_difference(found: &str, wanted: &str) -> usize {
    let same = found
        .lines()
        .zip(wanted.lines())
        .take_while(|(found, wanted)| found == wanted)
        .count();
    same + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(pages: &[(&str, &str)]) -> BTreeMap<String, String> {
        pages
            .iter()
            .map(|(path, content)| ((*path).to_owned(), (*content).to_owned()))
            .collect()
    }

    #[test]
    fn what_was_written_is_in_step_and_what_was_edited_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let both = pages(&[
            ("docs/reference/tools/search.md", "one\ntwo\n"),
            ("docs/reference/openapi.json", "{}\n"),
        ]);
        assert_eq!(compare(root, &both).unwrap().len(), 2);
        assert_eq!(write(root, &both).unwrap(), 2);
        assert_eq!(compare(root, &both).unwrap(), [""; 0]);
        assert_eq!(write(root, &both).unwrap(), 0);

        fs::write(root.join("docs/reference/tools/search.md"), "one\n2\n").unwrap();
        fs::write(root.join("docs/reference/old.md"), "").unwrap();
        assert_eq!(
            compare(root, &both).unwrap(),
            [
                "docs/reference/tools/search.md:2: differs from the code",
                "docs/reference/old.md: nothing generates it any more",
            ]
        );
        assert_eq!(write(root, &both).unwrap(), 2);
        assert_eq!(compare(root, &both).unwrap(), [""; 0]);
    }

    #[test]
    fn only_pages_of_the_folder_are_written() {
        assert!(read(r#"{"docs/reference/a.md": "x"}"#).is_ok());
        for bad in [
            r#"{"README.md": "x"}"#,
            r#"{"docs/reference/../a.md": "x"}"#,
            r#"{"/docs/reference/a.md": "x"}"#,
            r#"{"docs/reference/a.md": 1}"#,
            "{}",
            "",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
