//! A search through some workspaces: every vector, or every code and then the vectors of the nearest.

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, scope};

use crate::embed::Isa;
use crate::engine::Row;

use super::best::{Best, Near};
use super::block::{BLOCK, Block, Slot};
use super::cut::{Candidate, Cut};
use super::kernel::{Distances, LANES, Products, Within, scattered};
use super::query::Query;
use super::segment::Segment;

/// From where on a search goes another way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// When the nearest codes are looked for first; never, if there is nothing.
    pub(super) by_codes: Option<ByCodes>,
    /// So many vectors are worth a thread.
    pub(super) per_thread: usize,
}

/// How far a search looks that looks for the nearest codes first.
#[derive(Debug, Clone, Copy)]
pub(super) struct ByCodes {
    /// Who asks for more records than that gets each vector looked at: of the 2,000 nearest of 400,000, one
    /// of ten vectors looked at found nine tenths only.
    pub(super) most_records: usize,
    /// Up to so many vectors each is looked at.
    pub(super) exact: usize,
    /// At least so many whose codes are nearest are looked at.
    pub(super) least: usize,
    /// One of so many is, as long as that are not more than `many`.
    pub(super) of: usize,
    /// See `of`.
    pub(super) many: usize,
    /// And at least one of so many: the more there are, the more codes are as near as the nearest's.
    pub(super) of_many: usize,
}

impl ByCodes {
    /// Returns how many of so many vectors are looked at. Independent of how many records are asked for, so
    /// that asking for more never changes the first.
    pub(super) fn looked_at(&self, n_vectors: usize) -> usize {
        let few = (n_vectors / self.of.max(1)).min(self.many);
        few.max(self.least).max(n_vectors / self.of_many.max(1))
    }
}

impl Limits {
    pub(super) const USUAL: Self = Self {
        by_codes: Some(ByCodes {
            most_records: 300,
            exact: 16_384,
            least: 1_000,
            of: 96,
            many: 3_000,
            of_many: 128,
        }),
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
        if let Some(limits) = &self.limits.by_codes
            && k <= limits.most_records
            && n_vectors > limits.exact
            && let Some(best) = self.by_codes(&units, n_vectors, k, limits)
        {
            return best.finish();
        }
        self.by_vectors(&units, n_vectors, k).finish()
    }

    fn by_vectors(&self, units: &[Unit<'_>], n_vectors: usize, k: usize) -> Best {
        let new = || (Best::new(k), Vec::with_capacity(BLOCK));
        let shares = self.share(units, n_vectors, new, |(best, products), _, unit| {
            products.clear();
            self.isa.run(Products {
                query: &self.query.values,
                vectors: unit.block.values().chunks_exact(self.dimensions()),
                products,
            });
            let factors = unit.block.factors();
            for (at, (product, factor)) in products.iter().zip(factors).enumerate() {
                let cosine = self.query.cosine(*product, *factor);
                if best.wants(cosine) && unit.has(at) {
                    let row = unit.row(at);
                    best.offer(Near { row, cosine });
                }
            }
        });
        let mut best = Best::new(k);
        for (share, _) in shares {
            best.join(share);
        }
        best
    }

    /// Returns nothing if the nearest codes are of too few records.
    fn by_codes(
        &self,
        units: &[Unit<'_>],
        n_vectors: usize,
        k: usize,
        limits: &ByCodes,
    ) -> Option<Best> {
        let wanted = limits.looked_at(n_vectors);
        let largest = self.largest();
        // Nearly all codes are further off than the limit that is found in the end. To start from a
        // guess spares keeping them in between; if it was wrong, nothing is lost but time.
        let guess = self.guess(units, wanted);
        let mut cut = self.nearest_codes(units, n_vectors, wanted, guess);
        if !cut.is_full() && guess < largest {
            cut = self.nearest_codes(units, n_vectors, wanted, largest);
        }
        let is_full = cut.is_full();
        let found = Found::new(units, &cut.finish());
        let is_enough = !is_full || found.n_records() >= limits.most_records;
        is_enough.then(|| self.rescore(&found, k))
    }

    /// Returns a distance within which as many codes are as wanted, probably: by every sixteenth group.
    fn guess(&self, units: &[Unit<'_>], wanted: usize) -> u32 {
        const ONE_OF: usize = 16;
        let words = self.query.code.len();
        let mut seen = vec![0_usize; self.largest() as usize + 1];
        let mut distances = [[0; LANES]];
        for unit in units {
            let groups = unit.block.codes().chunks_exact(words.max(1));
            for (nth, group) in groups.enumerate().step_by(ONE_OF) {
                self.isa.run(Distances {
                    query: &self.query.code,
                    codes: group,
                    distances: &mut distances,
                });
                let places = nth * LANES..unit.block.len().min((nth + 1) * LANES);
                for (at, distance) in places.zip(distances.as_flattened()) {
                    seen[*distance as usize] += usize::from(unit.has(at));
                }
            }
        }
        // A quarter more, for the chance in the choice.
        let enough = (wanted + wanted / 4).div_ceil(ONE_OF);
        let mut within = 0;
        let guess = seen.iter().position(|n| {
            within += n;
            within >= enough
        });
        guess.map_or(self.largest(), |distance| distance as u32)
    }

    fn nearest_codes(
        &self,
        units: &[Unit<'_>],
        n_vectors: usize,
        wanted: usize,
        limit: u32,
    ) -> Cut {
        let new = || {
            let distances = vec![[0; LANES]; BLOCK / LANES];
            (Cut::new(wanted, limit), distances, vec![0; BLOCK])
        };
        let shares = self.share(
            units,
            n_vectors,
            new,
            |(cut, distances, places), nth, unit| {
                let n = unit.block.len();
                self.isa.run(Distances {
                    query: &self.query.code,
                    codes: unit.block.codes(),
                    distances: &mut distances[..n.div_ceil(LANES)],
                });
                let distances = &distances.as_flattened()[..n];
                let n_near = self.isa.run(Within {
                    distances,
                    limit: cut.limit(),
                    places,
                });
                for at in &places[..n_near] {
                    let distance = distances[*at as usize];
                    if distance <= cut.limit() && unit.has(*at as usize) {
                        cut.offer(Candidate {
                            distance,
                            unit: nth as u32,
                            at: *at,
                        });
                    }
                }
            },
        );
        let mut cut = Cut::new(wanted, limit);
        for (share, ..) in shares {
            cut.join(share);
        }
        cut
    }

    /// The largest distance between two codes.
    fn largest(&self) -> u32 {
        64 * self.query.code.len() as u32
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
            vectors: scattered(vectors.len(), |nth| vectors[nth].1.0),
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

    /// Does work on all units, on several threads if there is enough of it: whoever is free takes the
    /// next unit. Returns what each thread made of the units that it got, with their numbers.
    fn share<'u, T: Send>(
        &self,
        units: &[Unit<'u>],
        n_vectors: usize,
        new: impl Fn() -> T + Sync,
        work: impl Fn(&mut T, usize, Unit<'u>) + Sync,
    ) -> Vec<T> {
        let n_threads = self
            .n_threads
            .min(n_vectors / self.limits.per_thread.max(1))
            .min(units.len())
            .max(1);
        let next = AtomicUsize::new(0);
        let run = || {
            let mut made = new();
            loop {
                let nth = next.fetch_add(1, Ordering::Relaxed);
                let Some(unit) = units.get(nth) else {
                    return made;
                };
                work(&mut made, nth, *unit);
            }
        };
        let run = &run;
        scope(|scope| {
            // Without a thread the others do its work.
            let spawn = |_| Builder::new().spawn_scoped(scope, run).ok();
            let others: Vec<_> = (1..n_threads).filter_map(spawn).collect();
            let mut made = vec![run()];
            for thread in others {
                made.push(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            made
        })
    }
}
