//! Random histories against a plain model of "changed in this session after the last save".
//!
//! The model knows what really happened to every file and when. What the hook can't know, a rule of
//! the model says in words: a file that is gone has the time of its folder, and one that was
//! committed and then rewritten by a change of branch has the time of its commit.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::json;

use crate::desk::Desk;

const FILES: [&str; 4] = ["a", "b", "src/c", "src/d"];
const BRANCHES: [&str; 3] = ["main", "left", "right"];

#[derive(Debug, Clone)]
enum Step {
    /// A command writes a file.
    Write(usize, u8),
    /// A tool for editing does, and the transcript tells.
    Edit(usize, u8),
    /// A subagent's tool does.
    EditBySubagent(usize, u8),
    Remove(usize),
    /// Written with the content that it has.
    Touch(usize),
    /// Written again as it is in the last commit.
    Restore(usize),
    Commit,
    Switch(usize),
    Save,
    SaveBySubagent,
    FailToSave,
    Prompt,
    Stop,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let file = 0..FILES.len();
    let content = 0_u8..3;
    let step = prop_oneof![
        4 => (file.clone(), content.clone()).prop_map(|(file, n)| Step::Write(file, n)),
        3 => (file.clone(), content.clone()).prop_map(|(file, n)| Step::Edit(file, n)),
        1 => (file.clone(), content).prop_map(|(file, n)| Step::EditBySubagent(file, n)),
        1 => file.clone().prop_map(Step::Remove),
        1 => file.clone().prop_map(Step::Touch),
        1 => file.prop_map(Step::Restore),
        3 => Just(Step::Commit),
        2 => (0..BRANCHES.len()).prop_map(Step::Switch),
        2 => Just(Step::Save),
        1 => Just(Step::SaveBySubagent),
        1 => Just(Step::FailToSave),
        2 => Just(Step::Prompt),
        4 => Just(Step::Stop),
    ];
    prop::collection::vec(step, 1..25)
}

type Tree = BTreeMap<&'static str, u8>;

/// A file in a commit that was made in the session.
#[derive(Debug, Clone)]
struct Committed {
    file: &'static str,
    second: i64,
}

/// What really happened.
#[derive(Debug)]
struct Model {
    /// The last commit of each branch.
    branches: BTreeMap<&'static str, Tree>,
    branch: &'static str,
    /// What lies in the working tree, and when it was written; `None` if a change of branch did.
    tree: BTreeMap<&'static str, (u8, Option<i64>)>,
    /// When something was last made or removed in a folder; `None` as above.
    folders: BTreeMap<&'static str, Option<i64>>,
    edits: BTreeMap<&'static str, i64>,
    commits: Vec<Committed>,
    /// The last moment after which changes count.
    since: i64,
    /// Whether a person spoke since the agent was asked.
    may_ask: bool,
}

fn folder(file: &str) -> &'static str {
    if file.starts_with("src/") { "src" } else { "" }
}

impl Model {
    fn write(&mut self, file: &'static str, content: u8, second: i64) {
        if self.tree.insert(file, (content, Some(second))).is_none() {
            self.folders.insert(folder(file), Some(second));
        }
    }

    fn dirty(&self) -> BTreeSet<&'static str> {
        let committed = &self.branches[self.branch];
        FILES
            .into_iter()
            .filter(|file| committed.get(file) != self.tree.get(file).map(|(content, _)| content))
            .collect()
    }

    /// When the file was written, or its folder if it is gone.
    fn written(&self, file: &str) -> Option<i64> {
        match self.tree.get(file) {
            Some((_, written)) => *written,
            None => self.folders[folder(file)],
        }
    }

    fn changed(&self) -> BTreeSet<&'static str> {
        let dirty = self.dirty().into_iter().filter(|file| {
            // What a change of branch left differs from no commit, so this is known.
            let written = self.written(file).unwrap_or(i64::MAX);
            written.max(self.edits.get(file).copied().unwrap_or(0)) > self.since
        });
        let committed = self.commits.iter().filter(|commit| {
            let before = |second: &i64| *second <= commit.second;
            let written = self.written(commit.file).filter(before);
            let edited = self.edits.get(commit.file).copied().filter(before);
            written.or(edited).unwrap_or(commit.second) > self.since
        });
        dirty.chain(committed.map(|commit| commit.file)).collect()
    }

    fn commit(&mut self, second: i64) {
        for file in self.dirty() {
            self.commits.push(Committed { file, second });
        }
        let tree = self
            .tree
            .iter()
            .map(|(file, (content, _))| (*file, *content));
        self.branches.insert(self.branch, tree.collect());
    }

    /// Moves to another branch, whose tree is that of its last commit.
    fn switch(&mut self, branch: &'static str) {
        let from = self.branches[self.branch].clone();
        let to = self.branches.entry(branch).or_insert_with(|| from.clone());
        for file in FILES {
            let (old, new) = (from.get(file), to.get(file));
            match (old, new) {
                (old, new) if old == new => {}
                (_, None) => {
                    self.tree.remove(file);
                    self.folders.insert(folder(file), None);
                }
                (_, Some(content)) => {
                    self.tree.insert(file, (*content, None));
                    self.folders.insert(folder(file), None);
                }
            }
        }
        self.branch = branch;
    }
}

/// Plays a history, comparing at every stop; what can't be done in a place is left out.
fn play(steps: &[Step]) {
    let mut desk = Desk::without_tools();
    desk.home_file(".claude.json", r#"{"mcpServers":{"mmw":{}}}"#);
    // Folders stay although they are empty, as they would with other files in them.
    for file in ["src/keep", "keep"] {
        desk.write(file, "");
    }
    desk.write(".gitignore", "keep\n");
    desk.write("a", "0");
    desk.write("src/c", "0");
    desk.commit_all("before");
    // Of before the session, not of it.
    desk.write("b", "1");
    desk.git(&["config", "core.trustctime", "true"]);
    let old = desk.second;
    let mut model = Model {
        branches: BTreeMap::from([("main", BTreeMap::from([("a", 0), ("src/c", 0)]))]),
        branch: "main",
        tree: BTreeMap::from([
            ("a", (0, Some(old))),
            ("src/c", (0, Some(old))),
            ("b", (1, Some(old))),
        ]),
        folders: BTreeMap::from([("", Some(old)), ("src", Some(old))]),
        edits: BTreeMap::new(),
        commits: Vec::new(),
        since: 0,
        may_ask: true,
    };
    desk.prompt();
    model.since = desk.second;
    for (n, step) in steps.iter().enumerate() {
        desk.tick();
        take(&mut desk, &mut model, step, n);
    }
    // Every history ends with a stop that may ask.
    desk.prompt();
    model.may_ask = true;
    desk.tick();
    take(&mut desk, &mut model, &Step::Stop, steps.len());
}

fn take(desk: &mut Desk, model: &mut Model, step: &Step, n: usize) {
    match *step {
        Step::Write(file, content) => write(desk, model, FILES[file], content),
        Step::Edit(file, content) => {
            write(desk, model, FILES[file], content);
            let path = desk.top().join(FILES[file]);
            desk.call("Edit", &json!({ "file_path": path }), false);
            model.edits.insert(FILES[file], desk.second);
        }
        Step::EditBySubagent(file, content) => {
            write(desk, model, FILES[file], content);
            let path = desk.top().join(FILES[file]);
            desk.subagent_calls("Write", &json!({ "file_path": path }));
            model.edits.insert(FILES[file], desk.second);
        }
        Step::Touch(file) => {
            if let Some((content, _)) = model.tree.get(FILES[file]).copied() {
                write(desk, model, FILES[file], content);
            }
        }
        Step::Restore(file) => {
            if let Some(content) = model.branches[model.branch].get(FILES[file]).copied() {
                write(desk, model, FILES[file], content);
            }
        }
        Step::Remove(file) => {
            if model.tree.remove(FILES[file]).is_some() {
                desk.remove(FILES[file]);
                model.folders.insert(folder(FILES[file]), Some(desk.second));
            }
        }
        Step::Commit => {
            if !model.dirty().is_empty() {
                desk.commit_all("more");
                model.commit(desk.second);
            }
        }
        Step::Switch(branch) => {
            // Git refuses where it would overwrite something.
            let branch = BRANCHES[branch];
            if branch != model.branch && model.dirty().is_empty() {
                let create = !model.branches.contains_key(branch);
                let how: &[&str] = if create { &["--create"] } else { &[] };
                desk.git(&[&["switch", "--quiet"], how, &[branch]].concat());
                model.switch(branch);
            }
        }
        Step::Save => {
            desk.call("mcp__mmw__remember", &json!({}), false);
            model.since = desk.second;
        }
        Step::SaveBySubagent => {
            desk.subagent_calls("mcp__mmw__remember", &json!({}));
            model.since = desk.second;
        }
        Step::FailToSave => desk.call("mcp__mmw__remember", &json!({}), true),
        Step::Prompt => {
            desk.prompt();
            model.may_ask = true;
        }
        Step::Stop => {
            let wanted: Vec<&str> = match model.may_ask {
                true => model.changed().into_iter().collect(),
                false => Vec::new(),
            };
            let asked = desk.stop();
            assert_eq!(asked, wanted, "at step {n}: {model:?}");
            if !asked.is_empty() {
                model.may_ask = false;
                model.since = desk.second;
            }
        }
    }
}

fn write(desk: &Desk, model: &mut Model, file: &'static str, content: u8) {
    desk.write(file, &content.to_string());
    model.write(file, content, desk.second);
}

proptest! {
    // Each step starts git: few cases, long histories.
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 200, ..ProptestConfig::default() })]
    #[test]
    fn an_agent_is_asked_about_what_changed_in_the_session_after_the_last_save(steps in steps()) {
        play(&steps);
    }
}

#[test]
fn a_history_with_everything_in_it() {
    play(&[
        Step::Stop,
        Step::Write(0, 1),
        Step::Save,
        Step::Commit,
        Step::Stop,
        Step::Edit(2, 2),
        Step::EditBySubagent(3, 1),
        Step::Stop,
        Step::Commit,
        Step::Switch(1),
        Step::Remove(0),
        Step::Prompt,
        Step::Stop,
        Step::Commit,
        Step::SaveBySubagent,
        Step::Switch(0),
        Step::Write(1, 2),
        Step::FailToSave,
        Step::Prompt,
        Step::Stop,
        Step::Touch(1),
        Step::Restore(0),
        Step::Prompt,
        Step::Stop,
    ]);
}
