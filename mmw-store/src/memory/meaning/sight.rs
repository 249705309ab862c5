//! The vectors in memory, brought up to what a snapshot holds.
//!
//! Vectors are read by workspace when a search first needs them; what any program adds afterwards is
//! read by its number, and so is what any program took away: a search never sees more, or less, than its
//! snapshot, but for what other searches with a later snapshot have read meanwhile.

use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use crate::embed::{ModelId, unpack};
use crate::engine::{
    Engine, EngineResult, KeptVector, Lexical, ModelNumber, RemovedVector, Row, SEQUENCE_BITS,
    Snapshot, VectorReach, read,
};
use crate::index::Index;

/// The most records of a workspace that a search loads itself; of a larger one words answer first.
const LOADED_AT_ONCE: u64 = 10_000;

/// Vectors that are read from the store at a time.
const PAGE: usize = 1_000;

/// The most pages of new vectors, and of removals, that a search reads itself.
const MAX_NEW_PAGES: usize = 5;

/// What is in memory.
#[derive(Default)]
pub(super) struct Sight {
    /// The number of the model in the store, once it is known there.
    model: Option<ModelNumber>,
    index: Option<Index>,
    /// Up to here vectors and removals have been seen, since the first workspace came in.
    seen: Option<VectorReach>,
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

    fn put_all(&mut self, model: &ModelId, vectors: &[KeptVector]) {
        let index = self.index(model);
        for kept in vectors {
            // Bytes that are no vector of this model can't be searched; words still find the record.
            let pieces = unpack(&kept.data, model.dimensions).unwrap_or_default();
            let _ = index.put(kept.row, kept.number, &pieces);
        }
    }

    /// Reads what came and went since the last look. Returns whether that was all.
    fn catch_up(
        &mut self,
        snapshot: &dyn Snapshot,
        model: &ModelId,
        number: ModelNumber,
        reach: VectorReach,
    ) -> EngineResult<bool> {
        // If nothing is in memory, nothing can be out of date.
        self.seen.get_or_insert(reach);
        let has_all_new = self.read_new(snapshot, model, number, reach)?;
        let has_all_gone = self.drop_removed(snapshot, reach)?;
        Ok(has_all_new && has_all_gone)
    }

    fn read_new(
        &mut self,
        snapshot: &dyn Snapshot,
        model: &ModelId,
        number: ModelNumber,
        reach: VectorReach,
    ) -> EngineResult<bool> {
        let mut seen = self.seen.unwrap_or_default().vector;
        for _ in 0..MAX_NEW_PAGES {
            if seen >= reach.vector {
                break;
            }
            let mut page = snapshot.vectors_after(number, seen, PAGE)?;
            seen = match page.last() {
                Some(last) if page.len() == PAGE => last.number,
                _ => reach.vector,
            };
            page.retain(|kept| kept.is_of_model && self.takes(kept.row));
            self.put_all(model, &page);
            self.seen.get_or_insert_default().vector = seen;
        }
        Ok(seen >= reach.vector)
    }

    fn drop_removed(&mut self, snapshot: &dyn Snapshot, reach: VectorReach) -> EngineResult<bool> {
        let mut seen = self.seen.unwrap_or_default().removal;
        for _ in 0..MAX_NEW_PAGES {
            if seen >= reach.removal {
                break;
            }
            let page = snapshot.removals_after(seen, PAGE)?;
            if page.first().is_none_or(|first| first.removal > seen + 1) {
                self.start_anew(reach);
                return Ok(true);
            }
            for removed in &page {
                self.drop_vector(removed);
            }
            seen = page.last().map_or(seen, |last| last.removal);
            self.seen.get_or_insert_default().removal = seen;
        }
        Ok(seen >= reach.removal)
    }

    fn drop_vector(&mut self, removed: &RemovedVector) {
        let Some(index) = &mut self.index else {
            return;
        };
        // A newer one may have taken its place.
        let number = index.number_of(removed.row);
        if number.is_some_and(|number| number <= removed.vector) {
            index.remove(removed.row);
        }
    }

    /// Lets go of everything: more went than is told one by one.
    fn start_anew(&mut self, reach: VectorReach) {
        *self = Self {
            model: self.model,
            seen: Some(reach),
            ..Self::default()
        };
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
    fn has_all(&self, lexica: &[Lexical], reach: VectorReach) -> bool {
        self.seen.is_some_and(|seen| seen.covers(reach))
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
    let reach = snapshot.vector_reach()?;
    let held = sight.read().unwrap_or_else(PoisonError::into_inner);
    let (held, is_caught_up) = if held.has_all(lexica, reach) {
        (held, true)
    } else {
        drop(held);
        let mut held = sight.write().unwrap_or_else(PoisonError::into_inner);
        let is_caught_up = bring_up(&mut held, snapshot, model, lexica, reach)?;
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
    })
}

fn bring_up(
    sight: &mut Sight,
    snapshot: &dyn Snapshot,
    model: &ModelId,
    lexica: &[Lexical],
    reach: VectorReach,
) -> EngineResult<bool> {
    if sight.model.is_none() {
        sight.model = snapshot.embedding_model(&model.to_string())?;
    }
    let Some(number) = sight.model else {
        return Ok(false);
    };
    let is_caught_up = sight.catch_up(snapshot, model, number, reach)?;
    if sight.seen.is_some_and(|seen| !reach.covers(seen)) {
        // What came between this snapshot and what others have read would be missing for good.
        return Ok(false);
    }
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
    let (number, reach) = read(engine, |snapshot| {
        Ok((snapshot.embedding_model(&id)?, snapshot.vector_reach()?))
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
        held.seen.get_or_insert(reach);
        held.loading.push(rows.clone());
    }
    let loaded = load_pages(sight, engine, model, number, &rows, stop);
    let mut held = sight.write().unwrap_or_else(PoisonError::into_inner);
    let at = held.loading.iter().position(|loading| *loading == rows);
    if let Some(at) = at {
        held.loading.swap_remove(at);
    }
    // It is not among them any more if all was let go of meanwhile.
    if loaded? && at.is_some() {
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
