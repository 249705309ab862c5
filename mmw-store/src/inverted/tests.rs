//! The words in memory against a plain model: every record is looked at.

#![expect(
    clippy::single_range_in_vec_init,
    reason = "the range of a workspace is what is asked for"
)]

use std::collections::BTreeMap;

use mmw_core::rank::{MAX_TIMES, bm25, length_norm};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;

const MEAN_LENGTH: f64 = 7.0;
const PLACES: [Row; 2] = [
    5 << SEQUENCE_BITS,
    (5 << SEQUENCE_BITS) + (1 << SEQUENCE_BITS),
];

#[derive(Default)]
struct Model {
    records: BTreeMap<Row, LexicalDoc>,
}

impl Model {
    fn times(&self, row: Row, word: TermId) -> u16 {
        let counts = &self.records[&row].counts;
        let found = counts.iter().find(|(term, _)| *term == word);
        found.map_or(0, |(_, times)| (*times).min(MAX_TIMES))
    }

    fn reached(&self, row: Row, words: &[TermId], sought: &[Sought]) -> Reached {
        let norm = length_norm(f64::from(self.records[&row].length), MEAN_LENGTH);
        let mut reached = Reached {
            row,
            bm25: 0.0,
            has: 0,
        };
        for (nth, (word, sought)) in words.iter().zip(sought).enumerate() {
            let times = self.times(row, *word);
            if times > 0 {
                reached.bm25 += bm25(sought.weight, f64::from(times), norm);
                reached.has |= 1 << nth;
            }
        }
        reached
    }

    fn within(&self, within: &[Range<Row>]) -> Vec<Row> {
        let rows = self.records.keys().copied();
        rows.filter(|row| within.iter().any(|range| range.contains(row)))
            .collect()
    }
}

/// Few words, so that they meet; some occur more often than is counted.
fn doc() -> impl Strategy<Value = LexicalDoc> {
    let counts = prop::collection::btree_map(0_u32..12, select(vec![1_u16, 1, 2, 31, 40]), 0..6);
    (counts, 0_u32..400).prop_map(|(counts, length)| LexicalDoc {
        text: String::new(),
        counts: counts.into_iter().collect(),
        length,
    })
}

#[derive(Debug, Clone)]
enum Step {
    Add(usize, u32, LexicalDoc),
    Remove(Index),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..PLACES.len(), 1_u32..4, doc()).prop_map(|(place, gap, doc)| Step::Add(place, gap, doc)),
        1 => any::<Index>().prop_map(Step::Remove),
    ]
}

/// Builds both workspaces, the first some of their records through a builder that settles now and then.
fn built(
    first: &[(usize, u32, LexicalDoc)],
    steps: &[Step],
) -> (Inverted, Model, [Row; PLACES.len()]) {
    let mut next = PLACES;
    let mut model = Model::default();
    let mut builders = PLACES.map(|_| Builder::default());
    for (nth, (place, gap, doc)) in first.iter().enumerate() {
        let row = next[*place] + Row::from(*gap);
        next[*place] = row + 1;
        builders[*place].add(row, doc);
        model.records.insert(row, doc.clone());
        if nth % 3 == 0 {
            builders[*place].settle();
        }
    }
    let mut inverted = Inverted::default();
    for (place, builder) in PLACES.into_iter().zip(builders) {
        inverted.put(place, builder);
    }
    for step in steps {
        match step {
            Step::Add(place, gap, doc) => {
                let row = next[*place] + Row::from(*gap);
                next[*place] = row + 1;
                assert!(inverted.add(row, doc));
                assert!(!inverted.add(row, doc), "a record is added once");
                model.records.insert(row, doc.clone());
            }
            Step::Remove(which) => {
                let rows: Vec<Row> = model.records.keys().copied().collect();
                if !rows.is_empty() {
                    let row = rows[which.index(rows.len())];
                    inverted.remove(&[row, row]);
                    assert!(!inverted.knows(row));
                    model.records.remove(&row);
                }
            }
        }
    }
    (inverted, model, next)
}

fn sorted(mut found: Vec<Reached>) -> Vec<Reached> {
    found.sort_by_key(|reached| reached.row);
    found
}

proptest! {
    #[test]
    fn what_is_found_is_what_a_look_at_every_record_finds(
        first in prop::collection::vec((0..PLACES.len(), 1_u32..4, doc()), 0..60),
        steps in prop::collection::vec(step(), 0..300),
        words in prop::collection::vec(0_u32..14, 1..6),
        ends in prop::array::uniform2(any::<Index>()),
        most in 0_usize..40,
    ) {
        let (inverted, model, next) = built(&first, &steps);
        let within: Vec<Range<Row>> = PLACES
            .iter()
            .zip(next)
            .zip(ends)
            .map(|((first, next), end)| {
                let length = usize::try_from(next - first).unwrap();
                *first..first + Row::try_from(end.index(length + 1)).unwrap()
            })
            .collect();
        let rows = model.within(&within);
        let found = inverted.look_up(&words, &within);
        for (nth, word) in words.iter().enumerate() {
            let having = rows.iter().filter(|row| model.times(**row, *word) > 0).count();
            prop_assert_eq!(found.n_having(nth), having as u64);
        }

        let mut asked = rows.clone();
        asked.extend([PLACES[0] + 5_000, 7]);
        asked.reverse();
        let counted = found.count(&asked);
        let expected: Vec<(Row, Counted)> = rows
            .iter()
            .map(|row| {
                let times = words.iter().map(|word| model.times(*row, *word)).collect();
                (*row, Counted { length: model.records[row].length, times })
            })
            .collect();
        prop_assert_eq!(counted, expected);

        let sought: Vec<Sought> = (1..=words.len())
            .map(|nth| Sought { weight: nth as f64, most: usize::MAX })
            .collect();
        let worth = |has: u32, bm25: f64| bm25 * f64::from(has.count_ones());
        let is_wanted = |row: Row| row % 5 != 0;
        let keep = Keep { most, worth, is_wanted };
        let (best, is_more) = found.best(&sought, MEAN_LENGTH, &keep);
        let mut expected: Vec<Reached> = rows
            .iter()
            .map(|row| model.reached(*row, &words, &sought))
            .filter(|reached| reached.has != 0 && is_wanted(reached.row))
            .collect();
        expected.sort_by(|a, b| {
            let (a_worth, b_worth) = (worth(a.has, a.bm25), worth(b.has, b.bm25));
            b_worth.total_cmp(&a_worth).then(b.row.cmp(&a.row))
        });
        prop_assert_eq!(is_more, expected.len() > most);
        expected.truncate(most);
        prop_assert_eq!(sorted(best), sorted(expected));
    }
}

fn plain(words: &[(TermId, u16)]) -> LexicalDoc {
    LexicalDoc {
        text: String::new(),
        counts: words.to_vec(),
        length: 5,
    }
}

/// Everything that is found is kept.
fn all(found: &Found<'_>, most: &[usize]) -> Vec<Row> {
    let sought: Vec<Sought> = most
        .iter()
        .map(|most| Sought {
            weight: 1.0,
            most: *most,
        })
        .collect();
    let keep = Keep {
        most: usize::MAX / 2,
        worth: |_, bm25| bm25,
        is_wanted: |_| true,
    };
    let (best, _) = found.best(&sought, MEAN_LENGTH, &keep);
    sorted(best)
        .into_iter()
        .map(|reached| reached.row)
        .collect()
}

#[test]
fn many_additions_and_removals_are_merged_and_nothing_is_lost() {
    let mut inverted = Inverted::default();
    inverted.put(0, Builder::default());
    // More postings than are kept beside the lists, over many blocks.
    let n_records: Row = 20_000;
    for row in 0..n_records {
        let many = [(1, 1), (100 + (row % 7) as u32, 2)];
        assert!(inverted.add(row, &plain(&many)));
    }
    let gone: Vec<Row> = (0..n_records).step_by(3).collect();
    let (one_by_one, at_once) = gone.split_at(90);
    for row in one_by_one {
        inverted.remove(&[*row]);
    }
    inverted.remove(at_once);
    let within = [0..n_records];
    let found = inverted.look_up(&[1, 103], &within);
    let alive: Vec<Row> = (0..n_records).filter(|row| row % 3 != 0).collect();
    assert_eq!(found.n_having(0), alive.len() as u64);
    let having: Vec<Row> = alive.iter().copied().filter(|row| row % 7 == 3).collect();
    assert_eq!(found.n_having(1), having.len() as u64);
    assert_eq!(all(&found, &[usize::MAX, 0]), alive);
    assert_eq!(all(&found, &[0, usize::MAX]), having);
    let newest = &alive[alive.len() - 50..];
    let some = all(&found, &[75, 0]);
    assert!(some.len() <= 75 && some.ends_with(newest), "{some:?}");
    assert!(inverted.n_bytes() < 600_000, "{}", inverted.n_bytes());
}

#[test]
fn a_workspace_that_is_not_here_has_no_words() {
    let mut inverted = Inverted::default();
    assert!(!inverted.add(7, &plain(&[(1, 1)])));
    inverted.remove(&[7]);
    inverted.put(7, Builder::default());
    assert!(inverted.is_loaded(7) && inverted.add(7, &plain(&[(1, 1)])));
    assert!(inverted.knows(7) && !inverted.knows(6) && !inverted.knows(8));
    let (here, elsewhere) = (0..9, PLACES[0]..PLACES[0] + 9);
    let found = inverted.look_up(&[1], &[elsewhere, here.clone(), 3..3]);
    assert_eq!(all(&found, &[usize::MAX]), [7]);
    inverted.unload(7);
    assert!(!inverted.is_loaded(7));
    assert!(all(&inverted.look_up(&[1], &[here]), &[usize::MAX]).is_empty());
}
