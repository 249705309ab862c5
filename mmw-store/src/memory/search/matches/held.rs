//! Finds matches in memory: every record that has a word of the query is weighed, and the best are kept.
//!
//! Rare words come first. If a record of theirs covers so much of the query that what has the common words
//! alone would be no match by words beside it, these are not gone through. Otherwise the rarest word is
//! followed to its end, whatever that costs, and the others as long as there are not too many records in
//! all; of what is more, the newest are. What is kept is scored by all of its words in any case.

use mmw_core::rank::MIN_COVERAGE;
use rustc_hash::FxHashSet;

use super::{Counts, Match, Matches, Scores, Turns, Wanted, Whole, Word};
use crate::engine::{EngineResult, Lexical, Row, Snapshot, TermId};
use crate::inverted::{Keep, Sought};
use crate::memory::wording::HeldWords;
use crate::words::fingerprint;

/// How many records of rare words are gone through first.
const RARE: usize = 8_192;

/// Finds and scores.
pub(super) fn find<'s>(
    held: &'s HeldWords<'_>,
    snapshot: &dyn Snapshot,
    lexica: &[Lexical],
    wanted: &Wanted<'_>,
) -> EngineResult<Matches<'s>> {
    let ids: Vec<TermId> = wanted
        .words
        .words
        .iter()
        .map(|word| fingerprint(word))
        .collect();
    let within: Vec<_> = lexica.iter().map(|lexical| lexical.rows.clone()).collect();
    let found = held.inverted().look_up(&ids, &within);
    let of_query = 0..wanted.words.words.len();
    let words: Vec<Word> = of_query
        .map(|nth| Word::of(wanted.words, nth, found.n_having(nth), lexica))
        .collect();
    let by_rarity = by_rarity(&words);
    let turns = Turns::of(snapshot, lexica, Some(held))?;
    let counts = Counts::Held(found);
    let mut scores = Scores::new(lexica, &words, wanted.depth.scored, counts, turns);
    let with_facets = wanted.with_facets;
    let with_facets = with_facets.map(|rows| rows.iter().copied().collect::<FxHashSet<Row>>());

    let rare = Followed::rare(&by_rarity, &words);
    let least = MIN_COVERAGE * Whole::of(&words).coverage;
    if !rare.left.is_empty() && rare.coverage_left(&words) < least {
        let (best, is_more) = best(&scores, &words, &rare, with_facets.as_ref());
        scores.is_more |= is_more;
        let rows: Vec<Row> = best.into_iter().map(|(row, _)| row).collect();
        scores.more(snapshot, &words, &rows)?;
        if rare.coverage_left(&words) < MIN_COVERAGE * scores.best_coverage {
            return Ok(Matches { words, scores });
        }
    }
    let followed = Followed::as_far_as(&by_rarity, &words, wanted.depth.followed);
    let (best, is_more) = best(&scores, &words, &followed, with_facets.as_ref());
    scores.is_more |= is_more;
    if followed.left.is_empty() && !scores.turns.are_there() {
        scores.take(best);
    } else {
        let rows: Vec<Row> = best.into_iter().map(|(row, _)| row).collect();
        scores.more(snapshot, &words, &rows)?;
        let left = followed.coverage_left(&words);
        scores.is_cut = left > 0.0 && left >= MIN_COVERAGE * scores.best_coverage;
    }
    Ok(Matches { words, scores })
}

/// Returns how many records have each word, and its place in the query, rare words first.
fn by_rarity(words: &[Word]) -> Vec<(usize, usize)> {
    let n_having = |word: &Word| usize::try_from(word.n_having).unwrap_or(usize::MAX);
    let mut by_rarity: Vec<(usize, usize)> = words.iter().map(n_having).zip(0..).collect();
    by_rarity.sort_unstable();
    by_rarity
}

/// How far words are followed.
struct Followed {
    sought: Vec<Sought>,
    /// Words that are not followed to their end, by their place in the query.
    left: Vec<usize>,
}

impl Followed {
    /// Follows every word to its end.
    fn whole(words: &[Word]) -> Self {
        let sought = words.iter().map(|word| Sought {
            weight: word.weight,
            most: usize::MAX,
        });
        Self {
            sought: sought.collect(),
            left: Vec::new(),
        }
    }

    /// Follows the rare words alone.
    fn rare(by_rarity: &[(usize, usize)], words: &[Word]) -> Self {
        let mut followed = Self::whole(words);
        let mut so_far = 0_usize;
        for (n_having, nth) in by_rarity {
            so_far = so_far.saturating_add(*n_having);
            if so_far > RARE {
                followed.leave(*nth, 0);
            }
        }
        followed
    }

    /// Follows words through about so many records in all, the rarest to its end.
    fn as_far_as(by_rarity: &[(usize, usize)], words: &[Word], most: usize) -> Self {
        let mut followed = Self::whole(words);
        let mut so_far = 0_usize;
        for (n_having, nth) in by_rarity {
            if so_far > 0 && so_far.saturating_add(*n_having) > most {
                // Half of what is left, so that something is left for those that are commoner still.
                followed.leave(*nth, most.saturating_sub(so_far) / 2);
            }
            so_far = so_far.saturating_add(*n_having.min(&followed.sought[*nth].most));
        }
        followed
    }

    fn leave(&mut self, nth: usize, most: usize) {
        self.sought[nth].most = most;
        self.left.push(nth);
    }

    /// Returns how much of the query a record would cover that has the words that are left alone.
    fn coverage_left(&self, words: &[Word]) -> f64 {
        self.left.iter().map(|nth| words[*nth].coverage()).sum()
    }
}

/// Returns the best records by their words, with the words that were followed, and whether there are more.
fn best(
    scores: &Scores<'_>,
    words: &[Word],
    followed: &Followed,
    with_facets: Option<&FxHashSet<Row>>,
) -> (Vec<(Row, Match)>, bool) {
    let Counts::Held(found) = &scores.counts else {
        return (Vec::new(), false);
    };
    let whole = Whole::of(words);
    let sets = Sets::of(words, &whole, scores.highest);
    let keep = Keep {
        most: scores.most,
        worth: |has, bm25| sets.worth(has, bm25),
        is_wanted: |row| with_facets.is_none_or(|rows| rows.contains(&row)),
    };
    let (best, is_more) = found.best(&followed.sought, scores.mean_length, &keep);
    let best = best.into_iter().map(|reached| {
        let (covered, named) = weights_of(words, reached.has);
        let found = Match {
            lexical: (reached.bm25 / scores.highest).clamp(0.0, 1.0),
            before: 0.0,
            covered,
            named,
        };
        (reached.row, found)
    });
    (best.collect(), is_more)
}

/// Returns the weight of what a record covers that has some of these words, a bit for each, and the weight of
/// the names that it has. In the order of the words, as everywhere: equals stay equal.
fn weights_of(words: &[Word], has: u32) -> (f64, f64) {
    let words = words.iter().enumerate();
    let here = words.filter(|(nth, _)| has >> nth & 1 == 1);
    here.fold((0.0, 0.0), |(covered, named), (_, word)| {
        (covered + word.coverage(), named + word.name())
    })
}

/// Words of which the sets are looked up, and not gone through.
const GROUP: usize = 8;

/// What the sets of words of a query are worth, reckoned once for all records that have the same.
struct Sets {
    /// For every eight words of the query, by the set of them that a record has.
    groups: Vec<Vec<Set>>,
}

/// Some of a query's words.
#[derive(Debug, Clone, Copy, Default)]
struct Set {
    /// What a record with just these is worth for each point of BM25, and whatever it has.
    for_each: f64,
    fixed: f64,
}

impl Sets {
    fn of(words: &[Word], whole: &Whole, highest: f64) -> Self {
        let of_group = |group: &[Word]| {
            let sets = (0_u32..1 << group.len()).map(|set| {
                let (covered, named) = weights_of(group, set);
                let fixed = whole.worth(0.0, covered, named);
                Set {
                    for_each: (whole.worth(1.0, covered, named) - fixed) / highest,
                    fixed,
                }
            });
            sets.collect()
        };
        Self {
            groups: words.chunks(GROUP).map(of_group).collect(),
        }
    }

    /// Returns what a record with these words is worth, about: the same for all that have the same.
    fn worth(&self, has: u32, bm25: f64) -> f64 {
        let mut has = has as usize;
        let mut worth = 0.0;
        for group in &self.groups {
            let set = group[has & (group.len() - 1)];
            worth += bm25 * set.for_each + set.fixed;
            has >>= GROUP;
        }
        worth
    }
}
