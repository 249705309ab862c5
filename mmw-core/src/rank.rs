//! How matches become one order.
//!
//! Words are scored with BM25 over statistics of the reader's own project, so that nothing that
//! they can't see moves a score. Meaning is a cosine, measured in deviations of the cosines of all
//! records of the same places. Everything here is a pure function of numbers, so that an evaluation can
//! try other rules on recorded matches.

/// BM25's saturation of repeated words.
pub const BM25_K1: f64 = 1.2;
/// BM25's normalisation by length.
pub const BM25_B: f64 = 0.5;
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

/// The most times that a word counts in one record: beyond it BM25 hardly moves, and so a count fits in
/// five bits.
pub const MAX_TIMES: u16 = 31;

/// Returns what the length of a record does to its words, in occurrences: 1.2 for one of mean length, more
/// for a longer one. Both lengths are in words.
#[must_use]
pub fn length_norm(length: f64, mean_length: f64) -> f64 {
    let relative = if mean_length > 0.0 {
        length / mean_length
    } else {
        1.0
    };
    BM25_K1 * (1.0 - BM25_B + BM25_B * relative)
}

/// Returns what one word adds to a record's BM25 score.
///
/// `n_times` is how often the record has it, `norm` its [`length_norm`]; what counts in part makes fractions
/// of both.
#[must_use]
pub fn bm25(weight: f64, n_times: f64, norm: f64) -> f64 {
    if n_times <= 0.0 {
        return 0.0;
    }
    weight * n_times * (BM25_K1 + 1.0) / (n_times + norm)
}

/// Returns the highest BM25 score that a query of these word weights could reach.
#[must_use]
pub fn max_bm25(weights: impl Iterator<Item = f64>) -> f64 {
    (BM25_K1 + 1.0) * weights.sum::<f64>()
}

/// How much a full match by words weighs against one by meaning: as much as that many deviations of the
/// cosines of all records. Chosen on the development sets, see `docs/evaluation.md`.
pub const LEXICAL_WEIGHT: f64 = 16.0;
/// How much a record weighs for having all names of the query, in the same measure. Chosen so that who
/// asks for an identifier gets that one first.
pub const NAME_WEIGHT: f64 = 3.0;
/// The least deviation that cosines are measured in: those of a handful of records say little.
pub const MIN_DEVIATION: f64 = 0.05;

/// How the cosines between a query and all records lie. A sample of them is enough.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spread {
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation.
    pub deviation: f64,
    /// How many records there are; that many more are near by chance.
    pub n_records: u64,
}

impl Spread {
    /// Returns by how many deviations a cosine lies above the mean.
    #[must_use]
    pub fn z(&self, cosine: f64) -> f64 {
        (cosine - self.mean) / self.deviation.max(MIN_DEVIATION)
    }
}

/// What part of the crowd around a record is taken from its cosines.
const CROWDED_SHARE: f64 = 1.0 / 3.0;

/// Returns a cosine to a query without what the record owes to being near to everything: `crowding` is how
/// much nearer its neighbours are to it than those of others are to them, in cosines.
///
/// In a space of many dimensions some records are among the nearest of many queries, whatever is asked. A
/// record in a crowd has to be nearer than one that stands apart to say as much. It moves places only:
/// how strong a match is goes by the cosine itself, since what nobody asked for has no neighbours either.
fn uncrowded(cosine: f64, crowding: f64) -> f64 {
    cosine - CROWDED_SHARE * crowding
}

/// What is known of how a record matches a query.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// How well the words match, 0 to 1: BM25 against the highest that the query could reach.
    pub lexical: f64,
    /// How much of the query's weight the record's words have, 0 to 1.
    pub covered: f64,
    /// How much of the weight of those names of the query that any record has, 0 to 1; 0 if the query
    /// names nothing. A name is an identifier, a `camelCase` word, or one of letters and digits.
    pub named: f64,
    /// How near the meaning is, -1 to 1; nothing if it is not known.
    pub cosine: Option<f64>,
    /// How much more crowded it is around the record than usual, in cosines: what of its nearness it owes to
    /// being near to everything.
    pub crowding: f64,
}

/// Returns what a match is worth beside others of the same query: by words and meaning together, or by
/// words alone without a spread. A record whose meaning is not known counts as an average one.
///
/// What matches one everyday word of many is mostly noise, what matches most of a query rarely is: so
/// a match by words counts with how much of the query it covers.
///
/// Neither ranks nor the least and the highest of the candidates matter, so that what else is found
/// moves no match past another.
#[must_use]
pub fn fused(evidence: &Evidence, spread: Option<&Spread>) -> f64 {
    let semantic = match (spread, evidence.cosine) {
        (Some(spread), Some(cosine)) => spread.z(uncrowded(cosine, evidence.crowding)),
        _ => 0.0,
    };
    words_worth(evidence.lexical, evidence.covered, evidence.named) + semantic
}

/// Returns what a match is worth by its words alone, each from 0 to 1: see [`Evidence`]. It rises evenly with
/// `lexical`.
#[must_use]
pub fn words_worth(lexical: f64, covered: f64, named: f64) -> f64 {
    LEXICAL_WEIGHT * lexical * covered + NAME_WEIGHT * named
}

/// How much a record with all names of the query is stronger than one without, in cosines.
const NAME_STRENGTH: f64 = 0.2;
/// A weaker match is none.
const MIN_STRENGTH: f64 = 0.1;
/// A match weaker than this part of the best one's strength is none either,
const MIN_SHARE: f64 = 0.4;
/// but for one that is as strong as this in itself.
const ALWAYS_STRONG: f64 = 0.25;

/// Returns how strong a match is in itself, whatever else there is: comparable between queries.
#[must_use]
pub fn strength(evidence: &Evidence) -> f64 {
    let lexical = evidence.lexical * evidence.covered;
    evidence.cosine.unwrap_or(0.0) + lexical + NAME_STRENGTH * evidence.named
}

/// Tells whether a match is one at all, beside the strongest of its query.
#[must_use]
pub fn is_match(strength: f64, strongest: f64) -> bool {
    strength >= MIN_STRENGTH && (strength >= MIN_SHARE * strongest || strength >= ALWAYS_STRONG)
}

/// The strength at which the best match is as likely right as wrong, by meaning and words.
const MIDDLE: f64 = 0.18;
/// The same by words alone.
const MIDDLE_OF_WORDS: f64 = 0.1;
/// How much of the mean cosine is no merit of a match.
const MEAN_SHARE: f64 = 0.7;
/// How many records it takes to believe their mean.
const MEAN_AFTER: f64 = 8.0;
/// By how much the best of `n` unrelated records is nearer than one, for each `ln n`.
const BY_CHANCE: f64 = 0.02;
/// What one deviation of worth below the best match takes from the strength.
const STRENGTH_OF_WORTH: f64 = 0.02;
/// By how much the strongest match must miss the middle for there to be nothing.
const HOPELESS: f64 = -0.15;
/// How fast a likely match becomes an unlikely one.
const STEEPNESS: f64 = 0.08;

/// What the matches of one query are measured by, to give the score that a reader sees. Its constants
/// are from questions about topics that are and that are not in memory, see `docs/evaluation.md`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    confidence: f64,
    best_worth: f64,
}

impl Scale {
    /// Returns the scale of a query by its strongest and its best match.
    #[must_use]
    pub fn new(strongest: f64, best_worth: f64, spread: Option<&Spread>) -> Self {
        let confidence = match spread {
            None => strongest - MIDDLE_OF_WORDS,
            Some(spread) => {
                #[allow(
                    clippy::cast_precision_loss,
                    reason = "counts of records are far below 2^52"
                )]
                let n = spread.n_records.max(1) as f64;
                let mean = spread.mean * n / (n + MEAN_AFTER);
                strongest - MEAN_SHARE * mean - BY_CHANCE * n.ln() - MIDDLE
            }
        };
        Self {
            confidence,
            best_worth,
        }
    }

    /// Tells whether what was asked for is so surely not in memory that what is merely nearest says
    /// nothing.
    #[must_use]
    pub fn is_hopeless(&self) -> bool {
        self.confidence < HOPELESS
    }

    /// Returns the score of a match, between 0 and 1: from one half on it is likely right. Within a query
    /// it rises with the worth.
    #[must_use]
    pub fn score(&self, worth: f64) -> f64 {
        let behind = STRENGTH_OF_WORTH * (self.best_worth - worth);
        1.0 / (1.0 + (-(self.confidence - behind) / STEEPNESS).exp())
    }
}

/// The score from which on a match is likely right.
pub const LIKELY: f64 = 0.5;

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
            words in prop::collection::vec((0_u64..5_000, 0.0_f64..60.0), 1..200),
            length in 0.0_f64..4_000.0,
            mean_length in 0.0_f64..500.0,
        ) {
            let weights: Vec<f64> = words.iter().map(|(having, _)| idf(5_000, *having)).collect();
            let reached: f64 = words.iter().zip(&weights).map(|((_, n), w)| bm25(*w, *n, length_norm(length, mean_length))).sum();
            let lexical = reached / max_bm25(weights.into_iter());
            prop_assert!((0.0..=1.0).contains(&lexical), "{lexical}");
        }

        #[test]
        fn a_score_lies_between_zero_and_one_and_rises_with_the_worth(
            matches in prop::collection::vec(
                (0.0_f64..=1.0, 0.0_f64..=1.0, 0.0_f64..=1.0, prop::option::of(-1.0_f64..=1.0)),
                2..20,
            ),
            spread in prop::option::of((-1.0_f64..=1.0, 0.0_f64..=1.0, any::<u64>())),
        ) {
            let spread = spread.map(|(mean, deviation, n_records)| Spread { mean, deviation, n_records });
            let all: Vec<Evidence> = matches
                .into_iter()
                .map(|(lexical, covered, named, cosine)| Evidence { lexical, covered, named, cosine, crowding: 0.0 })
                .collect();
            let strongest = all.iter().map(strength).fold(f64::MIN, f64::max);
            let mut worths: Vec<f64> = all.iter().map(|one| fused(one, spread.as_ref())).collect();
            worths.sort_by(|a, b| b.total_cmp(a));
            let scale = Scale::new(strongest, worths[0], spread.as_ref());
            let scores: Vec<f64> = worths.iter().map(|worth| scale.score(*worth)).collect();
            prop_assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)), "{scores:?}");
            prop_assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
        }

        #[test]
        fn of_two_that_are_equally_near_the_less_crowded_is_worth_more(
            (lexical, covered, named) in (0.0_f64..=1.0, 0.0_f64..=1.0, 0.0_f64..=1.0),
            (cosine, mean, deviation) in (-1.0_f64..=1.0, -1.0_f64..=1.0, 0.0_f64..=1.0),
            (crowding, more) in (-1.0_f64..=1.0, 0.001_f64..=1.0),
        ) {
            let spread = Spread { mean, deviation, n_records: 9 };
            let worth = |crowding: f64| {
                fused(&Evidence { lexical, covered, named, cosine: Some(cosine), crowding }, Some(&spread))
            };
            prop_assert!(worth(crowding) > worth(crowding + more));
            prop_assert_eq!(uncrowded(cosine, 0.0), cosine);
        }

        #[test]
        fn what_words_are_worth_rises_evenly_with_their_score(
            (lexical, covered, named) in (0.0_f64..=1.0, 0.0_f64..=1.0, 0.0_f64..=1.0),
        ) {
            let (none, full) = (words_worth(0.0, covered, named), words_worth(1.0, covered, named));
            let evenly = none + lexical * (full - none);
            prop_assert!((words_worth(lexical, covered, named) - evenly).abs() < 1e-9);
            let evidence = Evidence { lexical, covered, named, ..Evidence::default() };
            prop_assert_eq!(fused(&evidence, None), words_worth(lexical, covered, named));
        }

        #[test]
        fn the_strongest_match_is_one_unless_it_is_weak(strongest in MIN_STRENGTH..3.0) {
            prop_assert!(is_match(strongest, strongest));
            prop_assert!(!is_match(MIN_STRENGTH - 0.001, strongest));
        }
    }

    #[test]
    fn a_full_match_by_words_is_likely_right_and_an_average_cosine_is_not() {
        let spread = Spread {
            mean: 0.05,
            deviation: 0.08,
            n_records: 1_000,
        };
        let score = |evidence: Evidence| {
            let (strength, worth) = (strength(&evidence), fused(&evidence, Some(&spread)));
            Scale::new(strength, worth, Some(&spread)).score(worth)
        };
        let full = Evidence {
            lexical: 0.6,
            covered: 1.0,
            cosine: Some(0.3),
            ..Evidence::default()
        };
        let average = Evidence {
            cosine: Some(0.05),
            ..Evidence::default()
        };
        assert!(score(full) > 0.9 && score(average) < 0.1);
    }
}
