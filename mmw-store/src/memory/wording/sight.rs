//! The words in memory, brought up to what a snapshot holds.
//!
//! What any program adds to a workspace that is here is read by its row; what any program took away or
//! changed is told by the numbers of these changes. A search never sees more, or less, than its snapshot,
//! but for what other searches with a later snapshot have read meanwhile.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use crate::engine::{ChangeNumber, EngineResult, Lexical, Row, Snapshot};
use crate::inverted::{Builder, Inverted};

/// Rows that are read from the store at a time.
const PAGE: usize = 1_000;
/// The most pages of new records, and of changes, that a search reads itself.
const MAX_PAGES: usize = 5;

/// What is in memory.
#[derive(Default)]
pub(super) struct Sight {
    inverted: Inverted,
    /// Of each workspace that is here, by its first row.
    reached: BTreeMap<Row, Reach>,
    /// Up to which row a workspace that is here has no turn of a conversation, by its first row.
    turnless: BTreeMap<Row, AtomicI64>,
}

/// Up to where a workspace has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reach {
    /// The next row to read.
    pub(super) row: Row,
    /// The last change of words that is known.
    pub(super) change: ChangeNumber,
}

/// The words of some workspaces.
pub(in crate::memory) struct HeldWords<'s> {
    sight: RwLockReadGuard<'s, Sight>,
}

impl HeldWords<'_> {
    /// Returns the words.
    pub(in crate::memory) fn inverted(&self) -> &Inverted {
        &self.sight.inverted
    }

    /// Returns the rows of a workspace that may be turns of a conversation.
    pub(in crate::memory) fn may_be_turns(&self, rows: &Range<Row>) -> Range<Row> {
        let turnless = self.sight.turnless.get(&rows.start);
        let start = turnless.map_or(rows.start, |row| row.load(Ordering::Relaxed));
        start.clamp(rows.start, rows.end)..rows.end
    }

    /// Notes that none of a workspace's rows is a turn.
    pub(in crate::memory) fn are_no_turns(&self, rows: &Range<Row>) {
        if let Some(row) = self.sight.turnless.get(&rows.start) {
            row.fetch_max(rows.end, Ordering::Relaxed);
        }
    }
}

impl Sight {
    /// Takes a workspace in, or puts it in place of what is here of it.
    pub(super) fn take_in(&mut self, rows: &Range<Row>, words: Builder, reach: Reach) {
        self.inverted.put(rows.start, words);
        self.reached.insert(rows.start, reach);
        self.turnless.entry(rows.start).or_default();
    }

    fn let_go(&mut self, rows: &Range<Row>) {
        self.inverted.unload(rows.start);
        self.reached.remove(&rows.start);
        self.turnless.remove(&rows.start);
    }

    fn has_all(&self, lexical: &Lexical, last_change: ChangeNumber) -> bool {
        self.reached
            .get(&lexical.rows.start)
            .is_some_and(|reach| reach.row >= lexical.rows.end && reach.change >= last_change)
    }

    /// Reads what came, went and changed in a workspace since the last look. Returns whether it is here with
    /// all of that.
    fn catch_up(
        &mut self,
        snapshot: &dyn Snapshot,
        rows: &Range<Row>,
        last_change: ChangeNumber,
    ) -> EngineResult<bool> {
        Ok(self.read_changes(snapshot, rows, last_change)?
            && self.read_new(snapshot, rows, last_change)?)
    }

    fn read_changes(
        &mut self,
        snapshot: &dyn Snapshot,
        rows: &Range<Row>,
        last_change: ChangeNumber,
    ) -> EngineResult<bool> {
        for _ in 0..MAX_PAGES {
            let Some(reach) = self.reached.get(&rows.start).copied() else {
                return Ok(false);
            };
            if reach.change >= last_change {
                break;
            }
            let page = snapshot.changed_words_after(reach.change, PAGE)?;
            let is_next = |(number, _): &(ChangeNumber, Row)| *number == reach.change + 1;
            let Some((last, _)) = page.last().filter(|_| page.first().is_some_and(is_next)) else {
                // More changed than is told one by one.
                self.let_go(rows);
                return Ok(false);
            };
            let changed = page.iter().map(|(_, row)| *row);
            let changed: Vec<Row> = changed
                .filter(|row| rows.contains(row) && self.inverted.knows(*row))
                .collect();
            if !changed.is_empty() {
                if !snapshot.lexical_docs(&changed)?.is_empty() {
                    // Words were replaced, which is rare: the workspace is loaded anew.
                    self.let_go(rows);
                    return Ok(false);
                }
                self.inverted.remove(&changed);
            }
            self.reached.insert(
                rows.start,
                Reach {
                    change: *last,
                    ..reach
                },
            );
        }
        let reach = self.reached.get(&rows.start);
        Ok(reach.is_some_and(|reach| reach.change >= last_change))
    }

    fn read_new(
        &mut self,
        snapshot: &dyn Snapshot,
        rows: &Range<Row>,
        last_change: ChangeNumber,
    ) -> EngineResult<bool> {
        for _ in 0..MAX_PAGES {
            let Some(reach) = self.reached.get(&rows.start).copied() else {
                return Ok(false);
            };
            if reach.row >= rows.end {
                break;
            }
            if reach.change > last_change {
                // This snapshot has what others know to be forgotten, and would bring it back.
                return Ok(false);
            }
            let page = snapshot.lexical_docs_in(&(reach.row..rows.end), PAGE)?;
            for (row, words) in &page {
                self.inverted.add(*row, words);
            }
            let row = match page.last() {
                Some((last, _)) if page.len() == PAGE => *last + 1,
                _ => rows.end,
            };
            self.reached.insert(rows.start, Reach { row, ..reach });
        }
        let reach = self.reached.get(&rows.start);
        Ok(reach.is_some_and(|reach| reach.row >= rows.end))
    }
}

/// Returns the words of these workspaces, reading what is missing if that is little; nothing if they are
/// not all at hand.
pub(super) fn view<'s>(
    sight: &'s RwLock<Sight>,
    snapshot: &dyn Snapshot,
    lexica: &[Lexical],
) -> EngineResult<Option<HeldWords<'s>>> {
    let last_change = snapshot.last_change_of_words()?;
    let has_all = |sight: &Sight| {
        lexica
            .iter()
            .all(|lexical| sight.has_all(lexical, last_change))
    };
    let held = sight.read().unwrap_or_else(PoisonError::into_inner);
    if has_all(&held) {
        return Ok(Some(HeldWords { sight: held }));
    }
    let is_loaded = |lexical: &Lexical| held.reached.contains_key(&lexical.rows.start);
    if !lexica.iter().all(is_loaded) {
        return Ok(None);
    }
    drop(held);
    {
        let mut held = sight.write().unwrap_or_else(PoisonError::into_inner);
        for lexical in lexica {
            if !held.catch_up(snapshot, &lexical.rows, last_change)? {
                return Ok(None);
            }
        }
    }
    let held = sight.read().unwrap_or_else(PoisonError::into_inner);
    Ok(has_all(&held).then_some(HeldWords { sight: held }))
}

/// Returns those of these workspaces that are not here.
pub(super) fn not_loaded(sight: &RwLock<Sight>, lexica: &[Lexical]) -> Vec<Range<Row>> {
    let held = sight.read().unwrap_or_else(PoisonError::into_inner);
    let rows = lexica.iter().map(|lexical| lexical.rows.clone());
    rows.filter(|rows| !held.reached.contains_key(&rows.start))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mmw_core::place::WorkspaceChoice;

    use super::*;
    use crate::engine::{Engine, read, write};
    use crate::memory::wording::{Shared, loader};
    use crate::sqlite::Sqlite;
    use crate::testing::build::{World, minute, put, record, record_id};

    #[test]
    fn a_search_with_an_older_snapshot_brings_nothing_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("memory.db");
        let engine: Arc<dyn Engine> = Arc::new(Sqlite::open(&file).unwrap());
        let other = Sqlite::open(&file).unwrap();
        let world = World::found(engine.as_ref());
        write(engine.as_ref(), |txn| {
            put(txn, &record(&world.here, 1, "kept"))?;
            put(txn, &record(&world.here, 2, "gone"))
        })
        .unwrap();
        let shared = Shared {
            engine: Arc::clone(&engine),
            sight: RwLock::default(),
        };
        let all =
            |snapshot: &dyn Snapshot| snapshot.lexica(world.here.project, &WorkspaceChoice::All);
        read(engine.as_ref(), |older| {
            let lexica = all(older)?;
            write(&other, |txn| {
                txn.forget(&[record_id(2)], minute(9), world.person, None)
            })?;
            // Loaded after it was forgotten, and not up to its row.
            let first = lexica[0].rows.start;
            loader::load(&shared, &(first..first + 1), || false)?;
            assert!(view(&shared.sight, older, &lexica)?.is_none());
            Ok(())
        })
        .unwrap();
        read(engine.as_ref(), |newer| {
            let lexica = all(newer)?;
            let view = view(&shared.sight, newer, &lexica)?.unwrap();
            let first = lexica[0].rows.start;
            let knows = |row| view.inverted().knows(row);
            assert_eq!((knows(first), knows(first + 1)), (true, false));
            Ok(())
        })
        .unwrap();
    }
}
