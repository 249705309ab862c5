//! Finds matches in the index of the store, which knows the newest records of a word but not how many have
//! it.
//!
//! Rare words decide: all records that have one are looked at. Of a common word only the newest records are,
//! together with those that have *all* words of the query. So a search costs about the same whatever the
//! store's size.

use mmw_core::rank::MIN_COVERAGE;
use rustc_hash::FxHashMap;

use super::{Counts, Matches, Scores, Turns, Wanted, Word};
use crate::engine::{EngineResult, Lexical, Row, Snapshot};
use crate::words::fingerprint;

/// The records of a word.
struct Listed {
    rows: Vec<Row>,
    /// There are more than these.
    is_common: bool,
}

/// Finds and scores.
pub(super) fn find<'s>(
    snapshot: &dyn Snapshot,
    lexica: &[Lexical],
    wanted: &Wanted<'_>,
) -> EngineResult<Matches<'s>> {
    let (words, listed) = look_up(snapshot, lexica, wanted)?;
    let ids = wanted.words.words.iter().map(|word| fingerprint(word));
    let counts = Counts::Stored(ids.collect());
    let turns = Turns::of(snapshot, lexica, None)?;
    let mut scores = Scores::new(lexica, &words, wanted.depth.scored, counts, turns);
    let rare = known_weights(&words, &listed, |listed| !listed.is_common);
    add(&mut scores, snapshot, &words, &rare)?;
    // Records that share only common words may still cover enough of the query.
    let all = words.iter().zip(&listed);
    let common: f64 = all
        .filter(|(_, listed)| listed.is_common)
        .map(|(word, _)| word.coverage())
        .sum();
    if common > 0.0 && common >= scores.best_coverage * MIN_COVERAGE {
        let mut weights = known_weights(&words, &listed, |_| true);
        add_rows_with_all(snapshot, lexica, wanted, &words, &mut weights)?;
        add(&mut scores, snapshot, &words, &weights)?;
        scores.is_cut = true;
    }
    Ok(Matches { words, scores })
}

/// Looks every word up: its records, and how many have it, estimated for common words from how
/// densely its newest records lie.
fn look_up(
    snapshot: &dyn Snapshot,
    lexica: &[Lexical],
    wanted: &Wanted<'_>,
) -> EngineResult<(Vec<Word>, Vec<Listed>)> {
    let depth = wanted.depth.of_a_word;
    let mut found = Vec::with_capacity(wanted.words.words.len());
    let mut listed = Vec::with_capacity(wanted.words.words.len());
    for (nth, word) in wanted.words.words.iter().enumerate() {
        let mut rows = Vec::new();
        let mut n_having = 0;
        let mut is_common = false;
        for lexical in lexica {
            let here = snapshot.rows_with(&lexical.rows, &[word], depth + 1)?;
            let is_common_here = here.len() > depth;
            n_having += if is_common_here {
                estimate(lexical, &here)
            } else {
                here.len() as u64
            };
            if wanted.facets.is_empty() {
                is_common |= is_common_here;
                rows.extend(here);
            } else if !here.is_empty() {
                // A word weighs the same with and without a filter.
                let here = rows_with(snapshot, lexical, word, wanted.facets, depth + 1)?;
                is_common |= here.len() > depth;
                rows.extend(here);
            }
        }
        found.push(Word::of(wanted.words, nth, n_having, lexica));
        listed.push(Listed { rows, is_common });
    }
    Ok((found, listed))
}

fn rows_with(
    snapshot: &dyn Snapshot,
    lexical: &Lexical,
    word: &str,
    facets: &[String],
    limit: usize,
) -> EngineResult<Vec<Row>> {
    let mut all = vec![word];
    all.extend(facets.iter().map(String::as_str));
    snapshot.rows_with(&lexical.rows, &all, limit)
}

/// Estimates how many records have a word from the span that its newest records lie in.
fn estimate(lexical: &Lexical, newest: &[Row]) -> u64 {
    let oldest_seen = newest.last().copied().unwrap_or(lexical.rows.start);
    let span = u64::try_from(lexical.rows.end - oldest_seen)
        .unwrap_or(1)
        .max(1);
    let all = u64::try_from(lexical.rows.end - lexical.rows.start)
        .unwrap_or(1)
        .max(1);
    let seen = newest.len() as u64;
    (seen.saturating_mul(all) / span).clamp(seen, lexical.n_records.max(seen))
}

/// Returns the records of some of the words, with the weight of those words that is known to be theirs.
fn known_weights(
    words: &[Word],
    listed: &[Listed],
    which: impl Fn(&Listed) -> bool,
) -> FxHashMap<Row, f64> {
    let mut weights: FxHashMap<Row, f64> = FxHashMap::default();
    for (word, listed) in words.iter().zip(listed) {
        if which(listed) {
            for row in &listed.rows {
                *weights.entry(*row).or_default() += word.weight;
            }
        }
    }
    weights
}

/// Adds the records that have all words: the newest of each common word may not reach back to them.
fn add_rows_with_all(
    snapshot: &dyn Snapshot,
    lexica: &[Lexical],
    wanted: &Wanted<'_>,
    found: &[Word],
    weights: &mut FxHashMap<Row, f64>,
) -> EngineResult<()> {
    let mut all: Vec<&str> = wanted.words.leaves().collect();
    if all.len() < 2 {
        return Ok(());
    }
    all.extend(wanted.facets.iter().map(String::as_str));
    let whole: f64 = found.iter().map(Word::coverage).sum();
    for lexical in lexica {
        for row in snapshot.rows_with(&lexical.rows, &all, wanted.depth.of_a_word)? {
            let weight = weights.entry(row).or_default();
            *weight = weight.max(whole);
        }
    }
    Ok(())
}

/// Scores records that have not been scored yet: those with the most known weight.
fn add(
    scores: &mut Scores<'_>,
    snapshot: &dyn Snapshot,
    found: &[Word],
    weights: &FxHashMap<Row, f64>,
) -> EngineResult<()> {
    let mut rows: Vec<(Row, f64)> = weights
        .iter()
        .map(|(row, weight)| (*row, *weight))
        .filter(|(row, _)| !scores.scored.contains_key(row))
        .collect();
    if rows.len() > scores.most {
        rows.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| b.0.cmp(&a.0)));
        rows.truncate(scores.most);
        scores.is_cut = true;
    }
    let rows: Vec<Row> = rows.into_iter().map(|(row, _)| row).collect();
    scores.more(snapshot, found, &rows)
}
