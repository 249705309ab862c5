//! The commit that a file was seen at, and whether the file differs from it.

use std::path::Path;
use std::time::Duration;

use crate::git::{self, Patience};

/// How long git may take over one file.
const PATIENCE: Patience = Patience {
    time: Duration::from_secs(10),
    ..Patience::SHORT
};

/// What stands behind the commit if the file is not what it has.
const MODIFIED: &str = "+modified";

/// Returns `4c53…` or `4c53…+modified`; nothing outside git or before the first commit.
pub(super) fn of(file: &Path) -> Option<String> {
    let folder = file.parent()?;
    let name = file.file_name()?.to_str()?;
    let told = git::ask(
        folder,
        &[
            "status",
            "--porcelain=v2",
            "--branch",
            "--untracked-files=all",
            "--ignored=matching",
            "-z",
            "--",
            name,
        ],
        PATIENCE,
    )?;
    read(&told.text().filter(|told| !told.is_empty())?)
}

/// Reads what `git status` says of one file.
fn read(told: &str) -> Option<String> {
    let mut commit = None;
    let mut is_modified = false;
    for entry in told.split('\0').filter(|entry| !entry.is_empty()) {
        match entry.strip_prefix("# ") {
            Some(header) => {
                if let Some(oid) = header.strip_prefix("branch.oid ") {
                    commit = Some(oid).filter(|oid| oid.bytes().all(|b| b.is_ascii_hexdigit()));
                }
            }
            None => is_modified = true,
        }
    }
    let suffix = if is_modified { MODIFIED } else { "" };
    commit.map(|commit| format!("{commit}{suffix}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commit_and_the_state_of_the_file_are_read() {
        for (told, expected) in [
            ("# branch.oid 4c53\0# branch.head main\0", Some("4c53")),
            (
                "# branch.oid 4c53\0# branch.head main\x001 .M N... 100644 100644 100644 a b x.md\0",
                Some("4c53+modified"),
            ),
            ("# branch.oid 4c53\0? x.md\0", Some("4c53+modified")),
            ("# branch.oid (initial)\0? x.md\0", None),
            ("", None),
        ] {
            assert_eq!(read(told).as_deref(), expected, "{told:?}");
        }
    }
}
