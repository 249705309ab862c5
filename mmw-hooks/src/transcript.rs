//! What a session's transcript says: when it began, what was saved, which files tools edited, when
//! a person last spoke.
//!
//! Transcripts are internal to their clients and change without notice, and they can be large. So
//! only lines that hold one of a few words are parsed at all, what is not understood is passed
//! over, and a line that is cut off is no mistake.
//!
//! | room | what it reads |
//! |---|---|
//! | [`claude`] | Claude Code: a message a line |
//! | [`codex`] | Codex: an item or event a line |
//! | [`gemini`] | Gemini CLI: a message a line, or one document |
//! | [`events`] | Copilot CLI and VS Code: an event a line |
//! | [`cursor`] | Cursor: a message a line, without times |
//! | [`calls`] | calls of tools whose results have not come yet |
//! | [`late`] | whether the end of the turn is there yet |
//! | [`others`] | where the transcripts of a session's subagents lie |
//! | [`lines`] | a file by lines, within bounds |
//! | [`tool`] | what the name of a tool says |
//! | [`words`] | which of a few words a line holds |

pub mod calls;
pub mod claude;
pub mod codex;
pub mod cursor;
pub mod events;
pub mod gemini;
pub mod late;
pub mod lines;
pub mod others;
pub mod tool;
pub mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use mmw_core::time::Timestamp;
use serde_json::Value;

use crate::deadline::Deadline;
use crate::transcript::tool::Tool;

/// The words that mark a request of this hook wherever a client writes it down.
pub const MARKER: &str = "[mmw-hook-stop]";

/// How long a person may stay away before what happens meanwhile is not the session's. A session
/// that is resumed the next day did not make yesterday's changes.
pub const AWAY_MS: i64 = 30 * 60 * 1000;

/// The most subagents' transcripts that are read.
pub const MAX_OTHERS: usize = 256;

/// When something happened: at a moment if the transcript knows it, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct When {
    /// The moment.
    pub at: Option<Timestamp>,
    /// Counts what the transcript told before.
    pub order: usize,
}

/// What a session's transcripts told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Session {
    /// The first moment that was written down.
    pub began: Option<Timestamp>,
    /// The folder that the session was started in.
    pub folder: Option<PathBuf>,
    /// By tool, the last time that one called `remember` succeeded.
    pub saved: BTreeMap<Tool, When>,
    /// The tools called `remember` that the agent was told of.
    pub offered: BTreeSet<Tool>,
    /// By path, the last time that a tool for editing files changed it.
    pub edited: BTreeMap<PathBuf, When>,
    /// From when to when a person was away.
    pub away: Vec<(Timestamp, Timestamp)>,
    /// How often a person spoke.
    pub n_prompts: usize,
    /// Whether this hook asked after a person last spoke.
    pub asked: bool,
    /// When this hook last asked.
    pub asked_at: Option<Timestamp>,
    /// How much was told so far; orders what has no time.
    pub n_told: usize,
}

impl Session {
    /// Reads a session's transcript and those of its subagents. `None` if there is nothing to read.
    #[must_use]
    pub fn read(path: &Path, deadline: Deadline) -> Option<Self> {
        let mut session = Self::default();
        let kind = lines::first_line(path).map(|line| Kind::of(&line))?;
        session.read_one(path, kind, deadline)?;
        for other in others::of(path, kind, MAX_OTHERS) {
            if deadline.is_over() {
                return None;
            }
            let mut theirs = Self::default();
            // A subagent's transcript may not be there yet.
            if theirs.read_one(&other, kind, deadline).is_some() {
                session.join(theirs);
            }
        }
        // Only where there are no times by design: what is not understood tells nothing of saves.
        if kind == Kind::Cursor && session.n_prompts > 0 {
            session.began = created(path);
        }
        Some(session)
    }

    fn read_one(&mut self, path: &Path, kind: Kind, deadline: Deadline) -> Option<()> {
        match kind {
            Kind::Claude => claude::read(path, deadline, self),
            Kind::Codex => codex::read(path, deadline, self),
            Kind::Gemini => gemini::read(path, deadline, self),
            Kind::Events => events::read(path, deadline, self),
            Kind::Cursor => cursor::read(path, deadline, self),
        }
    }

    /// Adds what a subagent did. When a person spoke is the session's own business.
    fn join(&mut self, theirs: Self) {
        for (tool, when) in theirs.saved {
            later(&mut self.saved, tool, when);
        }
        for (path, when) in theirs.edited {
            later(&mut self.edited, path, when);
        }
        self.offered.extend(theirs.offered);
    }

    /// Notes that something happened; the first moment is the session's begin.
    pub fn happened(&mut self, at: Timestamp) {
        if self.began.is_none() {
            self.began = Some(at);
        }
    }

    /// Notes that a person spoke, and when something had happened last before.
    pub fn prompted(&mut self, before: Option<Timestamp>, at: Option<Timestamp>) {
        self.n_prompts += 1;
        self.asked = false;
        if let (Some(before), Some(at)) = (before, at)
            && at.as_ms().saturating_sub(before.as_ms()) > AWAY_MS
        {
            self.away.push((before, at));
        }
    }

    /// Notes a row that may hold a request of this hook.
    pub fn may_be_asked(&mut self, said: &str, at: Option<Timestamp>) {
        if said.contains(MARKER) {
            self.asked = true;
            self.asked_at = at.max(self.asked_at);
        }
    }

    /// Notes that something was saved.
    pub fn saved(&mut self, tool: Tool, at: Option<Timestamp>) {
        let when = self.told(at);
        later(&mut self.saved, tool, when);
    }

    /// Notes that a tool changed a file; a relative path is one of the session's folder.
    pub fn edited(&mut self, path: &str, at: Option<Timestamp>) {
        let path = match &self.folder {
            Some(folder) => folder.join(path),
            None => PathBuf::from(path),
        };
        let when = self.told(at);
        later(&mut self.edited, path, when);
    }

    /// Notes the folder of a row; the first one is the session's.
    pub fn in_folder(&mut self, folder: Option<&Value>) {
        if self.folder.is_none() {
            self.folder = folder.and_then(Value::as_str).map(PathBuf::from);
        }
    }

    fn told(&mut self, at: Option<Timestamp>) -> When {
        self.n_told += 1;
        When {
            at,
            order: self.n_told,
        }
    }
}

fn later<K: Ord>(known: &mut BTreeMap<K, When>, key: K, when: When) {
    let last = known.entry(key).or_insert(when);
    *last = when.max(*last);
}

/// Returns when a file was made, where the file system keeps that.
fn created(path: &Path) -> Option<Timestamp> {
    crate::stop::files::moment(path.metadata().ok()?.created().ok()?)
}

/// How a transcript is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// As Claude Code does.
    Claude,
    /// As Codex does.
    Codex,
    /// As Gemini CLI does.
    Gemini,
    /// As Copilot CLI and VS Code do.
    Events,
    /// As Cursor does.
    Cursor,
}

impl Kind {
    /// Tells by the first line. The client that sent the event may have written in another one's
    /// way: VS Code can run the agents of others.
    #[must_use]
    pub fn of(first_line: &[u8]) -> Self {
        let Ok(row) = serde_json::from_slice::<Value>(first_line) else {
            // One document over many lines, or a line that is longer than is looked at.
            return if first_line.trim_ascii() == b"{" {
                Self::Gemini
            } else {
                Self::Claude
            };
        };
        let has = |name: &str| row.get(name).is_some();
        if has("payload") {
            Self::Codex
        } else if has("data") && has("type") {
            Self::Events
        } else if has("projectHash") || has("startTime") {
            Self::Gemini
        } else if has("role") && has("message") && !has("type") {
            Self::Cursor
        } else {
            Self::Claude
        }
    }
}

/// Returns the moment of a row.
#[must_use]
pub fn row_moment(row: &Value) -> Option<Timestamp> {
    crate::wire::moment(row.get("timestamp")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_ms(minutes * 60_000)
    }

    #[test]
    fn a_kind_is_known_by_the_first_line() {
        for (line, kind) in [
            (r#"{"type":"session_meta","payload":{}}"#, Kind::Codex),
            (r#"{"type":"session.start","data":{}}"#, Kind::Events),
            (r#"{"sessionId":"s","projectHash":"h"}"#, Kind::Gemini),
            ("{", Kind::Gemini),
            (r#"{"role":"user","message":{}}"#, Kind::Cursor),
            (r#"{"type":"user","message":{"role":"user"}}"#, Kind::Claude),
            (r#"{"type":"mode","mode":"normal"}"#, Kind::Claude),
            ("no JSON", Kind::Claude),
        ] {
            assert_eq!(Kind::of(line.as_bytes()), kind, "{line}");
        }
    }

    #[test]
    fn a_person_is_away_after_half_an_hour() {
        let mut session = Session::default();
        session.prompted(None, Some(at(0)));
        session.prompted(Some(at(10)), Some(at(40)));
        assert_eq!(session.away, []);
        session.prompted(Some(at(50)), Some(at(81)));
        assert_eq!(session.away, [(at(50), at(81))]);
        assert_eq!(session.n_prompts, 3);
    }

    #[test]
    fn what_a_subagent_did_counts_and_what_it_was_told_does_not() {
        let mut session = Session::default();
        let tool = Tool::parse("mcp__mmw__remember").unwrap();
        session.saved(tool.clone(), Some(at(5)));
        session.prompted(None, Some(at(1)));
        let mut theirs = Session::default();
        theirs.saved(tool.clone(), Some(at(7)));
        theirs.edited("/w/a", Some(at(6)));
        theirs.prompted(None, Some(at(2)));
        session.join(theirs);
        assert_eq!(session.saved[&tool].at, Some(at(7)));
        assert_eq!(session.edited[Path::new("/w/a")].at, Some(at(6)));
        assert_eq!(session.n_prompts, 1);
    }
}
