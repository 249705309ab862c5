//! Lowers `rules/**/*.toml` to static tables, so that a program reads no rule file when it starts.
//!
//! A row that breaks a rule of the table breaks the build, with the file and the row's id.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a build script reads its environment and prints to cargo"
)]

mod emit;
mod planted;
mod rows;
mod sequence;

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    println!("cargo::rerun-if-changed=rules");
    println!("cargo::rerun-if-changed=build");
    let mut files = vec![
        root.join("rules/coded.toml"),
        root.join("rules/keys.toml"),
        root.join("rules/passwords.toml"),
        root.join("rules/prose.toml"),
    ];
    files.splice(0..0, sorted(&root.join("rules/tokens")));
    let texts: Vec<(String, String)> = files
        .into_iter()
        .filter(|file| file.exists())
        .map(|file| {
            let text = fs::read_to_string(&file).expect("a rule file is readable");
            (file.display().to_string(), text)
        })
        .collect();
    planted::lower(&root.join("rules/planted"), &out.join("planted.rs"))
        .expect("the phrases are well formed");
    // What is planted has rules of its own: whoever is told that the rules changed means all of them.
    let every: Vec<String> = every_file(&root.join("rules"))
        .into_iter()
        .map(|file| fs::read_to_string(file).expect("a rule file is readable"))
        .collect();
    match rows::read(&texts).and_then(|rules| emit::tables(&rules, &every)) {
        Ok(code) => fs::write(out.join("rules.rs"), code).expect("the output folder is writable"),
        Err(trouble) => {
            eprintln!("{trouble}");
            std::process::exit(1);
        }
    }
}

fn every_file(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of rules is readable");
    let mut inner: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    inner.sort();
    let inner = inner.iter().flat_map(|folder| every_file(folder));
    sorted(folder).into_iter().chain(inner).collect()
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    files.retain(|file| file.extension().is_some_and(|end| end == "toml"));
    files.sort();
    files
}
