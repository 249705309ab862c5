//! The agent's folder: there, writable, for its owner only, on a disk with room.

use std::fs;
use std::path::Path;

use super::Finding;
use crate::local::make_private;

/// Less than that is too little for the store's log: 32 MiB.
const TOO_LITTLE: u64 = 32 << 20;
/// Less than that will soon be too little: 512 MiB.
const LITTLE: u64 = 512 << 20;

pub(super) fn examine(home: &Path) -> Vec<Finding> {
    let shown = home.display();
    if let Err(error) = make_private(home) {
        let said = format!("the folder {shown} can't be made: {error}");
        return vec![Finding::bad(
            "home",
            said,
            "set MMW_AGENT_HOME to a folder of yours",
        )];
    }
    let mut found = vec![match tempfile::NamedTempFile::new_in(home) {
        Ok(_) => Finding::good("home", format!("the folder {shown} can be written to")),
        Err(error) => {
            let said = format!("the folder {shown} can't be written to: {error}");
            Finding::bad("home", said, format!("chmod u+rwx {shown}"))
        }
    }];
    found.extend(permissions(home));
    found.extend(room(home));
    found
}

#[cfg(unix)]
fn permissions(home: &Path) -> Option<Finding> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(home).ok()?.permissions().mode() & 0o077;
    Some(if mode == 0 {
        Finding::good("permissions", "the folder is for you only")
    } else {
        let said = "others on this computer can look into the folder";
        Finding::bad("permissions", said, format!("chmod 700 {}", home.display()))
    })
}

#[cfg(not(unix))]
fn permissions(_: &Path) -> Option<Finding> {
    None
}

fn room(home: &Path) -> Option<Finding> {
    let free = fs4::available_space(home).ok()?;
    Some(judge_room(free, home))
}

fn judge_room(free: u64, home: &Path) -> Finding {
    const ID: &str = "disk";
    let said = format!("{} MiB are free on its disk", free >> 20);
    let shown = home.display();
    match free {
        ..TOO_LITTLE => {
            let fix = format!(
                "make room on that disk, or set MMW_AGENT_HOME to another one: df -h {shown}"
            );
            Finding::bad(
                ID,
                format!("{said}, too little to save anything safely"),
                fix,
            )
        }
        TOO_LITTLE..LITTLE => {
            let fix = format!("make room on that disk soon: df -h {shown}");
            Finding::warning(ID, said, fix)
        }
        _ => Finding::good(ID, said),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn a_folder_that_is_not_there_is_made_and_good() {
        let folder = tempfile::tempdir().unwrap();
        let found = examine(&folder.path().join("new"));
        // How full the disk is that tests run on is not theirs to say.
        let is_well = |one: &Finding| one.id == "disk" || one.state != State::Bad;
        assert!(found.iter().all(is_well), "{found:?}");
        assert_eq!(found[0].id, "home");
    }

    #[test]
    fn a_disk_that_is_nearly_full_is_told_of_before_it_is_full() {
        let home = Path::new("own/.mmw");
        let state = |free| judge_room(free, home).state;
        assert_eq!([state(0), state(TOO_LITTLE - 1)], [State::Bad; 2]);
        assert_eq!([state(TOO_LITTLE), state(LITTLE - 1)], [State::Warning; 2]);
        assert_eq!([state(LITTLE), state(u64::MAX)], [State::Good; 2]);
        let fix = judge_room(0, home).fix.unwrap();
        assert!(fix.ends_with("df -h own/.mmw"), "{fix}");
    }

    #[test]
    fn a_file_in_its_place_is_bad_and_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let taken = folder.path().join("taken");
        fs::write(&taken, "x").unwrap();
        let found = examine(&taken);
        assert_eq!(found[0].state, State::Bad);
        assert!(found[0].fix.is_some());
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_can_look_into_is_bad() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        // Not empty and no store in it: whose it is can't be known, so it is not closed by itself.
        fs::write(folder.path().join("else"), "x").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let found = examine(folder.path());
        let permissions = found.iter().find(|one| one.id == "permissions").unwrap();
        assert_eq!(permissions.state, State::Bad);
        assert!(
            permissions
                .fix
                .as_deref()
                .unwrap()
                .starts_with("chmod 700 ")
        );
    }
}
