//! Finds out what a file or folder holds, and reads it.
//!
//! A file that is named is recognised by what stands in it. In a folder only files that look like a set
//! by their names are opened, some folders deep; whatever else lies there is left alone.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::set::{Doc, Question, Set};
use super::{beam, dialogues, longmemeval, uniform};

/// How deep a folder is looked through.
const MAX_DEPTH: usize = 5;

/// Why sets can't be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetError {
    /// Nothing there is a set.
    #[error(
        "{0} holds no set: NAME.docs.jsonl with NAME.queries.jsonl, or LoCoMo, REALTALK, BEAM or LongMemEval as \
         they are published"
    )]
    Unknown(PathBuf),
    /// A file can't be read.
    #[error("{0} can't be read")]
    Unreadable(PathBuf, #[source] std::io::Error),
    /// A file is not what its name says.
    #[error("{0}: {1}")]
    Wrong(PathBuf, String),
}

/// Reads all sets of a file or folder. Of a set whose questions have a history each, at most so many
/// groups are read.
pub(crate) fn read(path: &Path, most_groups: usize) -> Result<Vec<Set>, SetError> {
    let mut found = Found {
        most_groups,
        ..Found::default()
    };
    if path.is_dir() {
        found.folder(path, MAX_DEPTH)?;
    } else {
        found.file(path, true)?;
    }
    let sets = found.finish();
    if sets.is_empty() {
        return Err(SetError::Unknown(path.to_owned()));
    }
    Ok(sets)
}

#[derive(Default)]
struct Found {
    most_groups: usize,
    sets: Vec<Set>,
    chats: Vec<(String, Value)>,
    /// BEAM's chats by the size that their folder names.
    beam: Vec<(String, Vec<Doc>, Vec<Question>)>,
}

impl Found {
    fn folder(&mut self, folder: &Path, depth: usize) -> Result<(), SetError> {
        let unreadable = |error| SetError::Unreadable(folder.to_owned(), error);
        let mut entries: Vec<PathBuf> = fs::read_dir(folder)
            .map_err(unreadable)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()
            .map_err(unreadable)?;
        entries.sort_by_key(|path| in_order(path));
        for path in entries {
            let is_hidden = name_of(&path).starts_with('.');
            if path.is_dir() && !is_hidden && depth > 0 {
                self.folder(&path, depth - 1)?;
            } else if path.is_file() {
                self.file(&path, false)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, is_named: bool) -> Result<(), SetError> {
        let name = name_of(path);
        let wrong = |why: String| SetError::Wrong(path.to_owned(), why);
        if let Some(set) = name.strip_suffix(".docs.jsonl") {
            let questions = path.with_file_name(format!("{set}.queries.jsonl"));
            let set = uniform::pair(set, &text(path)?, &text(&questions)?).map_err(wrong)?;
            self.sets.push(set);
            return Ok(());
        }
        let lower = name.to_lowercase();
        if name == "chat.json" {
            return self.beam_chat(path);
        }
        if lower.contains("longmemeval") && lower.ends_with(".json") {
            return self.histories(path);
        }
        let is_like = lower.ends_with(".json")
            && ["locomo", "chat_"]
                .iter()
                .any(|beginning| lower.starts_with(beginning));
        if !is_named && !is_like {
            return Ok(());
        }
        let json = json(path)?;
        if dialogues::is_locomo(&json) {
            self.sets.extend(dialogues::locomo(&json).map_err(wrong)?);
        } else if dialogues::is_realtalk(&json) {
            self.chats.push((stem_of(path), json));
        } else if longmemeval::is_it(&json) {
            return self.histories(path);
        } else if is_named {
            return Err(SetError::Unknown(path.to_owned()));
        }
        Ok(())
    }

    /// Reads LongMemEval without a tree of JSON in between: its files have hundreds of megabytes.
    fn histories(&mut self, path: &Path) -> Result<(), SetError> {
        let entries = serde_json::from_str(&text(path)?)
            .map_err(|error| SetError::Wrong(path.to_owned(), error.to_string()))?;
        let set = longmemeval::set(&stem_of(path), entries, self.most_groups);
        self.sets.push(set);
        Ok(())
    }

    fn beam_chat(&mut self, path: &Path) -> Result<(), SetError> {
        let folder = path.parent().unwrap_or(path);
        let probing = folder.join("probing_questions/probing_questions.json");
        if !probing.is_file() {
            return Ok(());
        }
        let size = folder.parent().map(name_of).unwrap_or_default();
        let name = format!("beam{}", size.to_lowercase());
        let nth = match self.beam.iter().position(|(known, ..)| *known == name) {
            Some(nth) => nth,
            None => {
                self.beam.push((name, Vec::new(), Vec::new()));
                self.beam.len() - 1
            }
        };
        let (_, docs, questions) = &mut self.beam[nth];
        let group = name_of(folder);
        beam::chat(&group, &json(path)?, &json(&probing)?, docs, questions);
        Ok(())
    }

    /// Returns what was found. Of BEAM what the user said is a set: the assistant's long answers are no
    /// memories.
    fn finish(mut self) -> Vec<Set> {
        if !self.chats.is_empty() {
            self.sets.push(dialogues::realtalk(&self.chats));
        }
        for (name, docs, questions) in self.beam {
            self.sets.push(Set::new(&name, docs, questions));
        }
        let most = self.most_groups;
        let finished = |set: Set| {
            let set = set.first_groups(most);
            if set.name.starts_with("beam") && !set.name.ends_with("-user") {
                set.said_by("user")
            } else {
                set
            }
        };
        self.sets.into_iter().map(finished).collect()
    }
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn stem_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// Numbers in the order of numbers, before names.
fn in_order(path: &Path) -> (u64, String) {
    let name = name_of(path);
    (name.parse().unwrap_or(u64::MAX), name)
}

fn text(path: &Path) -> Result<String, SetError> {
    fs::read_to_string(path).map_err(|error| SetError::Unreadable(path.to_owned(), error))
}

fn json(path: &Path) -> Result<Value, SetError> {
    serde_json::from_str(&text(path)?)
        .map_err(|error| SetError::Wrong(path.to_owned(), error.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn put(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn names(sets: &[Set]) -> Vec<&str> {
        sets.iter().map(|set| set.name.as_str()).collect()
    }

    #[test]
    fn every_layout_is_found_in_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        put(
            folder,
            "a.docs.jsonl",
            r#"{"group":"g","id":"1","text":"t"}"#,
        );
        put(
            folder,
            "a.queries.jsonl",
            r#"{"group":"g","text":"q","gold":["1"]}"#,
        );
        put(
            folder,
            "data/locomo10.json",
            &dialogues::tests::made_up_locomo().to_string(),
        );
        let chat = json!({"session_1": [{"clean_text": "x", "dia_id": "D1:1"}], "qa": []});
        put(folder, "talk/Chat_1_A_B.json", &chat.to_string());
        let [chat, probing] = beam::tests::made_up();
        put(folder, "chats/100K/2/chat.json", &chat.to_string());
        put(
            folder,
            "chats/100K/2/probing_questions/probing_questions.json",
            &probing.to_string(),
        );
        put(folder, "chats/100K/3/chat.json", &chat.to_string());
        put(
            folder,
            "longmemeval_s.json",
            &longmemeval::tests::made_up().to_string(),
        );
        put(folder, "package.json", "not JSON at all");
        put(folder, ".git/locomo.json", "not JSON at all");
        let sets = read(folder, 9).unwrap();
        let expected = [
            "a",
            "locomo",
            "locomo-obs",
            "longmemeval_s",
            "realtalk",
            "beam100k-user",
        ];
        assert_eq!(names(&sets), expected);
        assert_eq!(sets[5].docs.len(), 2);
        assert_eq!(read(folder, 1).unwrap()[3].groups(), ["q1"]);
    }

    #[test]
    fn a_named_file_is_known_by_what_stands_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mine.json");
        fs::write(&file, longmemeval::tests::made_up().to_string()).unwrap();
        assert_eq!(names(&read(&file, 9).unwrap()), ["mine"]);
        fs::write(&file, dialogues::tests::made_up_locomo().to_string()).unwrap();
        assert_eq!(names(&read(&file, 9).unwrap()), ["locomo", "locomo-obs"]);
        fs::write(&file, "{}").unwrap();
        assert!(matches!(read(&file, 9).unwrap_err(), SetError::Unknown(_)));
    }

    #[test]
    fn a_file_that_is_not_what_it_says_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(
            read(folder.path(), 9).unwrap_err(),
            SetError::Unknown(_)
        ));
        put(folder.path(), "locomo.json", "[");
        let told = read(folder.path(), 9).unwrap_err().to_string();
        assert!(told.contains("locomo.json: "), "{told}");
        let told = read(Path::new("no/such"), 9).unwrap_err();
        assert!(matches!(told, SetError::Unreadable(..)), "{told}");
        put(folder.path(), "b.docs.jsonl", "");
        assert!(matches!(
            read(&folder.path().join("b.docs.jsonl"), 9).unwrap_err(),
            SetError::Unreadable(..)
        ));
    }
}
