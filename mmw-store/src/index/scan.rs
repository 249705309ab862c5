//! A search through some workspaces: every vector, or every code and then the vectors of the nearest.

use std::ops::Range;
use std::panic::resume_unwind;
use std::thread::{Builder, scope};

use crate::embed::Isa;
use crate::engine::Row;

use super::best::{Best, Near};
use super::block::{BLOCK, Block, Slot};
use super::cut::{Candidate, Cut};
use super::kernel::{Distances, LANES, Products};
use super::query::Query;
use super::segment::Segment;

/// From where on a search goes another way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Up to so many vectors each is looked at.
    pub(super) exact: usize,
    /// Beyond, at least so many whose codes are nearest. Independent of how many records are asked for,
    /// so that asking for more never changes the first.
    pub(super) rescored: usize,
    /// And at least one of so many: the more there are, the more codes are as near as the nearest's.
    pub(super) rescored_of: usize,
    /// Whoever asks for more records gets each vector looked at.
    pub(super) most_records: usize,
    /// So many vectors are worth a thread.
    pub(super) per_thread: usize,
}

impl Limits {
    pub(super) const USUAL: Self = Self {
        exact: 16_384,
        rescored: 3_000,
        rescored_of: 128,
        most_records: 300,
        per_thread: 65_536,
    };
}

/// A part of a workspace.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) segment: &'a Segment,
    /// The row of sequence 0.
    pub(super) first: Row,
    /// What is in the part; not empty.
    pub(super) sequences: Range<u32>,
}

/// A block of a part.
#[derive(Clone, Copy)]
struct Unit<'a> {
    part: &'a Part<'a>,
    block: &'a Block,
}

impl<'a> Unit<'a> {
    fn has(&self, at: usize) -> bool {
        let sequence = self.block.owners()[at].sequence();
        self.part.sequences.contains(&sequence)
    }

    fn row(&self, at: usize) -> Row {
        self.part.first + Row::from(self.block.owners()[at].sequence())
    }

    fn vector(&self, at: usize, dimensions: usize) -> (&'a [i8], f32) {
        (self.block.value(at, dimensions), self.block.factors()[at])
    }
}

/// The records whose codes are near enough.
struct Found<'a> {
    /// Vectors of records that have no others.
    single: Vec<(Unit<'a>, usize)>,
    /// Records that have several vectors: the nearest may be one whose code is not.
    several: Vec<(Row, &'a Part<'a>)>,
}

impl<'a> Found<'a> {
    fn new(units: &[Unit<'a>], candidates: &[Candidate]) -> Self {
        let mut single = Vec::with_capacity(candidates.len());
        let mut several = Vec::new();
        for candidate in candidates {
            let unit = units[candidate.unit as usize];
            let at = candidate.at as usize;
            if unit.block.owners()[at].has_others() {
                several.push((unit.row(at), unit.part));
            } else {
                single.push((unit, at));
            }
        }
        several.sort_unstable_by_key(|(row, _)| *row);
        several.dedup_by_key(|(row, _)| *row);
        Self { single, several }
    }

    fn n_records(&self) -> usize {
        self.single.len() + self.several.len()
    }
}

/// A search.
pub(super) struct Scan<'a> {
    pub(super) query: &'a Query,
    pub(super) isa: Isa,
    /// At most so many are used.
    pub(super) n_threads: usize,
    pub(super) limits: Limits,
}

impl Scan<'_> {
    /// Returns the nearest `k` records.
    pub(super) fn nearest(&self, parts: &[Part<'_>], k: usize) -> Vec<Near> {
        let units: Vec<Unit<'_>> = parts
            .iter()
            .flat_map(|part| {
                part.segment
                    .blocks()
                    .iter()
                    .map(move |block| Unit { part, block })
            })
            .collect();
        let n_vectors = units.iter().map(|unit| unit.block.len()).sum();
        if n_vectors > self.limits.exact
            && k <= self.limits.most_records
            && let Some(best) = self.by_codes(&units, n_vectors, k)
        {
            return best.finish();
        }
        self.by_vectors(&units, n_vectors, k).finish()
    }

    fn by_vectors(&self, units: &[Unit<'_>], n_vectors: usize, k: usize) -> Best {
        let shares = self.share(units, n_vectors, |_, units| {
            let mut best = Best::new(k);
            let mut products = Vec::with_capacity(BLOCK);
            for unit in units {
                products.clear();
                self.isa.run(Products {
                    query: &self.query.values,
                    vectors: unit.block.values().chunks_exact(self.dimensions()),
                    products: &mut products,
                });
                let factors = unit.block.factors();
                for (at, (product, factor)) in products.iter().zip(factors).enumerate() {
                    let cosine = self.query.cosine(*product, *factor);
                    if best.wants(cosine) && unit.has(at) {
                        let row = unit.row(at);
                        best.offer(Near { row, cosine });
                    }
                }
            }
            best
        });
        let mut best = Best::new(k);
        for share in shares {
            best.join(share);
        }
        best
    }

    /// Returns nothing if the nearest codes are of too few records.
    fn by_codes(&self, units: &[Unit<'_>], n_vectors: usize, k: usize) -> Option<Best> {
        let largest = 64 * self.query.code.len() as u32;
        let share = n_vectors / self.limits.rescored_of.max(1);
        let wanted = self.limits.rescored.max(share);
        let shares = self.share(units, n_vectors, |first, units| {
            let mut cut = Cut::new(wanted, largest);
            let mut distances = [[0; LANES]; BLOCK / LANES];
            for (nth, unit) in units.iter().enumerate() {
                let distances = &mut distances[..unit.block.len().div_ceil(LANES)];
                self.isa.run(Distances {
                    query: &self.query.code,
                    codes: unit.block.codes(),
                    distances,
                });
                offer_near(
                    &distances.as_flattened()[..unit.block.len()],
                    &mut cut,
                    |at, distance| {
                        unit.has(at).then_some(Candidate {
                            distance,
                            unit: (first + nth) as u32,
                            at: at as u32,
                        })
                    },
                );
            }
            cut
        });
        let mut cut = Cut::new(wanted, largest);
        for share in shares {
            cut.join(share);
        }
        let is_full = cut.is_full();
        let found = Found::new(units, &cut.finish());
        let is_enough = !is_full || found.n_records() >= self.limits.most_records;
        is_enough.then(|| self.rescore(&found, k))
    }

    fn rescore(&self, found: &Found<'_>, k: usize) -> Best {
        let mut vectors = Vec::with_capacity(found.single.len());
        let single = found.single.iter();
        vectors
            .extend(single.map(|(unit, at)| (unit.row(*at), unit.vector(*at, self.dimensions()))));
        for (row, part) in &found.several {
            let slots = part.segment.table().slots_of((row - part.first) as u32);
            let of_slot = |slot: &Slot| (*row, part.segment.vector(*slot, self.dimensions()));
            vectors.extend(slots.iter().map(of_slot));
        }
        let mut products = Vec::with_capacity(vectors.len());
        self.isa.run(Products {
            query: &self.query.values,
            vectors: vectors.iter().map(|(_, (values, _))| *values),
            products: &mut products,
        });
        let mut best = Best::new(k);
        for ((row, (_, factor)), product) in vectors.into_iter().zip(products) {
            let cosine = self.query.cosine(product, factor);
            best.offer(Near { row, cosine });
        }
        best
    }

    fn dimensions(&self) -> usize {
        self.query.values.len()
    }

    /// Does work on all units, on several threads if there is enough of it. The work gets some units
    /// that follow each other, and the number of the first.
    fn share<'u, T: Send>(
        &self,
        units: &[Unit<'u>],
        n_vectors: usize,
        work: impl Fn(usize, &[Unit<'u>]) -> T + Sync,
    ) -> Vec<T> {
        let n_threads = self
            .n_threads
            .min(n_vectors / self.limits.per_thread.max(1))
            .max(1);
        let length = units.len().div_ceil(n_threads).max(1);
        let mut shares = units.chunks(length).enumerate();
        let work = &work;
        let mine = shares.next();
        scope(|scope| {
            let others: Vec<_> = shares
                .map(|(nth, share)| {
                    let run = move || work(nth * length, share);
                    // Without a thread the work is done all the same.
                    let spawned = Builder::new().spawn_scoped(scope, run);
                    spawned.map_err(|_| (nth, share))
                })
                .collect();
            let mut done: Vec<T> = mine.map(|(_, share)| work(0, share)).into_iter().collect();
            for other in others {
                done.push(match other {
                    Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                    Err((nth, share)) => work(nth * length, share),
                });
            }
            done
        })
    }
}

/// Offers the codes that are near enough. Most stretches have none, which is found out side by side.
fn offer_near(
    distances: &[u32],
    cut: &mut Cut,
    candidate: impl Fn(usize, u32) -> Option<Candidate>,
) {
    const STRETCH: usize = 64;
    for (nth, stretch) in distances.chunks(STRETCH).enumerate() {
        let limit = cut.limit();
        if stretch
            .iter()
            .fold(false, |any, distance| any | (*distance <= limit))
        {
            for (at, distance) in stretch.iter().enumerate() {
                if *distance <= cut.limit()
                    && let Some(candidate) = candidate(nth * STRETCH + at, *distance)
                {
                    cut.offer(candidate);
                }
            }
        }
    }
}
