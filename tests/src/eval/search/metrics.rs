//! How good one ranking is: recall, the reciprocal rank, and the discounted gain, each from 0 to 1.

use std::collections::HashSet;

/// The depths at which recall is counted.
pub(crate) const DEPTHS: [usize; 3] = [1, 5, 10];

/// What one question came to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Scores {
    /// The share of the gold that was found, at each of [`DEPTHS`].
    pub(crate) recall: [f64; 3],
    /// 1 if any of the gold was found.
    pub(crate) any: [f64; 3],
    /// 1 if all of the gold was found.
    pub(crate) all: [f64; 3],
    /// One by the place of the first gold; 0 if there is none.
    pub(crate) mrr: f64,
    /// The gain of the first ten, discounted by place, against the best order.
    pub(crate) ndcg: f64,
}

/// Scores a ranking, best first, against the records that answer the question. A record that comes
/// twice counts at its first place. Without gold everything is 0.
pub(crate) fn score(ranked: &[usize], gold: &HashSet<usize>) -> Scores {
    let mut scores = Scores::default();
    if gold.is_empty() {
        return scores;
    }
    let mut seen = HashSet::new();
    let distinct = ranked.iter().filter(|record| seen.insert(**record));
    let places: Vec<usize> = distinct
        .enumerate()
        .filter(|(_, record)| gold.contains(record))
        .map(|(place, _)| place)
        .collect();
    for (nth, depth) in DEPTHS.into_iter().enumerate() {
        let found = places.iter().filter(|place| **place < depth).count();
        scores.recall[nth] = found as f64 / gold.len() as f64;
        scores.any[nth] = f64::from(u8::from(found > 0));
        scores.all[nth] = f64::from(u8::from(found == gold.len()));
    }
    scores.mrr = places
        .first()
        .map_or(0.0, |place| 1.0 / (*place + 1) as f64);
    let gain = |place: usize| 1.0 / ((place + 2) as f64).log2();
    let reached: f64 = places
        .iter()
        .filter(|place| **place < 10)
        .map(|place| gain(*place))
        .sum();
    let best: f64 = (0..gold.len().min(10)).map(gain).sum();
    scores.ndcg = (reached / best).min(1.0);
    scores
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-4, "{found} is not {wanted}");
    }

    fn gold(records: &[usize]) -> HashSet<usize> {
        records.iter().copied().collect()
    }

    #[test]
    fn one_of_two_at_the_second_place_by_hand() {
        let scores = score(&[7, 3, 9], &gold(&[3, 4]));
        assert_eq!(scores.recall, [0.0, 0.5, 0.5]);
        assert_eq!(scores.any, [0.0, 1.0, 1.0]);
        assert_eq!(scores.all, [0.0; 3]);
        close(scores.mrr, 0.5);
        // 1/log2(3) against 1 + 1/log2(3).
        close(scores.ndcg, 0.630_93 / 1.630_93);
    }

    #[test]
    fn places_behind_the_tenth_count_for_the_reciprocal_rank_alone() {
        let ranked: Vec<usize> = (0..20).collect();
        let scores = score(&ranked, &gold(&[10]));
        assert_eq!((scores.recall[2], scores.ndcg), (0.0, 0.0));
        close(scores.mrr, 1.0 / 11.0);
    }

    #[test]
    fn nothing_found_and_nothing_to_find_are_zero() {
        assert_eq!(score(&[], &gold(&[1])), Scores::default());
        assert_eq!(score(&[1], &gold(&[])), Scores::default());
    }

    #[test]
    fn a_record_that_comes_twice_counts_once() {
        assert_eq!(
            score(&[1, 1, 2], &gold(&[1, 2])),
            score(&[1, 2], &gold(&[1, 2]))
        );
    }

    proptest! {
        #[test]
        fn every_score_lies_between_zero_and_one(
            ranked in prop::collection::vec(0_usize..60, 0..60),
            gold in prop::collection::hash_set(0_usize..60, 0..15),
        ) {
            let scores = score(&ranked, &gold);
            let all = [scores.recall, scores.any, scores.all].concat();
            for value in all.into_iter().chain([scores.mrr, scores.ndcg]) {
                prop_assert!((0.0..=1.0).contains(&value));
            }
            for nth in 0..3 {
                prop_assert!(scores.all[nth] <= scores.recall[nth] && scores.recall[nth] <= scores.any[nth]);
            }
        }

        #[test]
        fn a_perfect_ranking_comes_to_one(n_gold in 1_usize..10, n_others in 0_usize..20) {
            let ranked: Vec<usize> = (0..n_gold + n_others).collect();
            let scores = score(&ranked, &(0..n_gold).collect());
            prop_assert_eq!((scores.mrr, scores.recall[2], scores.all[2]), (1.0, 1.0, 1.0));
            prop_assert!((scores.ndcg - 1.0).abs() < 1e-12);
        }
    }
}
