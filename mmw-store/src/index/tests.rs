//! The index against a plain model: every piece is compared, with sums in 64 bits.

#![expect(
    clippy::single_range_in_vec_init,
    reason = "the range of a workspace is what is asked for"
)]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::select;

use super::scan::ByCodes;
use super::*;

/// Ways that differ in where a search goes another way, never in what they give here.
const EXACT: Limits = Limits {
    by_codes: None,
    ..Limits::USUAL
};
/// Codes first, and all of their vectors.
const ALL_CODES: Limits = Limits {
    by_codes: Some(ByCodes {
        most_records: usize::MAX,
        exact: 0,
        least: 1_000_000,
        of: 1,
        many: 0,
        of_many: 1,
    }),
    per_thread: 1,
};
/// Codes first, and few of their vectors.
const FEW_CODES: Limits = Limits {
    by_codes: Some(FEW),
    per_thread: 1,
};
const FEW: ByCodes = ByCodes {
    most_records: 8,
    exact: 0,
    least: 12,
    of: usize::MAX,
    many: 0,
    of_many: usize::MAX,
};

#[derive(Default)]
struct Model {
    records: BTreeMap<Row, (i64, Vec<Bytes8>)>,
    loaded: BTreeSet<Row>,
}

impl Model {
    fn cosine(&self, query: &Vector, row: Row) -> Option<f32> {
        let query = Query::new(query);
        let of_piece = |piece: &Bytes8| {
            let pairs = query.values.iter().zip(&piece.values);
            let product: i64 = pairs.map(|(a, b)| i64::from(*a) * i64::from(*b)).sum();
            let squares = piece.values.iter().map(|v| i64::from(*v) * i64::from(*v));
            let factor = query::inverse_length(squares.sum());
            query.cosine(i32::try_from(product).unwrap(), factor)
        };
        let pieces = &self.records.get(&row)?.1;
        pieces.iter().map(of_piece).max_by(f32::total_cmp)
    }

    fn nearest(&self, query: &Vector, within: &[Range<Row>], k: usize) -> Vec<Near> {
        let rows = self.records.keys().copied();
        let mut all: Vec<Near> = rows
            .filter(|row| within.iter().any(|range| range.contains(row)))
            .filter_map(|row| {
                Some(Near {
                    row,
                    cosine: self.cosine(query, row)?,
                })
            })
            .collect();
        all.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then(b.row.cmp(&a.row)));
        all.truncate(k);
        all
    }
}

#[derive(Debug, Clone)]
enum Step {
    Put(Row, i64, Vec<Bytes8>),
    Remove(Row),
    Load(Row),
    Unload(Row),
}

const WORKSPACES: [Row; 4] = [0, 1, 2, 1 << 14];

/// Near each other, at the edges of a page, and at the end.
const SEQUENCES_TRIED: [Row; 12] = [
    0,
    1,
    2,
    3,
    4,
    200,
    255,
    256,
    257,
    1_000,
    70_000,
    SEQUENCES as Row - 1,
];

fn row() -> impl Strategy<Value = Row> {
    (select(&WORKSPACES[..]), select(&SEQUENCES_TRIED[..]))
        .prop_map(|(workspace, sequence)| workspace << SEQUENCE_BITS | sequence)
}

/// Few different values, so that ties and vectors of zeros come up.
fn piece(dimensions: usize) -> impl Strategy<Value = Bytes8> {
    let few = proptest::collection::vec(-1_i8..=1, dimensions);
    let any = proptest::collection::vec(any::<i8>(), dimensions);
    (prop_oneof![few, any], 0.0_f32..2.0).prop_map(|(values, scale)| Bytes8 {
        scale,
        values: values.into(),
    })
}

fn step(dimensions: usize) -> impl Strategy<Value = Step> {
    let pieces = prop_oneof![
        4 => proptest::collection::vec(piece(dimensions), 1),
        2 => proptest::collection::vec(piece(dimensions), 0..5),
    ];
    prop_oneof![
        12 => (row(), 0_i64..9, pieces).prop_map(|(row, number, pieces)| Step::Put(row, number, pieces)),
        4 => row().prop_map(Step::Remove),
        1 => row().prop_map(Step::Load),
        1 => row().prop_map(Step::Unload),
    ]
}

fn query(dimensions: usize) -> impl Strategy<Value = Vector> {
    let few = proptest::collection::vec((-1_i8..=1).prop_map(f32::from), dimensions);
    let any = proptest::collection::vec(-1.0_f32..1.0, dimensions);
    prop_oneof![few, any].prop_filter_map("no direction", Vector::new)
}

fn ranges() -> impl Strategy<Value = Vec<Range<Row>>> {
    let whole = select(&WORKSPACES[..]).prop_map(whole);
    let any = (row(), row()).prop_map(|(start, end)| start..end);
    let all = Just(0..i64::MAX);
    proptest::collection::vec(prop_oneof![3 => whole, 2 => any, 1 => all], 0..4)
}

fn whole(workspace: Row) -> Range<Row> {
    workspace << SEQUENCE_BITS..(workspace + 1) << SEQUENCE_BITS
}

fn case() -> impl Strategy<Value = (usize, Vec<Step>, Vector)> {
    select(&[1_usize, 3, 70, 256][..]).prop_flat_map(|dimensions| {
        let steps = proptest::collection::vec(step(dimensions), 0..60);
        (Just(dimensions), steps, query(dimensions))
    })
}

fn apply(index: &mut Index, model: &mut Model, step: Step) {
    match step {
        Step::Put(row, number, pieces) => {
            let had = model.records.get(&row).map(|record| record.0);
            let is_newer = had.is_none_or(|had| had < number);
            assert_eq!(index.put(row, number, &pieces), Ok(is_newer));
            if is_newer {
                model.records.insert(row, (number, pieces));
            }
        }
        Step::Remove(row) => {
            assert_eq!(index.remove(row), model.records.remove(&row).is_some());
        }
        Step::Load(row) => {
            index.set_loaded(&(row..row + 1));
            model.loaded.insert(workspace(row));
        }
        Step::Unload(row) => {
            index.unload(&(row..row + 1));
            model.loaded.remove(&workspace(row));
            model
                .records
                .retain(|other, _| workspace(*other) != workspace(row));
        }
    }
}

fn after(dimensions: usize, steps: Vec<Step>) -> (Index, Model) {
    let mut index = Index::new(dimensions);
    let mut model = Model::default();
    for step in steps {
        apply(&mut index, &mut model, step);
    }
    (index, model)
}

proptest! {
    #[test]
    fn after_any_steps_everything_is_as_in_the_model(
        (dimensions, steps, query) in case(),
        within in ranges(),
        k in 0_usize..30,
    ) {
        let (mut index, model) = after(dimensions, steps);
        for (limits, most_inexact) in [(EXACT, 0), (ALL_CODES, 0), (FEW_CODES, FEW.most_records)] {
            index.limits = limits;
            // Few codes are exact too where more is asked for than they are for.
            if k > most_inexact {
                prop_assert_eq!(index.nearest(&query, &within, k), model.nearest(&query, &within, k));
            }
        }
        for workspace in WORKSPACES {
            let range = whole(workspace);
            let n = model.records.range(range.clone()).count();
            prop_assert_eq!(index.n_records(&range), n);
            prop_assert_eq!(index.is_loaded(&range), model.loaded.contains(&workspace));
        }
        for range in &within {
            let n = model.records.keys().filter(|row| range.contains(row)).count();
            prop_assert_eq!(index.n_records(range), n);
        }
        let rows: Vec<Row> = WORKSPACES
            .iter()
            .flat_map(|workspace| SEQUENCES_TRIED.map(|sequence| workspace << SEQUENCE_BITS | sequence))
            .collect();
        let cosines = index.cosines(&query, &rows);
        for (row, cosine) in rows.into_iter().zip(cosines) {
            prop_assert_eq!(index.number_of(row), model.records.get(&row).map(|record| record.0));
            prop_assert_eq!(cosine, model.cosine(&query, row));
            prop_assert!(cosine.is_none_or(|cosine| (-1.0..=1.0).contains(&cosine)));
        }
    }

    #[test]
    fn by_codes_only_what_is_there_and_within_is_found_and_more_never_changes_the_first(
        (dimensions, steps, query) in case(),
        within in ranges(),
    ) {
        let (mut index, model) = after(dimensions, steps);
        index.limits = FEW_CODES;
        let there = model.nearest(&query, &within, usize::MAX);
        let most = index.nearest(&query, &within, FEW.most_records);
        prop_assert_eq!(most.len(), there.len().min(FEW.most_records));
        for near in &most {
            prop_assert!(there.contains(near), "{:?}", near);
        }
        for k in 0..most.len() {
            prop_assert_eq!(&index.nearest(&query, &within, k)[..], &most[..k]);
        }
    }

    #[test]
    fn threads_and_instructions_never_change_an_answer(
        (dimensions, steps, query) in case(),
        within in ranges(),
        k in 0_usize..12,
    ) {
        let (mut index, _) = after(dimensions, steps);
        for limits in [EXACT, ALL_CODES, FEW_CODES] {
            index.limits = Limits { per_thread: 1, ..limits };
            index.isa = Isa::PORTABLE;
            index.n_threads = 1;
            let expected = (index.nearest(&query, &within, k), index.spread(&query, &within));
            for isa in Isa::all() {
                for n_threads in [1, 3] {
                    (index.isa, index.n_threads) = (isa, n_threads);
                    let found = (index.nearest(&query, &within, k), index.spread(&query, &within));
                    prop_assert_eq!(&found, &expected, "{} {}", isa.name(), n_threads);
                }
            }
        }
    }

    #[test]
    fn a_spread_is_finite_and_of_the_records_within(
        (dimensions, steps, query) in case(),
        within in ranges(),
    ) {
        let (index, model) = after(dimensions, steps);
        let found = index.spread(&query, &within);
        let there = model.nearest(&query, &within, usize::MAX);
        prop_assert_eq!(found.n, there.len());
        let mut by_row = there;
        by_row.sort_by_key(|near| near.row);
        let cosines: Vec<f32> = by_row.iter().map(|near| near.cosine).collect();
        prop_assert_eq!(found, Spread::of(&cosines));
        prop_assert!(found.mean.is_finite() && found.deviation >= 0.0);
    }

    #[test]
    fn crowding_is_the_same_on_every_processor_and_finite(
        (dimensions, steps, _) in case(),
        within in ranges(),
    ) {
        let (mut index, model) = after(dimensions, steps);
        let rows: Vec<Row> = model.records.keys().copied().collect();
        let expected = index.crowding(&rows, &within);
        prop_assert!(expected.iter().all(|crowding| crowding.abs() <= 2.0), "{expected:?}");
        for isa in Isa::all() {
            index.isa = isa;
            prop_assert_eq!(&index.crowding(&rows, &within), &expected, "{}", isa.name());
        }
    }

    #[test]
    fn a_cosine_is_near_to_that_of_the_numbers_given(
        (a, b) in (1_usize..500).prop_flat_map(|dimensions| (query(dimensions), query(dimensions))),
    ) {
        let mut index = Index::new(a.values().len());
        index.put(1, 1, &[b.to_bytes()]).unwrap();
        let found = index.cosines(&a, &[1])[0].unwrap();
        prop_assert!((found - a.cosine(&b)).abs() < 0.01, "{} {}", found, a.cosine(&b));
    }

    #[test]
    fn every_kind_of_instructions_finds_the_same_distances_and_products(
        codes in proptest::collection::vec(any::<[u64; kernel::LANES]>(), 0..40),
        values in proptest::collection::vec(any::<i8>(), 0..900),
        asked in proptest::collection::vec(any::<u64>(), 0..20),
        numbers in proptest::collection::vec(-20_000_i16..20_000, 1..300),
    ) {
        let groups = codes.len() / asked.len().max(1);
        let plain: Vec<[u32; kernel::LANES]> = codes
            .chunks_exact(asked.len().max(1))
            .map(|group| std::array::from_fn(|lane| {
                asked.iter().zip(group).map(|(a, b)| (a ^ b[lane]).count_ones()).sum()
            }))
            .collect();
        let products: Vec<i32> = values
            .chunks_exact(numbers.len())
            .map(|v| v.iter().zip(&numbers).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum())
            .collect();
        for isa in Isa::all() {
            let mut distances = vec![[7; kernel::LANES]; groups];
            isa.run(kernel::Distances { query: &asked, codes: &codes, distances: &mut distances });
            prop_assert_eq!(&distances, &plain, "{}", isa.name());
            let mut found = Vec::new();
            let vectors = values.chunks_exact(numbers.len());
            isa.run(Products { query: &numbers, vectors, products: &mut found });
            prop_assert_eq!(&found, &products, "{}", isa.name());
        }
    }
}

/// Numbers that look like chance and are the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Four bytes added up: near enough to a normal distribution, of deviation 1.
    fn normal(&mut self) -> f32 {
        let bytes = (self.next() as u32).to_le_bytes();
        (bytes.iter().map(|byte| f32::from(*byte)).sum::<f32>() - 510.0) / 147.8
    }

    fn direction(&mut self, dimensions: usize) -> Vec<f32> {
        (0..dimensions).map(|_| self.normal()).collect()
    }

    fn near(&mut self, to: &[f32], noise: f32) -> Vector {
        let values = to.iter().map(|v| v + noise * self.normal()).collect();
        Vector::new(values).unwrap()
    }
}

#[test]
fn across_many_blocks_nothing_is_lost_or_found_twice() {
    const N: Row = 9_500;
    let mut numbers = Numbers(1);
    let (mut index, mut model) = (Index::new(3), Model::default());
    let mut pieces = |n: u64| -> Vec<Bytes8> {
        (0..n)
            .map(|_| Vector::new(numbers.direction(3)).unwrap().to_bytes())
            .collect()
    };
    for row in 0..N {
        apply(
            &mut index,
            &mut model,
            Step::Put(row, row, pieces(1 + row as u64 % 7 / 6)),
        );
    }
    let full = index.n_bytes();
    for row in (0..N).filter(|row| row * 2_654_435_761 % 5 < 3) {
        apply(&mut index, &mut model, Step::Remove(row));
    }
    assert!(
        index.n_bytes() < full * 4 / 5,
        "{} of {full}",
        index.n_bytes()
    );
    for row in (0..N).filter(|row| row % 11 == 0) {
        apply(
            &mut index,
            &mut model,
            Step::Put(row, N + row, pieces(row as u64 % 4)),
        );
    }
    for (start, end) in [(0, N), (100, 9_000), (4_095, 4_097)] {
        for limits in [EXACT, ALL_CODES] {
            index.limits = Limits {
                per_thread: 1_000,
                ..limits
            };
            index.n_threads = 2;
            let asked = Vector::new(vec![0.3, -0.2, 0.9]).unwrap();
            let found = index.nearest(&asked, &[start..end], N as usize);
            assert!(
                found == model.nearest(&asked, &[start..end], N as usize),
                "{start} {end}"
            );
        }
    }
}

#[test]
fn of_many_records_nearly_all_of_the_nearest_are_found() {
    const DIMENSIONS: usize = 384;
    const N: Row = 24_000;
    let mut numbers = Numbers(2);
    // Subjects and, in each, matters that are nearer to each other.
    let subjects: Vec<Vec<f32>> = (0..20).map(|_| numbers.direction(DIMENSIONS)).collect();
    let mut centres = Vec::new();
    for nth in 0..400 {
        let matter = numbers.near(&subjects[nth % subjects.len()], 1.0);
        centres.push(
            matter
                .values()
                .iter()
                .map(|v| v * (DIMENSIONS as f32).sqrt())
                .collect::<Vec<f32>>(),
        );
    }
    let mut index = Index::new(DIMENSIONS);
    for row in 0..N {
        let centre = &centres[numbers.next() as usize % centres.len()];
        let vector = numbers.near(centre, 1.0);
        index.put(row, row, &[vector.to_bytes()]).unwrap();
    }
    assert!(index.n_records(&(0..N)) > Limits::USUAL.by_codes.unwrap().exact);
    let (mut found, mut asked) = (0, 0);
    for centre in &centres[..20] {
        let query = numbers.near(centre, 1.0);
        index.limits = EXACT;
        let expected = index.nearest(&query, &[0..N], 100);
        index.limits = Limits::USUAL;
        let near = index.nearest(&query, &[0..N], 100);
        found += near.iter().filter(|near| expected.contains(near)).count();
        asked += expected.len();
        assert_eq!(near[..10], index.nearest(&query, &[0..N], 10));
        assert_eq!(near[..10], expected[..10]);
    }
    assert!(found * 100 >= asked * 98, "{found} of {asked}");
}

#[test]
fn codes_of_one_long_record_do_not_hide_the_others() {
    let mut index = Index::new(2);
    index.limits = FEW_CODES;
    let piece = |x, y| Vector::new(vec![x, y]).unwrap().to_bytes();
    let pieces: Vec<Bytes8> = (0_u8..50)
        .map(|n| piece(1.0, 0.01 * f32::from(n + 1)))
        .collect();
    index.put(1, 1, &pieces).unwrap();
    for row in 2..12 {
        index.put(row, 1, &[piece(-1.0, row as f32)]).unwrap();
    }
    let query = Vector::new(vec![1.0, 0.1]).unwrap();
    let rows: Vec<Row> = index
        .nearest(&query, &[0..99], 4)
        .iter()
        .map(|near| near.row)
        .collect();
    assert_eq!(rows, [1, 11, 10, 9]);
}

#[test]
fn the_usual_limits_fit_each_other() {
    let limits = Limits::USUAL.by_codes.unwrap();
    // Or the nearest codes might be of fewer records than are asked for.
    assert!(limits.least >= limits.most_records);
    assert!(limits.exact >= limits.least);
    let looked_at = [20_000, 100_000, 200_000, 300_000, 1_000_000].map(|n| limits.looked_at(n));
    assert_eq!(looked_at, [1_000, 1_041, 2_083, 3_000, 7_812]);
}

#[test]
fn a_long_record_is_as_near_as_its_nearest_piece() {
    let mut index = Index::new(2);
    let piece = |x, y| Vector::new(vec![x, y]).unwrap().to_bytes();
    index
        .put(1, 1, &[piece(0.0, 1.0), piece(1.0, 0.0), piece(-1.0, 0.0)])
        .unwrap();
    index.put(2, 2, &[piece(1.0, 1.0)]).unwrap();
    index.put(3, 3, &[]).unwrap();
    let query = Vector::new(vec![1.0, 0.0]).unwrap();
    let found = index.nearest(&query, &[0..10], 10);
    assert_eq!(
        found.iter().map(|near| near.row).collect::<Vec<_>>(),
        [1, 2]
    );
    let cosines = index.cosines(&query, &[3, 2, 1, 4]);
    assert_eq!(
        cosines,
        [None, Some(found[1].cosine), Some(found[0].cosine), None]
    );
}

#[test]
fn of_equally_near_records_the_latest_is_first() {
    let mut index = Index::new(2);
    let query = Vector::new(vec![1.0, 2.0]).unwrap();
    for row in [4, 9, 2] {
        index.put(row, row, &[query.to_bytes()]).unwrap();
    }
    let rows: Vec<Row> = index
        .nearest(&query, &[0..10], 2)
        .iter()
        .map(|near| near.row)
        .collect();
    assert_eq!(rows, [9, 4]);
}

#[test]
fn a_vector_of_another_model_is_refused_and_none_is_asked_for() {
    let mut index = Index::new(3);
    let other = Vector::new(vec![1.0, 2.0]).unwrap();
    let right = Vector::new(vec![1.0, 2.0, 3.0]).unwrap();
    index.put(1, 1, &[right.to_bytes()]).unwrap();
    let told = index
        .put(1, 2, &[right.to_bytes(), other.to_bytes()])
        .unwrap_err();
    assert_eq!(
        told,
        OtherDimensions {
            found: 2,
            expected: 3
        }
    );
    assert_eq!(index.number_of(1), Some(1));
    assert_eq!(index.nearest(&other, &[0..9], 5), []);
    assert_eq!(index.cosines(&other, &[1]), [None]);
    assert_eq!(index.spread(&other, &[0..9]), Spread::default());
}

#[test]
fn an_empty_workspace_that_was_loaded_is_not_one_that_never_was() {
    let mut index = Index::new(3);
    assert!(!index.is_loaded(&whole(1)));
    index.set_loaded(&whole(1));
    assert!(index.is_loaded(&whole(1)) && !index.is_loaded(&whole(0)));
    index.put(whole(0).start, 1, &[]).unwrap();
    assert!(!index.is_loaded(&whole(0)));
    index.unload(&whole(1));
    assert!(!index.is_loaded(&whole(1)));
}

#[test]
fn a_spread_of_many_records_looks_at_some_of_them() {
    let mut index = Index::new(2);
    for row in 0..10_000 {
        let vector = Vector::new(vec![1.0, (row % 100) as f32 / 50.0]).unwrap();
        let pieces = [vector.to_bytes()];
        index
            .put(row, row, &pieces[..usize::from(row % 3 > 0)])
            .unwrap();
    }
    let query = Vector::new(vec![1.0, 0.0]).unwrap();
    let sampled = index.spread(&query, &[0..4_000, 3_000..10_000]);
    let rows: Vec<Row> = (0..10_000).collect();
    let all: Vec<f32> = index.cosines(&query, &rows).into_iter().flatten().collect();
    let exact = Spread::of(&all);
    assert_eq!((sampled.n, exact.n), (256, 6_666));
    assert!(
        (sampled.mean - exact.mean).abs() < 0.02,
        "{sampled:?} {exact:?}"
    );
    assert!(
        (sampled.deviation - exact.deviation).abs() < 0.02,
        "{sampled:?} {exact:?}"
    );
}

#[test]
fn it_is_crowded_around_what_has_near_neighbours_and_not_around_what_stands_apart() {
    let dimensions = 64;
    let axis = |at: usize, beside: usize| {
        let value = |nth| if nth % 32 == at { 1.0 } else { -0.01 };
        let mut values: Vec<f32> = (0..dimensions).map(value).collect();
        values[beside] += 0.5;
        Vector::new(values).unwrap().to_bytes()
    };
    let mut index = Index::new(dimensions);
    for row in 0..60 {
        let piece = axis(0, row as usize);
        index.put(row, row, &[piece]).unwrap();
    }
    let mut apart = vec![1.0; dimensions];
    apart[0] = -1.0;
    let apart = Vector::new(apart).unwrap().to_bytes();
    index.put(60, 60, &[apart]).unwrap();
    index.put(61, 61, &[]).unwrap();
    let crowding = index.crowding(&[5, 60, 61, 99], &[0..100]);
    assert!(crowding[0] > crowding[1] + 0.5, "{crowding:?}");
    assert_eq!(crowding[2..], [0.0, 0.0]);
    assert_eq!(index.crowding(&[5], &[200..300]), [0.0]);
}
