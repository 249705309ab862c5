//! Finds the programs under test, which lie beside the test's own binary.

use std::path::PathBuf;

/// Returns the path of a program of this workspace, as built with the same profile.
///
/// # Panics
/// If it has not been built: `cargo test` builds tests, not the programs of other members.
#[must_use]
pub fn path(name: &str) -> PathBuf {
    let own = std::env::current_exe().expect("a running program has a path");
    let mut folder = own.parent().expect("a program lies in a folder").to_owned();
    if folder.ends_with("deps") {
        folder.pop();
    }
    let program = folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(
        program.exists(),
        "{name} has not been built; run `cargo build --workspace --bins` first"
    );
    program
}
