//! The vectors of records in memory, and which of them are nearest to a query's.
//!
//! | file | what is there |
//! |---|---|
//! | [`Index`] | all vectors of one model, apart by workspace |
//! | `segment`, `block`, `table` | those of one workspace: in blocks of a fixed size, and where each record's are |
//! | `scan` | a search: every vector of a small range; in a large one the nearest codes first |
//! | `kernel` | the arithmetic, compiled once for each kind of instructions |
//! | `cut`, [`Near`] | which codes are near enough, which records are nearest |
//! | [`Spread`] | how near records are in general |
//! | `crowding` | how near a record's neighbours are to it |
//!
//! A vector is kept in eight bits a number, and again as one sign a number: its code. Codes are an
//! eighth as large, and of a million records the few thousand with the nearest codes hold nearly all
//! of the nearest. There is no graph and no tree: nothing is built, and what is removed is gone.
//!
//! Nothing here reads a store, keeps a thread or decides what a record is worth. All answers are the
//! same for any number of threads and any processor.

mod best;
mod block;
mod crowding;
mod cut;
mod kernel;
mod query;
mod scan;
mod segment;
mod spread;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;

pub use best::Near;
pub use spread::Spread;

use crate::embed::{Bytes8, Isa, Vector};
use crate::engine::{Row, SEQUENCE_BITS};

use crowding::{Crowd, Look};
use kernel::{Products, scattered};
use query::Query;
use scan::{Limits, Part, Scan};
use segment::Segment;

/// Threads that a search uses at most, unless told otherwise: more would wait for memory.
const MOST_THREADS: usize = 4;

/// Records that a spread is found from at most.
const SAMPLE: usize = 256;

/// Of so many records of a sample one tells how crowded it usually is.
const USUAL_OF: usize = 4;

/// A vector that does not fit an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a vector of {found} numbers does not fit an index of {expected}; embed it with the same model"
)]
pub struct OtherDimensions {
    /// How many numbers the vector has.
    pub found: usize,
    /// How many a vector of the index has.
    pub expected: usize,
}

/// All vectors of one model in memory, apart by workspace.
///
/// A record has any number of vectors, its pieces, and is as near as the nearest of them. One without
/// pieces is known, so that nobody tries again, and never found. The length of a piece does not matter,
/// only its direction.
///
/// About 452 bytes a vector of 384 numbers. Putting and removing take as long as the record has pieces,
/// whatever else is there.
#[derive(Debug)]
pub struct Index {
    dimensions: usize,
    /// By the row without the sequence.
    segments: BTreeMap<Row, Segment>,
    isa: Isa,
    n_threads: usize,
    limits: Limits,
    /// Changes with everything that changes what is found.
    version: u64,
    /// The records that stood for all when somebody looked last: they stay the same until something
    /// changes.
    sampled: Mutex<Option<Arc<Sampled>>>,
}

/// Some records that stand for all of some ranges.
#[derive(Debug)]
struct Sampled {
    version: u64,
    within: Vec<Range<Row>>,
    /// At most 256 that lie evenly among all with a piece, in order.
    rows: Vec<Row>,
    crowd: Crowd,
    /// How crowded it is around one of them.
    usual: f64,
}

impl Index {
    /// Returns an index of vectors of so many numbers, with nothing in it.
    #[must_use]
    pub fn new(dimensions: usize) -> Self {
        let processors = available_parallelism().map_or(1, usize::from);
        Self {
            dimensions,
            segments: BTreeMap::new(),
            isa: Isa::best(),
            n_threads: processors.min(MOST_THREADS),
            limits: Limits::USUAL,
            version: 0,
            sampled: Mutex::default(),
        }
    }

    /// Uses at most so many threads for a search, at least one. Small ranges are searched on the
    /// calling thread anyway.
    #[must_use]
    pub fn with_threads(self, n_threads: usize) -> Self {
        let n_threads = n_threads.max(1);
        Self { n_threads, ..self }
    }

    /// Returns how many threads a search uses at most.
    #[must_use]
    pub fn n_threads(&self) -> usize {
        self.n_threads
    }

    /// Returns how many numbers a vector has.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Puts the pieces of a record in place of those it had. Returns `false` and changes nothing if
    /// there are some with this number or a higher one. The workspace need not be loaded.
    ///
    /// # Errors
    /// [`OtherDimensions`] if a piece is of another model; nothing changes.
    pub fn put(
        &mut self,
        row: Row,
        number: i64,
        pieces: &[Bytes8],
    ) -> Result<bool, OtherDimensions> {
        let expected = self.dimensions;
        let mut lengths = pieces.iter().map(|piece| piece.values.len());
        if let Some(found) = lengths.find(|length| *length != expected) {
            return Err(OtherDimensions { found, expected });
        }
        self.version += 1;
        let segment = self.segments.entry(workspace(row)).or_default();
        let vectors = pieces.iter().map(|piece| &*piece.values);
        Ok(segment.put(sequence(row), number, vectors, expected))
    }

    /// Forgets a record. Returns `false` if it was not known.
    pub fn remove(&mut self, row: Row) -> bool {
        self.version += 1;
        let segment = self.segments.get_mut(&workspace(row));
        segment.is_some_and(|segment| segment.remove(sequence(row), self.dimensions))
    }

    /// Returns the number of a record's vectors; nothing if it is not known.
    #[must_use]
    pub fn number_of(&self, row: Row) -> Option<i64> {
        self.segments
            .get(&workspace(row))?
            .table()
            .number_of(sequence(row))
    }

    /// Returns how many records of a range are known, those without pieces included.
    #[must_use]
    pub fn n_records(&self, within: &Range<Row>) -> usize {
        let parts = self.parts(std::slice::from_ref(within));
        let known = parts
            .iter()
            .map(|part| part.segment.table().n_known(&part.sequences));
        known.sum()
    }

    /// Tells whether a workspace, that of the range's first row, was loaded: also if it is empty.
    #[must_use]
    pub fn is_loaded(&self, within: &Range<Row>) -> bool {
        let segment = self.segments.get(&workspace(within.start));
        segment.is_some_and(|segment| segment.is_loaded)
    }

    /// Notes that all vectors of a workspace, that of the range's first row, were put here.
    pub fn set_loaded(&mut self, within: &Range<Row>) {
        self.segments
            .entry(workspace(within.start))
            .or_default()
            .is_loaded = true;
    }

    /// Forgets a workspace, that of the range's first row, as if it had never been loaded.
    pub fn unload(&mut self, within: &Range<Row>) {
        self.version += 1;
        self.segments.remove(&workspace(within.start));
    }

    /// Returns the nearest `k` records of some ranges, the nearest first, of equally near ones the
    /// latest. Nothing if the query has other dimensions.
    ///
    /// Up to some thousand vectors each is looked at, and if more than 300 records are asked for.
    /// Otherwise about 99 of 100 of the nearest are found, and their cosines are those of all their
    /// pieces. Asking for more, up to 300, never changes the first ones.
    #[must_use]
    pub fn nearest(&self, query: &Vector, within: &[Range<Row>], k: usize) -> Vec<Near> {
        if query.values().len() != self.dimensions || k == 0 {
            return Vec::new();
        }
        let scan = Scan {
            query: &Query::new(query),
            isa: self.isa,
            n_threads: self.n_threads,
            limits: self.limits,
        };
        scan.nearest(&self.parts(within), k)
    }

    /// Returns how near each of these records is: nothing for one that is not known or has no pieces,
    /// and nothing for all if the query has other dimensions.
    #[must_use]
    pub fn cosines(&self, query: &Vector, rows: &[Row]) -> Vec<Option<f32>> {
        if query.values().len() != self.dimensions {
            return vec![None; rows.len()];
        }
        let mut vectors = Vec::with_capacity(rows.len());
        for (nth, row) in rows.iter().enumerate() {
            if let Some(segment) = self.segments.get(&workspace(*row)) {
                for slot in segment.table().slots_of(sequence(*row)) {
                    let (values, factor) = segment.vector(*slot, self.dimensions);
                    vectors.push((nth, values, factor));
                }
            }
        }
        let query = Query::new(query);
        let mut products = Vec::with_capacity(vectors.len());
        self.isa.run(Products {
            query: &query.values,
            vectors: scattered(vectors.len(), |nth| vectors[nth].1),
            products: &mut products,
        });
        let mut cosines = vec![None; rows.len()];
        for ((nth, _, factor), product) in vectors.into_iter().zip(products) {
            let cosine = query.cosine(product, factor);
            let most: &mut Option<f32> = &mut cosines[nth];
            *most = Some(most.map_or(cosine, |most| most.max(cosine)));
        }
        cosines
    }

    /// Returns how near the records of some ranges are in general: from at most 256 of them that lie
    /// evenly among all with a piece. The same records give the same spread, whatever was before.
    #[must_use]
    pub fn spread(&self, query: &Vector, within: &[Range<Row>]) -> Spread {
        let rows = &self.sampled(within).rows;
        let cosines: Vec<f32> = self.cosines(query, rows).into_iter().flatten().collect();
        Spread::of(&cosines)
    }

    /// Returns how much more crowded it is around each of these records than around the records of some
    /// ranges in general, in cosines: 0 for one that is not known or has no pieces. Seen from at most 256
    /// of them, those that [`Index::spread`] looks at.
    #[must_use]
    pub fn crowding(&self, rows: &[Row], within: &[Range<Row>]) -> Vec<f64> {
        let sampled = self.sampled(within);
        let mut look = Look::new(&sampled.crowd);
        let around = rows.iter().map(|row| {
            let around = self.around(&mut look, &sampled.rows, *row);
            around.map_or(0.0, |around| around - sampled.usual)
        });
        around.collect()
    }

    /// Returns how crowded it is around a record, seen from some.
    fn around(&self, look: &mut Look<'_>, some: &[Row], row: Row) -> Option<f64> {
        let place = some.binary_search(&row).ok();
        let mut buffer = Vec::new();
        let pieces = self.codes_of(row).filter_map(|code| {
            buffer.clear();
            buffer.extend(code);
            look.around(&buffer, place)
        });
        pieces.max_by(f64::total_cmp)
    }

    /// Returns the records that stand for all of some ranges.
    fn sampled(&self, within: &[Range<Row>]) -> Arc<Sampled> {
        let mut last = self.sampled.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |last: &&Arc<Sampled>| last.version == self.version && last.within == within;
        if let Some(last) = last.as_ref().filter(is_it) {
            return Arc::clone(last);
        }
        let rows = self.sample(within);
        let mut crowd = Crowd::new(self.dimensions, self.isa);
        for row in &rows {
            if let Some(code) = self.codes_of(*row).next() {
                crowd.push(code);
            }
        }
        let mut look = Look::new(&crowd);
        let some = rows.iter().step_by(USUAL_OF);
        let usual: Vec<f64> = some
            .filter_map(|row| self.around(&mut look, &rows, *row))
            .collect();
        let usual = usual.iter().sum::<f64>() / usual.len().max(1) as f64;
        let sampled = Arc::new(Sampled {
            version: self.version,
            within: within.to_vec(),
            rows,
            crowd,
            usual,
        });
        *last = Some(Arc::clone(&sampled));
        sampled
    }

    /// Returns the codes of a record's pieces.
    fn codes_of(&self, row: Row) -> impl Iterator<Item = impl Iterator<Item = u64>> {
        let segment = self.segments.get(&workspace(row));
        segment.into_iter().flat_map(move |segment| {
            let slots = segment.table().slots_of(sequence(row));
            slots
                .iter()
                .map(|slot| segment.code(*slot, self.dimensions))
        })
    }

    /// Returns at most 256 records that lie evenly among all of some ranges with a piece, in order.
    fn sample(&self, within: &[Range<Row>]) -> Vec<Row> {
        let parts = self.parts(within);
        let counts: Vec<usize> = parts
            .iter()
            .map(|part| part.segment.table().n_findable(&part.sequences))
            .collect();
        let mut places = spread::evenly(counts.iter().sum(), SAMPLE).peekable();
        let mut rows = Vec::with_capacity(SAMPLE);
        let mut passed = 0;
        for (part, count) in parts.iter().zip(counts) {
            let here = std::iter::from_fn(|| places.next_if(|place| *place < passed + count));
            let here: Vec<usize> = here.map(|place| place - passed).collect();
            let found = part.segment.table().findable_at(&part.sequences, &here);
            rows.extend(
                found
                    .into_iter()
                    .map(|sequence| part.first + Row::from(sequence)),
            );
            passed += count;
        }
        rows
    }

    /// Returns how many bytes of memory are held, about.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        self.segments.values().map(Segment::n_bytes).sum()
    }

    /// Returns what of some ranges is here, nothing of it twice.
    fn parts(&self, within: &[Range<Row>]) -> Vec<Part<'_>> {
        let mut ranges: Vec<Range<Row>> = within
            .iter()
            .filter(|range| !range.is_empty())
            .cloned()
            .collect();
        ranges.sort_unstable_by_key(|range| range.start);
        ranges.dedup_by(|next, range| {
            let touches = next.start <= range.end;
            if touches {
                range.end = range.end.max(next.end);
            }
            touches
        });
        let mut parts = Vec::new();
        for range in ranges {
            let (first, last) = (range.start, range.end - 1);
            for (key, segment) in self.segments.range(workspace(first)..=workspace(last)) {
                let start = if *key == workspace(first) {
                    sequence(first)
                } else {
                    0
                };
                let end = if *key == workspace(last) {
                    sequence(last)
                } else {
                    SEQUENCES - 1
                };
                parts.push(Part {
                    segment,
                    first: key << SEQUENCE_BITS,
                    sequences: start..end + 1,
                });
            }
        }
        parts
    }
}

/// Sequences in a workspace.
const SEQUENCES: u32 = 1 << SEQUENCE_BITS;

fn workspace(row: Row) -> Row {
    row >> SEQUENCE_BITS
}

fn sequence(row: Row) -> u32 {
    (row & Row::from(SEQUENCES - 1)) as u32
}
