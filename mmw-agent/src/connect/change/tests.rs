//! Whole round trips of every client in a home of its own.

use std::ffi::OsString;
use std::fs;

use super::super::client::ALL;
use super::super::entry::Entry;
use super::super::places::{Places, System};
use super::*;

struct Home {
    folder: tempfile::TempDir,
    places: Places,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = OsString::from(folder.path().join("ann"));
        let places = Places::of(System::Unix, |name| (name == "HOME").then(|| home.clone()));
        Self { folder, places }
    }

    fn agent(&self) -> PathBuf {
        self.folder.path().join("agent")
    }

    fn settings(&self, client: &Client, program: &str) -> Vec<Setting> {
        let entry = Entry {
            program: program.to_owned(),
            environment: Vec::new(),
            system: System::Unix,
        };
        client.settings(&self.places, &entry, true)
    }

    fn connect(&self, client: &Client, program: &str) -> usize {
        let mut ledger = Ledger::read(&self.agent());
        let changes = to_connect(&self.settings(client, program), false);
        let mut n_done = 0;
        for change in changes {
            let change = change.unwrap();
            if !change.is_nothing() {
                connect(&change, client, &self.agent(), &mut ledger).unwrap();
                n_done += 1;
            }
        }
        n_done
    }

    fn disconnect(&self, client: &Client) -> Vec<bool> {
        let mut ledger = Ledger::read(&self.agent());
        let changes = to_disconnect(&self.settings(client, PROGRAM), &self.agent(), &ledger);
        let mut exact = Vec::new();
        for change in changes {
            let change = change.unwrap();
            if !change.is_nothing() {
                exact.push(change.is_exact);
            }
            disconnect(&change, &self.agent(), &mut ledger).unwrap();
        }
        exact
    }

    fn files(&self) -> Vec<(PathBuf, String)> {
        let mut files = Vec::new();
        let mut folders = vec![self.folder.path().join("ann")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.path().is_dir() {
                    folders.push(entry.path());
                } else {
                    files.push((entry.path(), fs::read_to_string(entry.path()).unwrap()));
                }
            }
        }
        files.sort();
        files
    }

    /// Writes settings as their person may have them.
    fn write(&self, client: &Client) {
        for setting in self.settings(client, PROGRAM) {
            fs::create_dir_all(setting.file.parent().unwrap()).unwrap();
            let text = match setting.file.extension().and_then(|ending| ending.to_str()) {
                Some("toml") => "# mine\nmodel = \"x\"  # the model\n",
                _ => "// mine\r\n{ \"a\" : [1,2 , 3],\r\n\t\"b\":{}}",
            };
            fs::write(setting.file, text).unwrap();
        }
    }
}

const PROGRAM: &str = "/opt/mmw-agent";

#[test]
fn a_client_without_settings_is_connected_and_left_without_a_file() {
    for client in ALL {
        let home = Home::new();
        assert!(home.connect(client, PROGRAM) > 0);
        let n_files = home.files().len();
        assert!(n_files > 0, "{}", client.id);
        assert_eq!(
            home.connect(client, PROGRAM),
            0,
            "the second time changes nothing"
        );
        assert_eq!(home.disconnect(client), vec![true; n_files]);
        assert_eq!(home.files(), [], "{}", client.id);
        assert_eq!(home.disconnect(client), Vec::<bool>::new());
    }
}

#[test]
fn settings_come_back_byte_for_byte() {
    for client in ALL {
        let home = Home::new();
        home.write(client);
        let before = home.files();
        assert!(home.connect(client, "/old/mmw-agent") > 0);
        // The program moves; what was before is still known.
        assert!(home.connect(client, PROGRAM) > 0, "{}", client.id);
        assert_ne!(home.files(), before);
        let exact = home.disconnect(client);
        assert!(exact.iter().all(|exact| *exact), "{}", client.id);
        assert_eq!(home.files(), before, "{}", client.id);
        let left = fs::read_dir(home.agent().join("backups")).unwrap().count();
        assert_eq!(
            left, 0,
            "copies of settings are not kept longer than needed"
        );
    }
}

#[test]
fn what_a_person_changed_in_between_stays() {
    for client in ALL {
        let home = Home::new();
        home.write(client);
        home.connect(client, PROGRAM);
        for (path, text) in home.files() {
            fs::write(path, text.replace("mine", "mine and changed")).unwrap();
        }
        let exact = home.disconnect(client);
        assert!(
            !exact.is_empty() && exact.iter().all(|exact| !exact),
            "{}",
            client.id
        );
        for (path, text) in home.files() {
            assert!(text.contains("mine and changed"), "{path:?}: {text}");
            assert!(!text.contains("mmw"), "{path:?}: {text}");
        }
    }
}

#[test]
fn an_entry_that_was_there_before_is_no_reason_to_claim_that_it_was_not() {
    let home = Home::new();
    let client = ALL.iter().find(|client| client.id == "cursor").unwrap();
    let path = home.settings(client, PROGRAM)[0].file.clone();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let by_hand = r#"{"mcpServers": {"mmw": {"command": "mmw-agent"}, "b": {"command": "c"}}}"#;
    fs::write(&path, by_hand).unwrap();
    home.connect(client, PROGRAM);
    home.disconnect(client);
    let left = fs::read_to_string(&path).unwrap();
    assert!(!left.contains("mmw") && left.contains("\"b\""), "{left}");
}

#[test]
fn one_broken_file_is_refused_untouched_and_the_others_are_done() {
    let home = Home::new();
    let client = ALL
        .iter()
        .find(|client| client.id == "claude-code")
        .unwrap();
    let settings = home.settings(client, PROGRAM);
    fs::create_dir_all(settings[1].file.parent().unwrap()).unwrap();
    fs::write(&settings[1].file, "{ \"hooks\": ").unwrap();
    let changes = to_connect(&settings, false);
    assert!(changes[0].is_ok());
    let refused = changes[1].as_ref().unwrap_err();
    assert!(refused.why.contains("no valid JSON"), "{}", refused.why);
    assert_eq!(
        fs::read_to_string(&settings[1].file).unwrap(),
        "{ \"hooks\": "
    );
}

#[cfg(unix)]
#[test]
fn copies_of_settings_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let client = ALL.iter().find(|client| client.id == "zed").unwrap();
    home.write(client);
    home.connect(client, PROGRAM);
    for folder in [home.agent(), home.agent().join("backups")] {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let about = entry.metadata().unwrap();
            let mode = about.permissions().mode() & 0o077;
            assert!(about.is_dir() || mode == 0, "{:?}: {mode:o}", entry.path());
        }
    }
}

#[test]
fn two_commands_at_once_forget_nothing_of_each_other() {
    let home = Home::new();
    let [one, other] = [&ALL[0], &ALL[4]];
    for client in [one, other] {
        home.write(client);
    }
    let before = home.files();
    // Both have read the ledger before either has written it.
    let mut theirs = Ledger::read(&home.agent());
    home.connect(one, PROGRAM);
    for change in to_connect(&home.settings(other, PROGRAM), false) {
        connect(&change.unwrap(), other, &home.agent(), &mut theirs).unwrap();
    }
    for client in [one, other] {
        assert!(home.disconnect(client).iter().all(|is_exact| *is_exact));
    }
    assert_eq!(home.files(), before);
}

#[test]
fn a_damaged_copy_is_not_put_back() {
    let home = Home::new();
    let client = &ALL[4];
    home.write(client);
    home.connect(client, PROGRAM);
    for copy in fs::read_dir(home.agent().join("backups")).unwrap() {
        fs::write(copy.unwrap().path(), "").unwrap();
    }
    assert!(home.disconnect(client).iter().all(|is_exact| !is_exact));
    for (file, text) in home.files() {
        assert!(text.starts_with("// mine"), "{}: {text}", file.display());
    }
}

#[test]
fn two_files_of_the_same_content_have_a_copy_each() {
    let home = Home::new();
    let mut ledger = Ledger::default();
    for folder in ["a", "b"] {
        let found = Found {
            path: home.folder.path().join(folder).join("settings.json"),
            text: Some("{}".to_owned()),
        };
        let noted = ledger.note(&home.agent(), "claude-code", &found, "{ }", false);
        noted.unwrap();
    }
    let n_copies = fs::read_dir(home.agent().join("backups")).unwrap().count();
    assert_eq!(n_copies, 2);
}

#[test]
fn of_a_file_that_could_not_be_changed_no_copy_is_left() {
    let home = Home::new();
    let client = &ALL[4];
    home.write(client);
    let mut ledger = Ledger::read(&home.agent());
    for change in to_connect(&home.settings(client, PROGRAM), false) {
        let change = change.unwrap();
        // Somebody writes it at the same moment.
        fs::write(&change.found.path, "{}").unwrap();
        connect(&change, client, &home.agent(), &mut ledger).unwrap_err();
    }
    let n_copies = fs::read_dir(home.agent().join("backups")).unwrap().count();
    assert_eq!((n_copies, ledger), (0, Ledger::default()));
}
