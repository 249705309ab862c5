//! Finds the records that share words with a query, and scores them.
//!
//! Rare words decide: all records that have one are looked at. Of a common word only the newest
//! records are, together with those that have *all* words of the query. So a search costs about the
//! same whatever the store's size. BM25 weights come from the reader's own workspaces alone.

use std::collections::HashMap;

use mmw_core::ids::ProjectId;
use mmw_core::place::WorkspaceChoice;
use mmw_core::rank::{Parts, bm25, idf, max_bm25, score};

use crate::engine::{EngineResult, Lexical, Row, Snapshot, TermId};
use crate::words::{self, fingerprint};

/// The most candidates that are scored, as a multiple of the depth.
const SCORED_DEPTHS: usize = 2;
/// Everyday words: a match that covers less than this part of the query's weight while others
/// cover more is noise.
const MIN_COVERAGE: f64 = mmw_core::rank::MIN_COVERAGE;

/// A record that shares words with the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    /// The record.
    pub(super) row: Row,
    /// What the match is worth, 0 to 1.
    pub(super) score: f64,
    /// Its place, from 1.
    pub(super) rank: u32,
}

/// The records that share words with a query, best first.
#[derive(Debug, Clone, Default)]
pub(super) struct Candidates {
    /// Best first; among equals the one that arrived later.
    pub(super) ranked: Vec<Candidate>,
    /// Records that share only common words may have been passed over.
    pub(super) is_cut: bool,
    by_row: HashMap<Row, usize>,
}

/// One word of the query over all places.
struct Word {
    id: TermId,
    weight: f64,
    is_common: bool,
    /// An identifier as a whole: its parts are words of the query too.
    is_whole: bool,
    rows: Vec<Row>,
}

impl Candidates {
    /// Finds and scores. `depth` is how many records of a common word are looked at.
    pub(super) fn of(
        snapshot: &dyn Snapshot,
        places: &[(ProjectId, WorkspaceChoice)],
        query: &words::Query,
        depth: usize,
    ) -> EngineResult<Self> {
        let mut lexica = Vec::new();
        for (project, chosen) in places {
            lexica.extend(snapshot.lexica(*project, chosen)?);
        }
        lexica.retain(|lexical| lexical.n_records > 0);
        if lexica.is_empty() || query.words.is_empty() {
            return Ok(Self::default());
        }
        let found = look_up(snapshot, &lexica, query, depth)?;
        let (pool, is_cut) = pool(snapshot, &lexica, query, &found, depth)?;
        let ranked = rank(snapshot, &lexica, &found, &pool)?;
        let by_row = ranked
            .iter()
            .enumerate()
            .map(|(at, candidate)| (candidate.row, at))
            .collect();
        Ok(Self {
            ranked,
            is_cut,
            by_row,
        })
    }

    /// Returns the candidate of a row that is among them.
    pub(super) fn at(&self, row: Row) -> &Candidate {
        &self.ranked[self.by_row[&row]]
    }
}

/// Looks every word up: its records, and how many have it, estimated for common words from how
/// densely its newest records lie.
fn look_up(
    snapshot: &dyn Snapshot,
    lexica: &[Lexical],
    query: &words::Query,
    depth: usize,
) -> EngineResult<Vec<Word>> {
    let n_records: u64 = lexica.iter().map(|lexical| lexical.n_records).sum();
    let mut found = Vec::with_capacity(query.words.len());
    for (nth, word) in query.words.iter().enumerate() {
        let mut rows = Vec::new();
        let mut n_having = 0;
        let mut is_common = false;
        for lexical in lexica {
            let here = snapshot.rows_with(&lexical.rows, &[word], depth + 1)?;
            n_having += if here.len() > depth {
                is_common = true;
                estimate(lexical, &here)
            } else {
                here.len() as u64
            };
            rows.extend(here);
        }
        found.push(Word {
            id: fingerprint(word),
            weight: idf(n_records, n_having.min(n_records)),
            is_common,
            is_whole: query.wholes.binary_search(&nth).is_ok(),
            rows,
        });
    }
    Ok(found)
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

/// Chooses the records that are scored: those with the most weight of words, as far as is known.
fn pool(
    snapshot: &dyn Snapshot,
    lexica: &[Lexical],
    query: &words::Query,
    found: &[Word],
    depth: usize,
) -> EngineResult<(Vec<Row>, bool)> {
    let mut weights: HashMap<Row, f64> = HashMap::new();
    for word in found {
        for row in &word.rows {
            *weights.entry(*row).or_default() += word.weight;
        }
    }
    let has_common = found.iter().any(|word| word.is_common);
    if has_common && found.len() > 1 {
        // Records with all words: the newest of each common word may not reach back to them.
        let all: Vec<&str> = query.leaves().collect();
        let whole: f64 = found
            .iter()
            .filter(|word| !word.is_whole)
            .map(|word| word.weight)
            .sum();
        for lexical in lexica {
            for row in snapshot.rows_with(&lexical.rows, &all, depth)? {
                let weight = weights.entry(row).or_default();
                *weight = weight.max(whole);
            }
        }
    }
    let mut rows: Vec<(Row, f64)> = weights.into_iter().collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| b.0.cmp(&a.0)));
    let n_scored = depth * SCORED_DEPTHS;
    let is_cut = found.iter().all(|word| word.is_common) || rows.len() > n_scored;
    rows.truncate(n_scored);
    Ok((rows.into_iter().map(|(row, _)| row).collect(), is_cut))
}

fn rank(
    snapshot: &dyn Snapshot,
    lexica: &[Lexical],
    found: &[Word],
    pool: &[Row],
) -> EngineResult<Vec<Candidate>> {
    let n_records: u64 = lexica.iter().map(|lexical| lexical.n_records).sum();
    let n_words: u64 = lexica.iter().map(|lexical| lexical.n_words).sum();
    #[allow(clippy::cast_precision_loss, reason = "a mean for a weight")]
    let mean_length = n_words as f64 / n_records.max(1) as f64;
    // A name that nobody wrote as a whole takes nothing from a match of its parts.
    let reachable = found.iter().filter(|word| !word.is_whole || !word.rows.is_empty());
    let highest = max_bm25(reachable.map(|word| word.weight)).max(f64::MIN_POSITIVE);
    let mut scored: Vec<(Row, f64, f64)> = Vec::with_capacity(pool.len());
    for (row, doc) in snapshot.lexical_docs(pool)? {
        let mut reached = 0.0;
        let mut covered = 0.0;
        for word in found {
            if let Ok(at) = doc.counts.binary_search_by_key(&word.id, |(id, _)| *id) {
                let n_times = u32::from(doc.counts[at].1);
                reached += bm25(word.weight, n_times, doc.length, mean_length);
                if !word.is_whole {
                    covered += word.weight;
                }
            }
        }
        if reached > 0.0 {
            let parts = Parts {
                lexical: Some(reached / highest),
                semantic: None,
            };
            scored.push((row, score(&parts), covered));
        }
    }
    let best = scored
        .iter()
        .map(|(_, _, covered)| *covered)
        .fold(0.0, f64::max);
    scored.retain(|(_, _, covered)| *covered >= best * MIN_COVERAGE);
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| b.0.cmp(&a.0)));
    Ok(scored
        .into_iter()
        .zip(1..)
        .map(|((row, score, _), rank)| Candidate { row, score, rank })
        .collect())
}
