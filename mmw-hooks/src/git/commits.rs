//! The files in commits that were made in this working tree since a moment.
//!
//! The record of where `HEAD` has been tells them: it names what moved it, so commits that came
//! with a pull, a merge, a rebase or a change of branch are not taken for work that was done here,
//! and times that a commit carries from elsewhere do not matter.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use mmw_core::time::Timestamp;

use super::ask::{ask, path};
use super::place::Tree;
use super::status::MAX_FILES;
use crate::deadline::Deadline;

/// How much of the record is read from its end, in bytes.
const MAX_RECORD_BYTES: u64 = 1024 * 1024;

/// The most commits that are looked into, the newest first.
const MAX_COMMITS: usize = 500;

/// What git writes when somebody makes a commit here. One that ends a merge counts with the files
/// that differ from both sides.
const MADE: [&str; 5] = [
    "commit: ",
    "commit (initial): ",
    "commit (amend): ",
    "commit (merge): ",
    "revert: ",
];

/// A move of `HEAD` by a commit.
#[derive(Debug, PartialEq, Eq)]
struct Made {
    before: String,
    commit: String,
    at: Timestamp,
    is_merge: bool,
}

/// Returns the files in commits that were made after `since`, with the commit's time.
#[must_use]
pub fn since(tree: &Tree, since: Timestamp, deadline: Deadline) -> Vec<(PathBuf, Timestamp)> {
    let record = record(tree, deadline).unwrap_or_default();
    let made = read_record(&record, since);
    if made.is_empty() {
        return Vec::new();
    }
    let mut told = String::new();
    for one in &made {
        told.push_str(&one.commit);
        // Compared with what was there before: of an amended commit only what the amending changed.
        if !one.is_merge && one.before.bytes().any(|digit| digit != b'0') {
            told.push(' ');
            told.push_str(&one.before);
        }
        told.push('\n');
    }
    let question = [
        "diff-tree",
        "--stdin",
        "--root",
        "-r",
        "-c",
        "-z",
        "--name-status",
        "--no-renames",
        "--ignore-submodules=all",
    ];
    let answer = ask(tree, &question, told.as_bytes(), deadline).unwrap_or_default();
    let at: HashMap<&str, Timestamp> = made
        .iter()
        .map(|one| (one.commit.as_str(), one.at))
        .collect();
    read_files(&answer, &at)
}

/// Returns the end of the record of `HEAD`.
fn record(tree: &Tree, deadline: Deadline) -> Option<Vec<u8>> {
    if let Ok(mut file) = File::open(tree.own.join("logs/HEAD")) {
        let length = file.metadata().ok()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(MAX_RECORD_BYTES)))
            .ok()?;
        let mut record = Vec::new();
        file.take(MAX_RECORD_BYTES).read_to_end(&mut record).ok()?;
        return Some(record);
    }
    // Newer repositories keep it in a form that only git reads.
    tree.own.join("reftable").is_dir().then_some(())?;
    let question = [
        "log",
        "--walk-reflogs",
        "--max-count=1000",
        "--date=unix",
        "--format=%H %gd %gs",
        "HEAD",
        "--",
    ];
    let shown = ask(tree, &question, b"", deadline)?;
    Some(as_record(&String::from_utf8_lossy(&shown)).into_bytes())
}

/// Puts what `git log` shows of the record, newest first, into the form of the file, oldest first.
fn as_record(shown: &str) -> String {
    let entries: Vec<(&str, &str, &str)> = shown
        .lines()
        .filter_map(|line| {
            let (commit, rest) = line.split_once(" HEAD@{")?;
            let (seconds, message) = rest.split_once("} ")?;
            Some((commit, seconds, message))
        })
        .collect();
    let mut record = String::new();
    let mut before = "0";
    for (commit, seconds, message) in entries.iter().rev() {
        record.push_str(&format!("{before} {commit} x {seconds} +0000\t{message}\n"));
        before = commit;
    }
    record
}

/// Reads `<before> <commit> <name> <address> <seconds> <zone>\t<message>` lines, of which the first
/// may be cut off.
fn read_record(record: &[u8], since: Timestamp) -> Vec<Made> {
    let text = String::from_utf8_lossy(record);
    text.lines()
        .rev()
        .filter_map(read_entry)
        // Times are whole seconds; what else is known of a file decides within them.
        .filter(|made| made.at.plus_ms(999) > since)
        .take(MAX_COMMITS)
        .collect()
}

fn read_entry(line: &str) -> Option<Made> {
    let (head, message) = line.split_once('\t')?;
    let kind = MADE.iter().find(|kind| message.starts_with(**kind))?;
    let mut words = head.split(' ');
    let (before, commit) = (words.next()?, words.next()?);
    is_id(commit).then_some(())?;
    let seconds: i64 = words.rev().nth(1)?.parse().ok()?;
    Some(Made {
        before: before.to_owned(),
        commit: commit.to_owned(),
        at: Timestamp::from_ms(seconds.checked_mul(1000)?),
        is_merge: kind.contains("merge"),
    })
}

fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Reads a commit and then pairs of a state and a path, all ending with a NUL character.
fn read_files(answer: &[u8], at: &HashMap<&str, Timestamp>) -> Vec<(PathBuf, Timestamp)> {
    let mut files = Vec::new();
    let mut time = None;
    let mut parts = answer.split(|byte| *byte == 0);
    while let Some(part) = parts.next() {
        let text = String::from_utf8_lossy(part);
        if is_id(&text) {
            time = at.get(text.as_ref()).copied();
        } else if let (false, Some(name), Some(time)) = (part.is_empty(), parts.next(), time)
            && files.len() < MAX_FILES
            && !name.is_empty()
        {
            files.push((path(name), time));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "1111111111111111111111111111111111111111";
    const B: &str = "2222222222222222222222222222222222222222";

    fn made(message: &str, seconds: i64, since_ms: i64) -> usize {
        let line = format!("{A} {B} Ann B <a@b> {seconds} +0200\t{message}\n");
        read_record(line.as_bytes(), Timestamp::from_ms(since_ms)).len()
    }

    #[test]
    fn only_commits_that_were_made_here_count() {
        for message in ["commit: x", "commit (initial): x", "commit (amend): x"] {
            assert_eq!(made(message, 100, 0), 1, "{message}");
        }
        for message in [
            "checkout: moving from a to b",
            "merge x: Fast-forward",
            "pull: Fast-forward",
            "rebase (pick): commit: x",
            "reset: moving to HEAD~1",
            "cherry-pick: x",
            "clone: from x",
            "",
        ] {
            assert_eq!(made(message, 100, 0), 0, "{message}");
        }
    }

    #[test]
    fn a_commit_of_the_same_second_may_be_later() {
        assert_eq!(made("commit: x", 100, 99_999), 1);
        assert_eq!(made("commit: x", 100, 100_500), 1);
        assert_eq!(made("commit: x", 100, 100_999), 0);
        assert_eq!(made("commit: x", 100, 101_000), 0);
    }

    #[test]
    fn a_damaged_record_is_passed_over() {
        for record in [
            "cut off\n",
            "a b c\tcommit: x\n",
            "\t\n",
            "1 2 <> x +0\tcommit: x\n",
        ] {
            assert!(
                read_record(record.as_bytes(), Timestamp::from_ms(0)).is_empty(),
                "{record}"
            );
        }
        let far = format!("{A} {B} a {} +0\tcommit: x\n", i64::MAX);
        assert!(read_record(far.as_bytes(), Timestamp::from_ms(0)).is_empty());
    }

    #[test]
    fn what_git_shows_reads_like_the_file() {
        let shown =
            format!("{B} HEAD@{{200}} commit: two\n{A} HEAD@{{100}} commit (initial): one\n");
        let made = read_record(as_record(&shown).as_bytes(), Timestamp::from_ms(0));
        let seen: Vec<_> = made
            .iter()
            .map(|one| (one.before.as_str(), one.commit.as_str(), one.at.as_ms()))
            .collect();
        assert_eq!(seen, [(A, B, 200_000), ("0", A, 100_000)]);
    }

    #[test]
    fn files_belong_to_the_commit_before_them() {
        let at = HashMap::from([(A, Timestamp::from_ms(1)), (B, Timestamp::from_ms(2))]);
        let answer = format!("{A}\0M\0a\nb\0D\0c\0{B}\0MM\0d\0");
        let files = read_files(answer.as_bytes(), &at);
        let seen: Vec<_> = files
            .iter()
            .map(|(path, at)| (path.to_str().unwrap(), at.as_ms()))
            .collect();
        assert_eq!(seen, [("a\nb", 1), ("c", 1), ("d", 2)]);
    }
}
