//! How matches become one order.
//!
//! Words are scored with BM25 over statistics of the reader's own project, so that nothing that
//! they can't see moves a score. Every part of a score lies between 0 and 1; ties go to what
//! arrived later. Meaning has its place in [`Parts`] and is filled by its own index.

/// BM25's saturation of repeated words.
pub const BM25_K1: f64 = 1.2;
/// BM25's normalisation by length.
pub const BM25_B: f64 = 0.75;
/// A match that covers less than this part of the best match's weight is left out: it shares only
/// everyday words with the query.
pub const MIN_COVERAGE: f64 = 0.4;

/// Returns the weight of a word that `n_having` of `n_documents` have; rare words weigh more.
/// Never negative.
#[must_use]
pub fn idf(n_documents: u64, n_having: u64) -> f64 {
    #[allow(
        clippy::cast_precision_loss,
        reason = "counts of records are far below 2^52"
    )]
    let (all, having) = (n_documents.max(n_having) as f64, n_having as f64);
    (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
}

/// Returns what one word adds to a document's BM25 score.
///
/// `n_times` is how often the document has it, `length` and `mean_length` are in words.
#[must_use]
pub fn bm25(weight: f64, n_times: u32, length: u32, mean_length: f64) -> f64 {
    if n_times == 0 {
        return 0.0;
    }
    let times = f64::from(n_times);
    let relative = if mean_length > 0.0 {
        f64::from(length) / mean_length
    } else {
        1.0
    };
    weight * times * (BM25_K1 + 1.0) / (times + BM25_K1 * (1.0 - BM25_B + BM25_B * relative))
}

/// Returns the highest BM25 score that a query of these word weights could reach.
#[must_use]
pub fn max_bm25(weights: impl Iterator<Item = f64>) -> f64 {
    (BM25_K1 + 1.0) * weights.sum::<f64>()
}

/// The parts of a score, each between 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Parts {
    /// How well the words match: BM25 against the highest that the query could reach.
    pub lexical: Option<f64>,
    /// How near the meaning is.
    pub semantic: Option<f64>,
}

/// Returns the score of a match: what its parts come to, between 0 and 1.
#[must_use]
pub fn score(parts: &Parts) -> f64 {
    let score = match (parts.lexical, parts.semantic) {
        (Some(lexical), Some(semantic)) => f64::midpoint(lexical, semantic),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => 0.0,
    };
    score.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rare_words_weigh_more() {
        assert!(idf(1000, 1) > idf(1000, 10));
        assert!(idf(1000, 10) > idf(1000, 1000));
        assert!(idf(0, 0) > 0.0);
    }

    proptest! {
        #[test]
        fn a_lexical_score_lies_between_zero_and_one_for_any_query(
            words in prop::collection::vec((0_u64..5_000, 0_u32..60), 1..200),
            length in 0_u32..4_000,
            mean_length in 0.0_f64..500.0,
        ) {
            let weights: Vec<f64> = words.iter().map(|(having, _)| idf(5_000, *having)).collect();
            let reached: f64 = words.iter().zip(&weights).map(|((_, n), w)| bm25(*w, *n, length, mean_length)).sum();
            let lexical = reached / max_bm25(weights.into_iter());
            prop_assert!((0.0..=1.0).contains(&lexical), "{lexical}");
        }

        #[test]
        fn the_score_lies_between_zero_and_one(lexical in prop::option::of(0.0_f64..=1.0), semantic in prop::option::of(0.0_f64..=1.0)) {
            let score = score(&Parts { lexical, semantic });
            prop_assert!((0.0..=1.0).contains(&score), "{score}");
        }
    }
}
