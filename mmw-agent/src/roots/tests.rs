//! What may be read of a real folder, and what not.

use std::fs;

use super::*;

struct Desk {
    folder: tempfile::TempDir,
    roots: Roots,
}

/// A root with `docs/a.md`, beside a folder `other` with `b.md`.
fn desk() -> Desk {
    let folder = tempfile::tempdir().unwrap();
    for (file, content) in [("root/docs/a.md", "a"), ("other/b.md", "b")] {
        let file = folder.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }
    let root = folder.path().join("root");
    let roots = Roots::new(&root, [root.clone(), folder.path().join("gone")]);
    Desk { folder, roots }
}

/// Returns the content, `missing`, or why it is refused.
fn told(roots: &Roots, document: &str) -> String {
    match roots.open(document, Meant::Here) {
        Ok(Found::File(mut opened)) => String::from_utf8(opened.read().unwrap()).unwrap(),
        Ok(Found::Missing) => "missing".to_owned(),
        Err(refused) => format!("{refused:?}"),
    }
}

#[test]
fn files_in_a_root_are_read_by_any_way_that_stays_inside() {
    let desk = desk();
    let absolute = desk.folder.path().join("root/docs/a.md");
    for document in [
        "docs/a.md",
        "./docs/a.md",
        "docs/../docs/a.md",
        "docs\\a.md",
        absolute.to_str().unwrap(),
    ] {
        assert_eq!(told(&desk.roots, document), "a", "{document}");
    }
    assert_eq!(told(&desk.roots, "docs/b.md"), "missing");
    assert_eq!(told(&desk.roots, "docs/a.md/x.md"), "missing");
}

#[test]
fn what_lies_outside_is_refused_whether_it_is_there_or_not() {
    let desk = desk();
    let absolute = desk.folder.path().join("other/b.md");
    for document in [
        "../other/b.md",
        "../other/not-there.md",
        "docs/../../other/b.md",
        "../../../../../../../../etc/passwd",
        "/etc/passwd",
        "/etc/not-there.md",
        "../root-2/x.md",
        absolute.to_str().unwrap(),
    ] {
        assert_eq!(told(&desk.roots, document), "Outside", "{document}");
    }
    let none = Roots::new(&desk.folder.path().join("root"), []);
    assert_eq!(told(&none, "docs/a.md"), "Outside");
    assert_eq!(told(&none, "/etc/passwd"), "Outside");
    assert!(desk.roots.folders().len() == 1 && none.folders().is_empty());
}

#[test]
fn the_second_root_is_looked_in_too() {
    let desk = desk();
    let folders = ["root", "other"].map(|name| desk.folder.path().join(name));
    let both = Roots::new(&folders[0], folders.clone());
    assert_eq!(told(&both, "b.md"), "b");
    assert_eq!(told(&both, "docs/a.md"), "a");
}

#[test]
fn files_of_secrets_folders_and_large_files_are_refused() {
    let desk = desk();
    let root = desk.folder.path().join("root");
    fs::write(root.join(".env"), "x=1").unwrap();
    let large = File::create(root.join("large.bin")).unwrap();
    large.set_len(MAX_FILE_BYTES + 1).unwrap();
    assert_eq!(told(&desk.roots, ".env"), "Secret");
    assert_eq!(told(&desk.roots, "docs"), "NoFile");
    assert_eq!(told(&desk.roots, "large.bin"), "TooLarge");
    large.set_len(MAX_FILE_BYTES).unwrap();
    let opened = desk.roots.open("large.bin", Meant::Here);
    assert!(matches!(opened, Ok(Found::File(_))));
}

#[cfg(unix)]
#[test]
fn links_are_followed_inside_and_nowhere_else() {
    use std::os::unix::fs::symlink;
    let desk = desk();
    let root = desk.folder.path().join("root");
    symlink("docs/a.md", root.join("inside.md")).unwrap();
    symlink("../other/b.md", root.join("outside.md")).unwrap();
    symlink("../other", root.join("way")).unwrap();
    symlink("nowhere.md", root.join("dangling.md")).unwrap();
    symlink("round.md", root.join("round.md")).unwrap();
    fs::write(root.join("id_rsa"), "key").unwrap();
    symlink("id_rsa", root.join("harmless.md")).unwrap();
    assert_eq!(told(&desk.roots, "inside.md"), "a");
    assert_eq!(told(&desk.roots, "outside.md"), "Outside");
    assert_eq!(told(&desk.roots, "way/b.md"), "Outside");
    assert_eq!(told(&desk.roots, "way/not-there.md"), "Outside");
    assert_eq!(told(&desk.roots, "dangling.md"), "missing");
    assert_eq!(told(&desk.roots, "round.md"), "NoFile");
    assert_eq!(told(&desk.roots, "harmless.md"), "Secret");
}

#[cfg(unix)]
#[test]
fn a_folder_that_becomes_a_link_out_after_it_was_resolved_leads_nowhere() {
    let desk = desk();
    let root = desk.folder.path().canonicalize().unwrap().join("root");
    let resolved = root.join("docs/b.md");
    fs::remove_dir_all(root.join("docs")).unwrap();
    std::os::unix::fs::symlink("../other", root.join("docs")).unwrap();
    assert!(resolved.exists());
    let opened = desk.roots.open_resolved(resolved);
    assert_eq!(opened.unwrap_err(), Refused::Outside);
}

#[cfg(unix)]
#[test]
fn pipes_sockets_and_devices_are_refused_without_waiting() {
    let desk = desk();
    let root = desk.folder.path().join("root");
    let made = std::process::Command::new("mkfifo")
        .arg(root.join("pipe.md"))
        .status()
        .unwrap();
    assert!(made.success());
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket.md")).unwrap();
    assert_eq!(told(&desk.roots, "pipe.md"), "NoFile");
    assert_eq!(told(&desk.roots, "socket.md"), "NoFile");
    let devices = Roots::new(Path::new("/dev"), [PathBuf::from("/dev")]);
    assert_eq!(told(&devices, "null"), "NoFile");
}

/// A repository with a file at its top and one in a folder, and somebody who works in that folder.
fn repository(roots_in: &str) -> Desk {
    let folder = tempfile::tempdir().unwrap();
    for (file, content) in [
        ("repo/.git/HEAD", "ref: refs/heads/main"),
        ("repo/README.md", "top"),
        ("repo/api/README.md", "api"),
        ("repo/api/src/x.rs", "x"),
        ("repo/api/run", "run"),
        ("repo/docs/a.md", "a"),
    ] {
        let file = folder.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }
    let start = folder.path().join("repo/api");
    let roots = Roots::new(&start, [folder.path().join(roots_in)]);
    Desk { folder, roots }
}

#[test]
fn a_file_has_one_name_from_the_top_of_the_repository() {
    let desk = repository("repo");
    let absolute = desk.folder.path().join("repo/api/src/x.rs");
    for (document, name) in [
        ("src/x.rs", "api/src/x.rs"),
        ("./src/x.rs", "api/src/x.rs"),
        ("api/src/x.rs", "api/src/x.rs"),
        ("../api/src/x.rs", "api/src/x.rs"),
        (absolute.to_str().unwrap(), "api/src/x.rs"),
        ("src\\x.rs", "api/src/x.rs"),
        ("../docs/a.md", "docs/a.md"),
        ("docs/a.md", "docs/a.md"),
        ("README.md", "api/README.md"),
        ("./README.md", "api/README.md"),
        ("../README.md", "README.md"),
        ("./run", "api/run"),
    ] {
        let Ok(Found::File(opened)) = desk.roots.open(document, Meant::Here) else {
            panic!("{document} is not found");
        };
        let named = desk.roots.name_of(&opened.path);
        assert_eq!(named.as_deref(), Some(name), "{document}");
        let again = desk.roots.open(name, Meant::Stored);
        assert!(
            matches!(again, Ok(Found::File(again)) if again.path == opened.path),
            "{document}"
        );
    }
    assert_eq!(
        desk.roots.name_of_absent("./gone.md").as_deref(),
        Some("api/gone.md")
    );
    assert_eq!(desk.roots.name_of_absent("gone.md"), None);
    assert_eq!(desk.roots.name_of_absent("../../gone.md"), None);
    assert!(desk.roots.is_there_from_the_top("README.md"));
    assert!(!desk.roots.is_there_from_the_top("src/x.rs"));
}

#[test]
fn a_name_from_the_top_that_lies_outside_the_root_is_not_missing() {
    let desk = repository("repo/api");
    let stored = |name: &str| match desk.roots.open(name, Meant::Stored) {
        Ok(Found::File(_)) => "file".to_owned(),
        Ok(Found::Missing) => "missing".to_owned(),
        Err(refused) => format!("{refused:?}"),
    };
    assert_eq!(stored("docs/a.md"), "Outside");
    assert_eq!(stored("docs/gone.md"), "Outside");
    assert_eq!(stored("api/src/x.rs"), "file");
    assert_eq!(stored("api/src/gone.rs"), "missing");
}

#[test]
fn a_plain_folder_above_a_repository_gives_no_names_to_what_is_in_it() {
    let desk = repository("repo");
    let home = desk.folder.path();
    fs::write(home.join("notes.md"), "x").unwrap();
    for start in [home, Path::new("/")] {
        let roots = Roots::new(start, [home.to_owned(), home.join("repo")]);
        let named = |file: &str| roots.name_of(&home.canonicalize().unwrap().join(file));
        assert_eq!(named("repo/docs/a.md").as_deref(), Some("docs/a.md"));
        assert_eq!(named("notes.md").as_deref(), Some("notes.md"));
    }
}

#[test]
fn a_name_that_two_roots_would_share_is_the_whole_path_of_the_second() {
    let folder = tempfile::tempdir().unwrap();
    let folders = ["a", "b"].map(|name| folder.path().join(name));
    for folder in &folders {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("x.md"), "x").unwrap();
    }
    fs::write(folders[1].join("y.md"), "y").unwrap();
    fs::write(folders[0].join("c#.md"), "z").unwrap();
    fs::write(folders[0].join("run"), "z").unwrap();
    let roots = Roots::new(&folders[0], folders.clone());
    let resolved = |nth: usize, name: &str| folders[nth].canonicalize().unwrap().join(name);
    let named = |nth: usize, name: &str| roots.name_of(&resolved(nth, name));
    assert_eq!(named(0, "x.md").as_deref(), Some("x.md"));
    assert_eq!(named(1, "x.md").as_deref(), resolved(1, "x.md").to_str());
    assert_eq!(named(1, "y.md").as_deref(), Some("y.md"));
    assert_eq!(named(0, "c#.md"), None);
    assert_eq!(named(0, "run").as_deref(), Some("./run"));
    let back = roots.open("./run", Meant::Stored);
    assert!(matches!(back, Ok(Found::File(opened)) if opened.path == resolved(0, "run")));
}

#[cfg(unix)]
mod walks {
    //! No path leads out, whatever lies in the folders.

    use proptest::prelude::*;

    use super::*;

    const NAMES: [&str; 5] = ["a", "b.md", "way", "..", "."];

    fn paths() -> impl Strategy<Value = String> {
        proptest::collection::vec(proptest::sample::select(&NAMES[..]), 1..5)
            .prop_map(|parts| parts.join("/"))
    }

    /// What is made at a path: a folder, a file with the content `in` or `out`, or a link.
    #[derive(Debug, Clone)]
    enum Thing {
        Folder,
        File,
        Link(String),
    }

    fn things() -> impl Strategy<Value = Thing> {
        prop_oneof![
            Just(Thing::Folder),
            Just(Thing::File),
            paths().prop_map(Thing::Link),
            (0..4_usize, paths())
                .prop_map(|(n, path)| Thing::Link(format!("{}{path}", "../".repeat(n)))),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(192))]
        #[test]
        fn nothing_outside_the_root_is_ever_read(
            things in proptest::collection::vec((any::<bool>(), paths(), things()), 0..12),
            asked in proptest::collection::vec((any::<bool>(), paths()), 1..6),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("x/root");
            let outside = folder.path().join("x/out");
            for place in [&root, &outside] {
                fs::create_dir_all(place.join("a")).unwrap();
            }
            for (is_inside, path, thing) in things {
                let place = path::folded(&if is_inside { root.join(path) } else { outside.join(path) });
                // A link may lead out of the test's own folder: nothing is written through one.
                let really = path::resolved_as_far_as_it_is(&place);
                if !really.starts_with(folder.path().canonicalize().unwrap()) {
                    continue;
                }
                if let Some(parent) = place.parent() {
                    let _ = fs::create_dir_all(parent);
                }
                let _ = match thing {
                    Thing::Folder => fs::create_dir_all(&place),
                    Thing::File if place.symlink_metadata().is_err() => fs::write(&place, "x"),
                    Thing::File => Ok(()),
                    Thing::Link(to) => std::os::unix::fs::symlink(to, &place),
                };
            }
            // What a file says is where it lies, so that a byte from outside can be told.
            for place in [&root, &outside] {
                mark(place);
            }
            let roots = Roots::new(&root, [root.clone()]);
            for (is_absolute, path) in asked {
                let document = if is_absolute { format!("{}/{path}", root.display()) } else { path };
                for meant in [Meant::Here, Meant::Stored] {
                    if let Ok(Found::File(mut opened)) = roots.open(&document, meant) {
                        let said = String::from_utf8(opened.read().unwrap()).unwrap();
                        let inside = root.canonicalize().unwrap();
                        prop_assert!(Path::new(&said).starts_with(&inside), "{} gave {}", document, said);
                        let name = roots.name_of(&opened.path).unwrap();
                        let again = roots.open(&name, Meant::Stored);
                        prop_assert!(matches!(again, Ok(Found::File(again)) if again.path == opened.path));
                    }
                }
            }
        }
    }

    /// Writes into every file below a folder where it lies. Links are not followed.
    fn mark(folder: &Path) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let about = entry.file_type().unwrap();
            if about.is_dir() {
                mark(&entry.path());
            } else if about.is_file() {
                let place = entry.path().canonicalize().unwrap();
                fs::write(entry.path(), place.to_str().unwrap()).unwrap();
            }
        }
    }
}
