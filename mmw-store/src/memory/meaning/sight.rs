//! The vectors in memory, brought up to what a snapshot holds.
//!
//! Vectors are read by workspace when a search first needs them; what any program adds afterwards is
//! read by its number. A vector that is gone from the store is found out by the search that meets it.

use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use crate::embed::{ModelId, unpack};
use crate::engine::{
    Engine, EngineResult, KeptVector, Lexical, ModelNumber, Row, SEQUENCE_BITS, Snapshot,
    VectorNumber, read,
};
use crate::index::Index;

/// The most records of a workspace that a search loads itself; of a larger one words answer first.
const LOADED_AT_ONCE: u64 = 10_000;

/// Vectors that are read from the store at a time.
const PAGE: usize = 1_000;

/// The most pages of new vectors that a search reads itself.
const MAX_NEW_PAGES: usize = 5;

/// What is in memory.
#[derive(Default)]
pub(super) struct Sight {
    /// The number of the model in the store, once it is known there.
    model: Option<ModelNumber>,
    index: Option<Index>,
    /// Vectors up to this number have been seen, since the first workspace came in.
    seen: Option<VectorNumber>,
    /// Workspaces that are being loaded: what is added to them meanwhile belongs to them, too.
    loading: Vec<Range<Row>>,
}

/// The vectors of some workspaces.
pub(in crate::memory) struct View<'s> {
    sight: RwLockReadGuard<'s, Sight>,
    /// The workspaces that are in memory.
    pub(in crate::memory) within: Vec<Range<Row>>,
    /// Those that are not, and too large to load in passing.
    pub(in crate::memory) to_load: Vec<Range<Row>>,
    /// Every record of the workspaces has its vector in memory.
    pub(in crate::memory) is_complete: bool,
    /// The newest vector of the snapshot.
    pub(in crate::memory) newest: VectorNumber,
}

impl View<'_> {
    /// Returns the index; none if there is no vector at all.
    pub(in crate::memory) fn index(&self) -> Option<&Index> {
        self.sight.index.as_ref()
    }
}

impl Sight {
    fn index(&mut self, model: &ModelId) -> &mut Index {
        self.index
            .get_or_insert_with(|| Index::new(model.dimensions))
    }

    pub(super) fn drop_rows(&mut self, rows: &[Row], newest: VectorNumber) {
        let Some(index) = &mut self.index else {
            return;
        };
        for row in rows {
            // One that a later snapshot has may have come since.
            if index.number_of(*row).is_some_and(|number| number <= newest) {
                index.remove(*row);
            }
        }
    }

    fn put_all(&mut self, model: &ModelId, vectors: &[KeptVector]) {
        let index = self.index(model);
        for kept in vectors {
            // Bytes that are no vector of this model can't be searched; words still find the record.
            let pieces = unpack(&kept.data, model.dimensions).unwrap_or_default();
            let _ = index.put(kept.row, kept.number, &pieces);
        }
    }

    /// Reads what came since the last look. Returns whether that was all.
    fn catch_up(
        &mut self,
        snapshot: &dyn Snapshot,
        model: &ModelId,
        number: ModelNumber,
        newest: VectorNumber,
    ) -> EngineResult<bool> {
        // If nothing is in memory, nothing can be out of date.
        let mut seen = *self.seen.get_or_insert(newest);
        for _ in 0..MAX_NEW_PAGES {
            if seen >= newest {
                break;
            }
            let mut page = snapshot.vectors_after(number, seen, PAGE)?;
            seen = match page.last() {
                Some(last) if page.len() == PAGE => last.number,
                _ => newest,
            };
            page.retain(|kept| kept.is_of_model && self.takes(kept.row));
            self.put_all(model, &page);
            self.seen = Some(seen);
        }
        Ok(seen >= newest)
    }

    /// Tells whether a row belongs to a workspace that is in memory or on the way there.
    fn takes(&self, row: Row) -> bool {
        let is_loaded = |index: &Index| index.is_loaded(&(row..row + 1));
        self.index.as_ref().is_some_and(is_loaded)
            || self.loading.iter().any(|rows| rows.contains(&row))
    }

    fn load_here(
        &mut self,
        snapshot: &dyn Snapshot,
        model: &ModelId,
        number: ModelNumber,
        rows: &Range<Row>,
    ) -> EngineResult<()> {
        let mut from = rows.start;
        loop {
            let page = snapshot.vectors_in(number, &(from..rows.end), PAGE)?;
            self.put_all(model, &page);
            match page.last() {
                Some(last) if page.len() == PAGE => from = last.row + 1,
                _ => break,
            }
        }
        self.index(model).set_loaded(rows);
        Ok(())
    }

    /// Tells whether these workspaces are in memory with all that the snapshot has.
    fn has_all(&self, lexica: &[Lexical], newest: VectorNumber) -> bool {
        self.seen >= Some(newest)
            && self
                .index
                .as_ref()
                .is_some_and(|index| lexica.iter().all(|lexical| index.is_loaded(&lexical.rows)))
    }
}

/// Returns the vectors of these workspaces, reading what is missing if that is little.
pub(super) fn view<'s>(
    sight: &'s RwLock<Sight>,
    snapshot: &dyn Snapshot,
    model: &ModelId,
    lexica: &[Lexical],
) -> EngineResult<View<'s>> {
    let newest = snapshot.newest_vector()?;
    let held = sight.read().unwrap_or_else(PoisonError::into_inner);
    let (held, is_caught_up) = if held.has_all(lexica, newest) {
        (held, true)
    } else {
        drop(held);
        let mut held = sight.write().unwrap_or_else(PoisonError::into_inner);
        let is_caught_up = bring_up(&mut held, snapshot, model, lexica, newest)?;
        drop(held);
        (
            sight.read().unwrap_or_else(PoisonError::into_inner),
            is_caught_up,
        )
    };
    let (mut within, mut to_load) = (Vec::new(), Vec::new());
    let mut is_complete = is_caught_up;
    for lexical in lexica {
        let index = held.index.as_ref();
        match index.filter(|index| index.is_loaded(&lexical.rows)) {
            Some(index) => {
                is_complete &= index.n_records(&lexical.rows) as u64 >= lexical.n_records;
                within.push(lexical.rows.clone());
            }
            None => {
                is_complete = false;
                to_load.push(lexical.rows.clone());
            }
        }
    }
    Ok(View {
        sight: held,
        within,
        to_load,
        is_complete,
        newest,
    })
}

fn bring_up(
    sight: &mut Sight,
    snapshot: &dyn Snapshot,
    model: &ModelId,
    lexica: &[Lexical],
    newest: VectorNumber,
) -> EngineResult<bool> {
    if sight.model.is_none() {
        sight.model = snapshot.embedding_model(&model.to_string())?;
    }
    let Some(number) = sight.model else {
        return Ok(false);
    };
    let is_caught_up = sight.catch_up(snapshot, model, number, newest)?;
    for lexical in lexica {
        let is_loaded = sight.index(model).is_loaded(&lexical.rows);
        if !is_loaded && lexical.n_records <= LOADED_AT_ONCE {
            sight.load_here(snapshot, model, number, &lexical.rows)?;
        }
    }
    Ok(is_caught_up)
}

/// Loads a workspace page by page, letting searches through in between, until `stop` says so.
///
/// The store is never read while the vectors are locked: a search holds a reader and waits for them.
pub(super) fn load(
    sight: &RwLock<Sight>,
    engine: &dyn Engine,
    model: &ModelId,
    rows: &Range<Row>,
    stop: impl Fn() -> bool,
) -> EngineResult<()> {
    let id = model.to_string();
    let (number, newest) = read(engine, |snapshot| {
        Ok((snapshot.embedding_model(&id)?, snapshot.newest_vector()?))
    })?;
    let Some(number) = number else {
        return Ok(());
    };
    // All rows that the workspace may get while this goes on.
    let rows = rows.start..(rows.start | ((1 << SEQUENCE_BITS) - 1));
    {
        let mut held = sight.write().unwrap_or_else(PoisonError::into_inner);
        held.model = Some(number);
        if held.index(model).is_loaded(&rows) {
            return Ok(());
        }
        held.seen.get_or_insert(newest);
        held.loading.push(rows.clone());
    }
    let loaded = load_pages(sight, engine, model, number, &rows, stop);
    let mut held = sight.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(at) = held.loading.iter().position(|loading| *loading == rows) {
        held.loading.swap_remove(at);
    }
    if loaded? {
        held.index(model).set_loaded(&rows);
    }
    Ok(())
}

/// Returns whether it came to the end.
fn load_pages(
    sight: &RwLock<Sight>,
    engine: &dyn Engine,
    model: &ModelId,
    number: ModelNumber,
    rows: &Range<Row>,
    stop: impl Fn() -> bool,
) -> EngineResult<bool> {
    let mut from = rows.start;
    while !stop() {
        let page = read(engine, |snapshot| {
            snapshot.vectors_in(number, &(from..rows.end), PAGE)
        })?;
        let mut held = sight.write().unwrap_or_else(PoisonError::into_inner);
        held.put_all(model, &page);
        match page.last() {
            Some(last) if page.len() == PAGE => from = last.row + 1,
            _ => return Ok(true),
        }
    }
    Ok(false)
}
