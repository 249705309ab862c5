//! No file names a folder of somebody's machine: on another one it is wrong, and it tells who wrote it.

use super::Complaint;
use super::checkout::Checkout;

/// Folders of one machine, in two halves so that this file does not carry them.
const MACHINE: [&str; 3] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/usr/local/", "cargo/"),
];

/// Where people's homes lie.
const HOMES: [&str; 3] = [
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!(r"C:\Us", r"ers\"),
];

/// Names of nobody in particular, for examples and recorded sessions.
const NOBODY: [&str; 10] = [
    "dev", "you", "me", "user", "ada", "alice", "ann", "bob", "name", "<",
];

/// Folders that hold what real clients sent, recorded as it was.
const RECORDED: [&str; 2] = ["tests/fixtures/", "tests/recorded/"];

/// Checks all text files but the lock file and recorded sessions.
pub(super) fn check(checkout: &Checkout) -> Vec<Complaint> {
    checkout
        .texts()
        .filter(|(path, _)| *path != "Cargo.lock")
        .filter(|(path, _)| !RECORDED.iter().any(|folder| path.starts_with(folder)))
        .flat_map(|(path, text)| {
            text.lines().enumerate().filter_map(move |(nth, line)| {
                let found = machine_path(line)?;
                Some(Complaint {
                    place: format!("{path}:{}", nth + 1),
                    rule: "paths",
                    what: format!("`{found}` is a folder of one machine"),
                    remedy: "use a path relative to the repository, a temporary folder or `~`"
                        .to_owned(),
                })
            })
        })
        .collect()
}

fn machine_path(line: &str) -> Option<&str> {
    let starts = |start: &'static str| {
        line.match_indices(start).filter_map(move |(at, _)| {
            // `docs/work/` and `https://host/root/` are no absolute paths.
            let before = line[..at].chars().next_back();
            let inside = before.is_some_and(|c| c.is_alphanumeric() || "._-~/}*".contains(c));
            (!inside).then(|| &line[at..])
        })
    };
    let machine = MACHINE.into_iter().flat_map(starts).next();
    let home = HOMES
        .into_iter()
        .flat_map(|home| starts(home).map(move |path| (home, path)))
        .find(|(home, path)| {
            let owner = &path[home.len()..];
            let name_ends = |name: &str| {
                let after = owner[name.len()..].chars().next();
                name == "<" || !after.is_some_and(|c| c.is_alphanumeric() || c == '_')
            };
            let nobody = NOBODY
                .iter()
                .any(|name| owner.starts_with(name) && name_ends(name));
            !nobody && owner.starts_with(|c: char| c.is_alphanumeric())
        })
        .map(|(_, path)| path);
    let path = machine.or(home)?;
    let end = path
        .find(|c: char| c.is_whitespace() || "\"'`)".contains(c))
        .unwrap_or(path.len());
    Some(&path[..end])
}

#[cfg(test)]
mod tests {
    use super::super::check_places;
    use super::*;

    fn check_line(line: &str, found: Option<&str>) {
        assert_eq!(machine_path(line), found, "{line}");
    }

    #[test]
    fn folders_of_one_machine_are_found() {
        for folder in MACHINE {
            let line = format!("cd \"{folder}x\" && make");
            check_line(&line, Some(&format!("{folder}x")));
        }
        for home in HOMES {
            check_line(
                &format!("see {home}jane/x y"),
                Some(&format!("{home}jane/x")),
            );
            check_line(&format!("see {home}dev/x y"), None);
            check_line(
                &format!("see {home}developer"),
                Some(&format!("{home}developer")),
            );
            check_line(&format!("see {home}<you>"), None);
        }
        check_line("https://example.org/home/page and docs/work/x", None);
        check_line("~/.mmw and /var/lib/mmw", None);
    }

    #[test]
    fn recorded_sessions_are_left_as_they_were() {
        let line = format!("{}jane/x", HOMES[0]);
        check_places(
            check,
            &[
                ("docs/a.md", &line),
                ("tests/recorded/a.json", &line),
                ("Cargo.lock", &line),
            ],
            &["docs/a.md:1"],
        );
    }
}
