//! Which files an agent is asked about.
//!
//! A file counts if it changed in the session, after the last time that something was saved, and
//! after the last time that the agent was asked. When it changed is not always known; where it is
//! not, the file counts only for what is known to have happened:
//!
//! - A file that differs from the last commit changed when it was written, or when a tool of the
//!   session edited it, whichever is later. What was written while the person was away is somebody
//!   else's work.
//! - A file in a commit of the session changed when it was written, if that was before the commit:
//!   whoever saves first and commits then is not asked. If it was written again since, by a change
//!   of branch for example, the last edit by a tool counts, and if there was none, the commit.
//! - A file that is gone changed when its folder did.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mmw_core::time::Timestamp;

use super::files::Seen;
use crate::mark::Mark;
use crate::transcript::{Session, When};

/// What is known besides the files.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// What the transcripts told.
    pub session: &'a Session,
    /// When something was last saved.
    pub saved: Option<When>,
    /// When the session was last asked.
    pub asked: Option<Mark>,
}

/// Returns the moment after which a change counts: the latest of the session's begin, the last
/// save and the last question. `None` if not even the begin is known.
#[must_use]
pub fn since(session: &Session, saved: Option<When>, asked: Option<Mark>) -> Option<Timestamp> {
    let begin = session.began?;
    let saved = saved.and_then(|when| when.at);
    let asked = asked.map(|mark| mark.at);
    // A copy of a session has no mark of its own, but its transcript tells.
    let told = session.asked_at;
    [Some(begin), saved, asked, told]
        .into_iter()
        .flatten()
        .max()
}

/// Returns the files that the agent is asked about, those that changed last first.
#[must_use]
pub fn changed(evidence: &Evidence<'_>, seen: &[Seen]) -> Vec<PathBuf> {
    let mut changed: BTreeMap<&PathBuf, Option<Timestamp>> = BTreeMap::new();
    for file in seen {
        if let Some(at) = change(evidence, file) {
            let last = changed.entry(&file.path).or_insert(at);
            *last = at.max(*last);
        }
    }
    let mut files: Vec<_> = changed.into_iter().collect();
    files.sort_by(|(path, at), (other_path, other_at)| {
        other_at.cmp(at).then_with(|| path.cmp(other_path))
    });
    files.into_iter().map(|(path, _)| path.clone()).collect()
}

/// Returns when a file changed, if that counts; `Some(None)` if only the order is known.
fn change(evidence: &Evidence<'_>, file: &Seen) -> Option<Option<Timestamp>> {
    if edited_after_the_save(evidence, file) {
        return Some(None);
    }
    let since = since(evidence.session, evidence.saved, evidence.asked)?;
    // Without a time nothing of what came after a save is known.
    if evidence.saved.is_some_and(|when| when.at.is_none()) {
        return None;
    }
    let edited = file.edited.and_then(|when| when.at);
    let at = match file.committed {
        None => {
            let written = file.written.filter(|at| !is_away(evidence.session, *at));
            written.max(edited)?
        }
        Some(committed) => {
            if is_away(evidence.session, committed) {
                return None;
            }
            // Commits are known by the second.
            let end = committed.plus_ms(999);
            let before_it = |at: &Timestamp| *at <= end;
            file.written
                .filter(before_it)
                .or(edited.filter(before_it))
                .unwrap_or(committed)
        }
    };
    (at > since).then_some(Some(at))
}

/// Tells whether a tool edited the file after something was saved, where only the order is known.
fn edited_after_the_save(evidence: &Evidence<'_>, file: &Seen) -> bool {
    let Some(edited) = file.edited.filter(|when| when.at.is_none()) else {
        return false;
    };
    // What was asked before can't be told from what came after.
    evidence.asked.is_none()
        && evidence
            .saved
            .is_none_or(|saved| saved.at.is_none() && edited.order > saved.order)
}

fn is_away(session: &Session, at: Timestamp) -> bool {
    session.away.iter().any(|(from, to)| *from < at && at < *to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_ms(second * 1000)
    }

    fn when(second: i64) -> Option<When> {
        Some(When {
            at: Some(at(second)),
            order: 1,
        })
    }

    fn dirty(written: i64) -> Seen {
        Seen {
            path: PathBuf::from("a"),
            written: Some(at(written)),
            edited: None,
            committed: None,
        }
    }

    fn committed(written: i64, commit: i64) -> Seen {
        Seen {
            committed: Some(at(commit)),
            ..dirty(written)
        }
    }

    /// A session that began at 100, saved at 200 if it did.
    fn check(saved: bool, file: &Seen, counts: bool) {
        let session = Session {
            began: Some(at(100)),
            ..Session::default()
        };
        let evidence = Evidence {
            session: &session,
            saved: when(200).filter(|_| saved),
            asked: None,
        };
        let files = changed(&evidence, std::slice::from_ref(file));
        assert_eq!(!files.is_empty(), counts, "saved: {saved}, {file:?}");
    }

    #[test]
    fn a_file_counts_if_it_changed_in_the_session_after_the_save() {
        check(false, &dirty(99), false);
        check(false, &dirty(101), true);
        check(true, &dirty(150), false);
        check(true, &dirty(201), true);
    }

    #[test]
    fn an_edit_by_a_tool_counts_whatever_the_files_time() {
        let edited = |second| Seen {
            edited: when(second),
            ..dirty(1)
        };
        check(true, &edited(150), false);
        check(true, &edited(201), true);
    }

    #[test]
    fn who_saves_first_and_commits_then_is_not_asked() {
        check(true, &committed(150, 300), false);
        check(false, &committed(150, 300), true);
        check(true, &committed(250, 300), true);
        // Changed before the session, committed in it.
        check(false, &committed(50, 300), false);
    }

    #[test]
    fn a_change_of_branch_does_not_make_a_commit_newer() {
        check(true, &committed(900, 150), false);
        check(true, &committed(900, 300), true);
        let edited = Seen {
            edited: when(150),
            ..committed(900, 300)
        };
        check(true, &edited, false);
    }

    #[test]
    fn a_commit_is_known_by_the_second() {
        let file = Seen {
            written: Some(Timestamp::from_ms(200_600)),
            ..committed(0, 200)
        };
        check(true, &file, true);
    }

    #[test]
    fn what_happened_while_the_person_was_away_is_not_the_sessions() {
        let session = Session {
            began: Some(at(100)),
            away: vec![(at(200), at(5000))],
            ..Session::default()
        };
        let evidence = Evidence {
            session: &session,
            saved: None,
            asked: None,
        };
        let counts = |file: Seen| !changed(&evidence, &[file]).is_empty();
        assert!(counts(dirty(150)));
        assert!(!counts(dirty(300)));
        assert!(counts(dirty(5001)));
        assert!(!counts(committed(250, 300)));
        // A subagent went on meanwhile.
        assert!(counts(Seen {
            edited: when(300),
            ..dirty(300)
        }));
    }

    #[test]
    fn a_file_is_not_asked_for_twice_unless_it_changed_again() {
        let session = Session {
            began: Some(at(100)),
            ..Session::default()
        };
        let evidence = Evidence {
            session: &session,
            saved: None,
            asked: Some(Mark {
                at: at(300),
                n_prompts: 1,
            }),
        };
        assert!(changed(&evidence, &[dirty(250)]).is_empty());
        assert!(changed(&evidence, &[committed(250, 350)]).is_empty());
        assert_eq!(changed(&evidence, &[dirty(350)]).len(), 1);
    }

    #[test]
    fn where_no_times_are_known_the_order_decides() {
        let edited = |order| Seen {
            edited: Some(When { at: None, order }),
            ..dirty(150)
        };
        let session = Session {
            began: Some(at(100)),
            ..Session::default()
        };
        let counts = |saved: Option<usize>, asked: Option<Mark>, file: Seen| {
            let evidence = Evidence {
                session: &session,
                saved: saved.map(|order| When { at: None, order }),
                asked,
            };
            !changed(&evidence, &[file]).is_empty()
        };
        assert!(counts(None, None, edited(3)));
        assert!(counts(Some(2), None, edited(3)));
        assert!(!counts(Some(4), None, edited(3)));
        // Written by a command: known only as long as nothing was saved.
        assert!(counts(None, None, dirty(150)));
        assert!(!counts(Some(4), None, dirty(150)));
        let asked = Some(Mark {
            at: at(300),
            n_prompts: 1,
        });
        assert!(!counts(None, asked, edited(3)));
    }

    #[test]
    fn the_last_change_comes_first() {
        let session = Session {
            began: Some(at(100)),
            ..Session::default()
        };
        let evidence = Evidence {
            session: &session,
            saved: None,
            asked: None,
        };
        let named = |name: &str, seen: Seen| Seen {
            path: PathBuf::from(name),
            ..seen
        };
        let files = [
            named("c", dirty(150)),
            named("b", dirty(150)),
            named("d", committed(170, 180)),
            named("d", dirty(200)),
        ];
        let order = changed(&evidence, &files);
        assert_eq!(order, ["d", "b", "c"].map(PathBuf::from));
        let unknown = Session::default();
        let evidence = Evidence {
            session: &unknown,
            ..evidence
        };
        assert!(changed(&evidence, &files).is_empty());
    }
}
