//! Facts that are anchored to files: hashes that flip, and paths that lead out.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{agent, err, out};

const GUIDE: &str = "# Deploy\n\n## Staging\n\nport 8081\n\n## Production\n\nport 80\n";

/// A home and a repository with a guide.
struct Desk {
    home: TempDir,
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        let desk = Self {
            home: tempfile::tempdir().unwrap(),
            folder: tempfile::tempdir().unwrap(),
        };
        desk.git(&["init", "-q", "-b", "main"]);
        desk.write("guide.md", GUIDE);
        desk.commit();
        desk
    }

    fn write(&self, file: &str, content: &str) {
        fs::write(self.folder.path().join(file), content).unwrap();
    }

    fn git(&self, words: &[&str]) {
        let ran = Command::new("git")
            .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"])
            .args(words)
            .current_dir(self.folder.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(ran.status.success(), "{words:?}: {ran:?}");
    }

    fn commit(&self) {
        self.git(&["add", "."]);
        self.git(&["commit", "-q", "-m", "x"]);
    }

    fn json(&self, words: &[&str]) -> Value {
        let words = [words, &["--json"]].concat();
        let ran = agent(self.home.path(), self.folder.path(), &words);
        serde_json::from_str(&out(&ran)).unwrap_or_else(|_| panic!("{}", err(&ran)))
    }

    fn save(&self, content: &str, source_id: &str) -> Value {
        self.json(&["remember", content, "--source-id", source_id])
    }

    /// Returns what is told of the source of the fact with these words.
    fn told(&self, content: &str) -> Value {
        let found = self.json(&["search", content, "-n", "1"]);
        assert_eq!(found["hits"][0]["content"], content, "{found}");
        found["hits"][0]
            .get("local_source")
            .cloned()
            .unwrap_or_default()
    }
}

// A49: the same text with other line ends, or without one at its end.
#[test]
fn other_line_ends_are_no_change() {
    let desk = Desk::new();
    desk.save("plums are whole", "guide.md");
    desk.save("cherries are a part", "guide.md#Staging");
    for same in [
        GUIDE.replace('\n', "\r\n"),
        GUIDE.trim_end().to_owned(),
        GUIDE.trim_end().replace('\n', "\r\n"),
    ] {
        desk.write("guide.md", &same);
        assert_eq!(desk.told("plums are whole"), "unchanged", "A49: {same:?}");
        assert_eq!(
            desk.told("cherries are a part"),
            "unchanged",
            "A49: {same:?}"
        );
    }
    // What is no text is compared byte for byte.
    desk.write("picture.bin", "a\0\r\n");
    desk.save("kiwis are binary", "picture.bin");
    desk.write("picture.bin", "a\0\n");
    assert_eq!(desk.told("kiwis are binary"), "changed", "A49");
}

// A50: another branch, a line above, a file that is gone, one that was never anchored.
#[test]
fn only_what_a_fact_speaks_of_makes_it_stale() {
    let desk = Desk::new();
    desk.save("cherries are a heading", "guide.md#Staging");
    desk.save("plums are lines", "guide.md#L5");
    desk.save("kiwis are whole", "guide.md");
    desk.save("figs were never anchored", "session:1");
    desk.write("guide.md", &format!("one line above\n{GUIDE}"));
    assert_eq!(desk.told("cherries are a heading"), "unchanged", "A50");
    assert_eq!(desk.told("plums are lines"), "unchanged", "A50");
    assert_eq!(desk.told("kiwis are whole"), "changed", "A50");
    assert_eq!(desk.told("figs were never anchored"), Value::Null, "A50");
    desk.git(&["switch", "-q", "-c", "next"]);
    desk.write("guide.md", &GUIDE.replace("8081", "9090"));
    desk.commit();
    assert_eq!(desk.told("cherries are a heading"), "changed", "A50");
    desk.git(&["switch", "-q", "main"]);
    for fact in [
        "cherries are a heading",
        "plums are lines",
        "kiwis are whole",
    ] {
        assert_eq!(desk.told(fact), "unchanged", "A50: {fact}");
    }
    desk.git(&["mv", "guide.md", "moved.md"]);
    assert_eq!(desk.told("kiwis are whole"), "missing", "A50");
    desk.git(&["mv", "moved.md", "guide.md"]);
    assert_eq!(desk.told("kiwis are whole"), "unchanged", "A50");
}

// A51: `..`, a whole path, a link that leads out.
#[test]
fn no_anchor_leads_out_of_its_folder() {
    let desk = Desk::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x.md"), "secret").unwrap();
    let whole = outside.path().join("x.md");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&whole, desk.folder.path().join("link.md")).unwrap();
    let up = format!("../{}/x.md", name(outside.path()));
    for source_id in [
        "../../../../../../etc/passwd",
        "/etc/passwd",
        "link.md",
        &up,
        whole.to_str().unwrap(),
    ] {
        let saved = desk.save("plums", source_id);
        let about = (&saved["source_id"], saved.get("source_hash"));
        assert_eq!(about, (&json!(source_id), None), "A51: {saved}");
        let note = saved["source_note"].as_str().unwrap_or_default();
        assert!(note.contains("outside"), "A51: {saved}");
    }
}

fn name(folder: &Path) -> String {
    folder.file_name().unwrap().to_string_lossy().into_owned()
}
