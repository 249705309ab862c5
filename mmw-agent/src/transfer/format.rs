//! Which program a file comes from, and what it holds then.

use std::path::Path;

use clap::ValueEnum;
use mmw_store::Incoming;
use serde_json::Value;

use super::database::Database;
use super::foreign::{self, As, Statement};
use super::lists::{self, Whose};
use super::{Parcel, Unfit, basic_memory, claude_mem, knowledge_graph, notes, own};

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// An export of ours
    Mmw,
    /// `CLAUDE.md`, `AGENTS.md`, `MEMORY.md` and other Markdown that people write for agents
    Markdown,
    /// The JSONL file of the reference memory server
    McpMemory,
    /// The database of claude-mem
    ClaudeMem,
    /// The database of mcp-memory-service, or its JSON export
    McpMemoryService,
    /// A Markdown note of basic-memory
    BasicMemory,
    /// A JSON list of mem0
    Mem0,
}

impl Format {
    /// Returns the name by which records say where they come from.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Mmw => "mmw",
            Self::Markdown => "markdown",
            Self::McpMemory => "mcp-memory",
            Self::ClaudeMem => "claude-mem",
            Self::McpMemoryService => "mcp-memory-service",
            Self::BasicMemory => "basic-memory",
            Self::Mem0 => "mem0",
        }
    }

    /// Finds out the format of a file. Text that is nothing else is Markdown only if it is called so:
    /// any text is that.
    pub(crate) fn of(path: &Path, bytes: &[u8]) -> Option<Self> {
        if Database::is_one(bytes) {
            let database = Database::open(path).ok()?;
            return if claude_mem::is_one(&database) {
                Some(Self::ClaudeMem)
            } else if database.has("memories", &["content", "content_hash"]) {
                Some(Self::McpMemoryService)
            } else {
                None
            };
        }
        let first = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let first = first.into_iter().find(|line| !line.is_empty())?;
        if first.starts_with(b"{\"mmw_export\"") {
            return Some(Self::Mmw);
        }
        if knowledge_graph::is_line(first) {
            return Some(Self::McpMemory);
        }
        if first.starts_with(b"{") || first.starts_with(b"[") && !is_markdown(path) {
            let root: Value = serde_json::from_slice(bytes).ok()?;
            return lists::whose(&root).map(Self::of_list);
        }
        let text = std::str::from_utf8(bytes).ok()?;
        if basic_memory::is_note(text) {
            Some(Self::BasicMemory)
        } else {
            is_markdown(path).then_some(Self::Markdown)
        }
    }

    const fn of_list(whose: Whose) -> Self {
        match whose {
            Whose::Mem0 => Self::Mem0,
            Whose::MemoryService => Self::McpMemoryService,
        }
    }

    /// Reads a file of this format. `name` is how a file of text is called from the top of the repository.
    ///
    /// # Errors
    /// If it is none.
    pub(crate) fn read(
        self,
        path: &Path,
        bytes: &[u8],
        name: &str,
        workspace: Option<&str>,
        how: As,
    ) -> Result<Parcel, Unfit> {
        let found: Vec<Result<Statement, (u64, String)>> = match self {
            Self::Mmw => return own::parse(bytes),
            Self::Markdown => good(notes::statements(name, text(bytes)?)),
            Self::BasicMemory => good(basic_memory::statements(name, text(bytes)?)),
            Self::McpMemory => of_lines(bytes),
            Self::Mem0 => listed(lists::statements(Whose::Mem0, &json(bytes)?)),
            Self::ClaudeMem => {
                let database = Database::open(path).map_err(|_| Unfit::Database)?;
                listed(claude_mem::statements(&database).map_err(|_| Unfit::Database)?)
            }
            Self::McpMemoryService if Database::is_one(bytes) => {
                let database = Database::open(path).map_err(|_| Unfit::Database)?;
                let rows = database.rows("memories", &lists::COLUMNS);
                let rows = Value::from(rows.map_err(|_| Unfit::Database)?);
                listed(lists::statements(Whose::MemoryService, &rows))
            }
            Self::McpMemoryService => {
                listed(lists::statements(Whose::MemoryService, &json(bytes)?))
            }
        };
        let incoming: Vec<Incoming> = found
            .into_iter()
            .map(|one| match one {
                Ok(statement) => foreign::incoming(statement, self.name(), workspace, how),
                Err((line, why)) => foreign::broken(line, &why),
            })
            .collect();
        let mut notes = Vec::new();
        if Database::is_one(bytes) && has_changes_beside(path) {
            notes.push(
                "the database has changes that are not in its file yet: end the program that it \
                 belongs to, and import again"
                    .to_owned(),
            );
        }
        Ok(Parcel {
            incoming,
            n_decisions: 0,
            notes,
        })
    }
}

fn is_markdown(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("md"))
}

/// A database in use keeps what is newest in a file beside it, which is not read.
fn has_changes_beside(path: &Path) -> bool {
    let mut beside = path.as_os_str().to_owned();
    beside.push("-wal");
    std::fs::metadata(beside).is_ok_and(|about| about.len() > 0)
}

fn text(bytes: &[u8]) -> Result<&str, Unfit> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|_| Unfit::NoText)
}

fn json(bytes: &[u8]) -> Result<Value, Unfit> {
    serde_json::from_slice(bytes).map_err(|_| Unfit::NoJson)
}

fn good(statements: Vec<Statement>) -> Vec<Result<Statement, (u64, String)>> {
    statements.into_iter().map(Ok).collect()
}

fn listed(found: Vec<Result<Statement, u64>>) -> Vec<Result<Statement, (u64, String)>> {
    let why = "has no text, or no id";
    found
        .into_iter()
        .map(|one| one.map_err(|number| (number, why.to_owned())))
        .collect()
}

fn of_lines(bytes: &[u8]) -> Vec<Result<Statement, (u64, String)>> {
    let mut found = Vec::new();
    for (line, number) in bytes.split(|byte| *byte == b'\n').zip(1..) {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        match knowledge_graph::statements(number, line) {
            Ok(statements) => found.extend(statements.into_iter().map(Ok)),
            Err(why) => found.push(Err((number, why))),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::database::testing::made;
    use super::*;
    use proptest::prelude::*;

    fn check(name: &str, text: &str, expected: Option<Format>) {
        assert_eq!(
            Format::of(Path::new(name), text.as_bytes()),
            expected,
            "{name} {text}"
        );
    }

    #[test]
    fn a_format_is_told_by_what_is_in_the_file() {
        check("-", "\n{\"mmw_export\":{\"version\":1}}", Some(Format::Mmw));
        check(
            "memory.json",
            "{\"type\":\"entity\",\"name\":\"a\"}\n",
            Some(Format::McpMemory),
        );
        check(
            "x",
            "{\"results\":[{\"id\":\"1\",\"memory\":\"x\"}]}",
            Some(Format::Mem0),
        );
        check(
            "x",
            "[{\n\"content\":\"x\",\"content_hash\":\"1\"}]",
            Some(Format::McpMemoryService),
        );
        check(
            "a.md",
            "---\npermalink: a\n---\n",
            Some(Format::BasicMemory),
        );
        check("CLAUDE.MD", "- tabs", Some(Format::Markdown));
        for unknown in ["", "- tabs", "{}", "[1", "SQLite format 3\0", "\u{0}"] {
            check("x", unknown, None);
        }
    }

    #[test]
    fn a_format_is_called_the_same_on_the_command_line_and_in_records() {
        for format in Format::value_variants() {
            let value = format.to_possible_value().unwrap();
            assert_eq!(value.get_name(), format.name());
        }
    }

    #[test]
    fn databases_are_told_by_their_tables() {
        let folder = tempfile::tempdir().unwrap();
        let file = made(
            folder.path(),
            "CREATE TABLE metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL);
             CREATE TABLE memories (id INTEGER PRIMARY KEY AUTOINCREMENT, content_hash TEXT UNIQUE NOT NULL,
                 content TEXT NOT NULL, tags TEXT, memory_type TEXT, metadata TEXT, created_at REAL,
                 updated_at REAL, created_at_iso TEXT, updated_at_iso TEXT, deleted_at REAL DEFAULT NULL);
             CREATE TABLE memory_graph (source_hash TEXT, target_hash TEXT, similarity REAL);
             ALTER TABLE memories ADD COLUMN parent_id TEXT;
             ALTER TABLE memories ADD COLUMN version INTEGER DEFAULT 1;
             ALTER TABLE memories ADD COLUMN confidence REAL DEFAULT 1.0;
             ALTER TABLE memories ADD COLUMN superseded_by TEXT;
             INSERT INTO memories (content_hash, content, tags, memory_type, metadata, created_at, deleted_at,
                 superseded_by)
             VALUES ('h1', 'x', 'a,b', 'observation', '{}', 1773480600.5, NULL, NULL),
                 ('h2', 'gone', '', NULL, NULL, 1, 2, NULL),
                 ('h3', 'older', '', NULL, NULL, 1, NULL, 'h1')",
        );
        let bytes = std::fs::read(&file).unwrap();
        let format = Format::of(&file, &bytes).unwrap();
        assert_eq!(format, Format::McpMemoryService);
        let parcel = format.read(&file, &bytes, "x", None, As::Fitting).unwrap();
        assert_eq!(parcel.incoming.len(), 1);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(
            start in prop::sample::select(vec!["", "{", "[", "---\npermalink: x\n---\n", "{\"type\":\"entity\",", "SQLite format 3\0"]),
            bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let mut file = start.as_bytes().to_vec();
            file.extend(bytes);
            let path = Path::new("no-such-file.md");
            let _ = Format::of(path, &file);
            for format in Format::value_variants() {
                let _ = format.read(path, &file, "a.md", None, As::Fitting);
            }
        }
    }
}
