//! What finding the nearest vectors costs and how many of them are found, by the number of vectors.
//!
//! The vectors are made: subjects, in each of them matters, in each of those records, every one the
//! direction of what it belongs to and some of its own. They are the same in every run. Beside the
//! times stands the limit of any scan: reading as many bytes as all codes have.

use std::collections::HashSet;
use std::hint::black_box;
use std::ops::Range;
use std::time::{Duration, Instant};

use mmw_store::embed::Vector;
use mmw_store::engine::Row;
use mmw_store::index::Index;

use super::embed::processor_ms;
use super::figures::{Series, single};

/// Numbers of a vector, as the built-in model gives them.
const DIMENSIONS: usize = 384;

/// Sizes that are measured.
const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];

/// Queries that are timed.
const N_TIMED: usize = 200;

/// Queries whose answers are compared with all vectors.
const N_COMPARED: usize = 50;

/// Records asked for so that the index looks at every vector.
const ALL_LOOKED_AT: usize = 301;

/// Measures and returns a table in Markdown.
pub(crate) fn measure() -> String {
    SIZES.iter().map(|size| of_size(*size)).collect()
}

fn of_size(n: usize) -> String {
    let mut table =
        format!("| {n} vectors | p50 ms | p95 ms | p99 ms | note |\n|---|---|---|---|---|\n");
    let cloud = Cloud::new(n);
    let queries: Vec<Vector> = (0..N_TIMED).map(|nth| cloud.query(nth)).collect();
    let compared = &queries[..N_COMPARED];
    let mut exact: Vec<Exact<'_>> = compared.iter().map(Exact::new).collect();

    let mut index = Index::new(DIMENSIONS);
    let mut building = Duration::ZERO;
    for nth in 0..n {
        let vector = cloud.record(nth);
        let bytes = [vector.to_bytes()];
        let row = nth as Row;
        let start = Instant::now();
        index.put(row, row, &bytes).expect("dimensions fit");
        building += start.elapsed();
        for exact in &mut exact {
            exact.offer(row, &vector);
        }
    }
    let exact: Vec<Vec<Row>> = exact.into_iter().map(Exact::finish).collect();
    let all = 0..n as Row;

    let each = building.as_secs_f64() / n as f64;
    table += &*single(
        "building",
        &format!("{:.0}", building.as_secs_f64() * 1e3),
        &format!("{:.2} µs a vector in eight bits, one thread", each * 1e6),
    );
    table += &*reading(n);
    let most = index.n_threads();
    for n_threads in [1, most] {
        index = index.with_threads(n_threads);
        for k in [10, 100, ALL_LOOKED_AT] {
            let queries = if k == ALL_LOOKED_AT {
                compared
            } else {
                &queries
            };
            let way = if k == ALL_LOOKED_AT {
                ", every vector"
            } else {
                ""
            };
            let name = format!("nearest {k}{way}, threads: {n_threads}");
            table += &*timed(&name, queries, |query| {
                black_box(index.nearest(query, std::slice::from_ref(&all), k));
            });
        }
    }
    table += &*timed("spread", &queries, |query| {
        black_box(index.spread(query, std::slice::from_ref(&all)));
    });
    let rows: Vec<Row> = (0..100).map(|nth| (nth * n / 100) as Row).collect();
    table += &*timed("cosines of 100 records", &queries, |query| {
        black_box(index.cosines(query, &rows));
    });
    table += &*recall(&index, &all, compared, &exact);
    let bytes = index.n_bytes();
    table += &*single(
        "memory",
        &format!("{:.1} MB", bytes as f64 / 1e6),
        &format!("{:.0} bytes a vector", bytes as f64 / n as f64),
    );
    table += &*changing(&mut index, n);
    table + "\n"
}

fn timed(name: &str, queries: &[Vector], mut ask: impl FnMut(&Vector)) -> String {
    for query in &queries[..5] {
        ask(query);
    }
    let before = processor_ms();
    let times = queries.iter().map(|query| {
        let start = Instant::now();
        ask(query);
        start.elapsed()
    });
    let times = Series::new(times.collect());
    let mean = (processor_ms() - before) / queries.len() as f64;
    times.row(
        name,
        &format!("{mean:.3} ms of the asking thread's processor"),
    )
}

/// Reads as many bytes as the codes of all vectors have.
fn reading(n: usize) -> String {
    let codes: Vec<u64> = (0..n * DIMENSIONS / 64).map(|nth| nth as u64).collect();
    let times = (0..50).map(|_| {
        let start = Instant::now();
        black_box(
            black_box(&codes)
                .iter()
                .fold(0_u64, |sum, word| sum.wrapping_add(*word)),
        );
        start.elapsed()
    });
    let times = Series::new(times.collect());
    let bytes = size_of_val(&codes[..]) as f64;
    let speed = bytes / (times.at(50) * 1e6);
    times.row(
        "reading the bytes of all codes",
        &format!("{:.1} MB, {speed:.1} GB/s", bytes / 1e6),
    )
}

/// Compares what is found with the nearest by all numbers, and with the nearest in eight bits.
fn recall(index: &Index, all: &Range<Row>, queries: &[Vector], exact: &[Vec<Row>]) -> String {
    let mut rows = String::new();
    for k in [10, 100] {
        let (mut of_all_numbers, mut of_bytes) = (0, 0);
        for (query, exact) in queries.iter().zip(exact) {
            let nearest = |k: usize| {
                let near = index.nearest(query, std::slice::from_ref(all), k);
                near.into_iter().map(|near| near.row).collect::<Vec<Row>>()
            };
            let found: HashSet<Row> = nearest(k).into_iter().collect();
            let count = |rows: &[Row]| {
                rows.iter()
                    .take(k)
                    .filter(|row| found.contains(row))
                    .count()
            };
            of_all_numbers += count(exact);
            of_bytes += count(&nearest(ALL_LOOKED_AT));
        }
        let share = |found: usize| found as f64 / (queries.len() * k) as f64;
        rows += &*single(
            &format!("recall@{k}"),
            &format!("{:.3}", share(of_all_numbers)),
            &format!(
                "of every vector in f32; {:.3} of every vector in eight bits",
                share(of_bytes)
            ),
        );
    }
    rows
}

/// Changes and removes records, the last thing that is done with an index.
fn changing(index: &mut Index, n: usize) -> String {
    let rows: Vec<Row> = (0..1_000).map(|nth| (nth * 7_919 % n) as Row).collect();
    let pieces = [Cloud::new(n).record(n).to_bytes()];
    let put = each(&rows, |row| {
        index.put(row, Row::MAX, &pieces).expect("dimensions fit");
    });
    let removed = each(&rows, |row| {
        index.remove(row);
    });
    put.row("replacing a record", "") + &*removed.row("removing a record", "")
}

fn each(rows: &[Row], mut change: impl FnMut(Row)) -> Series {
    let times = rows.iter().map(|row| {
        let start = Instant::now();
        change(*row);
        start.elapsed()
    });
    Series::new(times.collect())
}

/// The nearest of all by all numbers, found while they are made.
struct Exact<'a> {
    query: &'a Vector,
    found: Vec<(f32, Row)>,
}

impl<'a> Exact<'a> {
    const MOST: usize = 100;

    fn new(query: &'a Vector) -> Self {
        Self {
            query,
            found: Vec::new(),
        }
    }

    fn offer(&mut self, row: Row, vector: &Vector) {
        let cosine = dot(self.query.values(), vector.values());
        let is_full = self.found.len() == Self::MOST;
        if !is_full || self.found.last().is_some_and(|(least, _)| cosine >= *least) {
            let at = self.found.partition_point(|(other, _)| *other > cosine);
            self.found.insert(at, (cosine, row));
            self.found.truncate(Self::MOST);
        }
    }

    fn finish(self) -> Vec<Row> {
        self.found.into_iter().map(|(_, row)| row).collect()
    }
}

/// Sums in sixteen lanes, because a million vectors are compared with every query.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0; 16];
    for (a, b) in a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0) {
        for nth in 0..16 {
            lanes[nth] += a[nth] * b[nth];
        }
    }
    lanes.iter().sum()
}

/// Made vectors. About a hundred records to a matter, of some matters many more; ten matters to a
/// subject. How much of a record is its own differs.
pub(super) struct Cloud {
    matters: Vec<Vec<f32>>,
}

impl Cloud {
    pub(super) fn new(n: usize) -> Self {
        let n_matters = n / 100;
        let subjects: Vec<Vec<f32>> = (0..n_matters / 10)
            .map(|nth| Numbers::new(1, nth).direction())
            .collect();
        let matter = |nth: usize| {
            let mut numbers = Numbers::new(2, nth);
            let subject = &subjects[nth % subjects.len()];
            subject.iter().map(|v| v + numbers.normal()).collect()
        };
        Self {
            matters: (0..n_matters).map(matter).collect(),
        }
    }

    pub(super) fn record(&self, nth: usize) -> Vector {
        self.near_a_matter(&mut Numbers::new(3, nth))
    }

    fn query(&self, nth: usize) -> Vector {
        self.near_a_matter(&mut Numbers::new(4, nth))
    }

    fn near_a_matter(&self, numbers: &mut Numbers) -> Vector {
        let place = numbers.fraction().powi(2) * self.matters.len() as f64;
        let own = 0.8 + numbers.fraction() as f32;
        let matter = &self.matters[place as usize];
        let values = matter.iter().map(|v| v + own * numbers.normal());
        Vector::new(values.collect()).expect("it has a direction")
    }
}

/// Numbers that look like chance and are the same in every run: SplitMix64.
struct Numbers(u64);

impl Numbers {
    fn new(kind: u64, nth: usize) -> Self {
        let mut numbers = Self(kind << 48 | nth as u64);
        // Far apart, though the numbers that are begun with are not.
        Self(numbers.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to below 1.
    fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Eight bytes added up: near to a normal distribution of deviation 1.
    fn normal(&mut self) -> f32 {
        let sum: u16 = self.next().to_le_bytes().into_iter().map(u16::from).sum();
        (f32::from(sum) - 1_020.0) / 209.0
    }

    fn direction(&mut self) -> Vec<f32> {
        (0..DIMENSIONS).map(|_| self.normal()).collect()
    }
}
