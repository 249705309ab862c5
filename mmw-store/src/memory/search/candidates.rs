//! Finds the records that share words with a query, and scores them.
//!
//! Rare words decide: all records that have one are looked at. Of a common word only the newest
//! records are, together with those that have *all* words of the query. So a search costs about the
//! same whatever the store's size. BM25 weights come from the reader's own workspaces alone.

use std::collections::HashMap;

use mmw_core::ids::ProjectId;
use mmw_core::place::WorkspaceChoice;
use mmw_core::rank::{MIN_COVERAGE, Parts, bm25, idf, max_bm25, score};

use crate::engine::{EngineResult, Lexical, Row, Snapshot, TermId};
use crate::words::{self, fingerprint};

/// The most candidates that are scored, as a multiple of the depth.
const SCORED_DEPTHS: usize = 2;
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
        let mut scores = Scores::new(&lexica, &found, depth * SCORED_DEPTHS);
        scores.add(
            snapshot,
            &found,
            &known_weights(&found, |word| !word.is_common),
        )?;
        // Records that share only common words may still cover enough of the query.
        let common: f64 = found
            .iter()
            .filter(|word| word.is_common)
            .map(Word::coverage)
            .sum();
        let mut is_cut = scores.is_cut;
        if common > 0.0 && common >= scores.best_coverage * MIN_COVERAGE {
            let mut weights = known_weights(&found, |_| true);
            add_rows_with_all(snapshot, &lexica, query, &found, depth, &mut weights)?;
            scores.add(snapshot, &found, &weights)?;
            is_cut = true;
        }
        let ranked = scores.ranked();
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

impl Word {
    /// What the word adds to how much of the query a record covers: nothing for a name as a whole,
    /// whose parts count.
    const fn coverage(&self) -> f64 {
        if self.is_whole { 0.0 } else { self.weight }
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

/// Returns the records of some of the words, with the weight of those words that is known to be theirs.
fn known_weights(found: &[Word], which: impl Fn(&Word) -> bool) -> HashMap<Row, f64> {
    let mut weights: HashMap<Row, f64> = HashMap::new();
    for word in found.iter().filter(|word| which(word)) {
        for row in &word.rows {
            *weights.entry(*row).or_default() += word.weight;
        }
    }
    weights
}

/// Adds the records that have all words: the newest of each common word may not reach back to them.
fn add_rows_with_all(
    snapshot: &dyn Snapshot,
    lexica: &[Lexical],
    query: &words::Query,
    found: &[Word],
    depth: usize,
    weights: &mut HashMap<Row, f64>,
) -> EngineResult<()> {
    let all: Vec<&str> = query.leaves().collect();
    if all.len() < 2 {
        return Ok(());
    }
    let whole: f64 = found.iter().map(Word::coverage).sum();
    for lexical in lexica {
        for row in snapshot.rows_with(&lexical.rows, &all, depth)? {
            let weight = weights.entry(row).or_default();
            *weight = weight.max(whole);
        }
    }
    Ok(())
}

/// The records that have been scored so far.
struct Scores {
    mean_length: f64,
    /// The highest BM25 that the query could reach.
    highest: f64,
    most: usize,
    /// Row, score and coverage.
    scored: HashMap<Row, (f64, f64)>,
    best_coverage: f64,
    is_cut: bool,
}

impl Scores {
    fn new(lexica: &[Lexical], found: &[Word], most: usize) -> Self {
        let n_records: u64 = lexica.iter().map(|lexical| lexical.n_records).sum();
        let n_words: u64 = lexica.iter().map(|lexical| lexical.n_words).sum();
        #[allow(clippy::cast_precision_loss, reason = "a mean for a weight")]
        let mean_length = n_words as f64 / n_records.max(1) as f64;
        // A name that nobody wrote as a whole takes nothing from a match of its parts.
        let reachable = found
            .iter()
            .filter(|word| !word.is_whole || !word.rows.is_empty());
        Self {
            mean_length,
            highest: max_bm25(reachable.map(|word| word.weight)).max(f64::MIN_POSITIVE),
            most,
            scored: HashMap::new(),
            best_coverage: 0.0,
            is_cut: false,
        }
    }

    /// Scores records that have not been scored yet: those with the most known weight.
    fn add(
        &mut self,
        snapshot: &dyn Snapshot,
        found: &[Word],
        weights: &HashMap<Row, f64>,
    ) -> EngineResult<()> {
        let mut rows: Vec<(Row, f64)> = weights
            .iter()
            .map(|(row, weight)| (*row, *weight))
            .filter(|(row, _)| !self.scored.contains_key(row))
            .collect();
        if rows.len() > self.most {
            rows.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| b.0.cmp(&a.0)));
            rows.truncate(self.most);
            self.is_cut = true;
        }
        let rows: Vec<Row> = rows.into_iter().map(|(row, _)| row).collect();
        for (row, doc) in snapshot.lexical_docs(&rows)? {
            let mut reached = 0.0;
            let mut covered = 0.0;
            for word in found {
                if let Ok(at) = doc.counts.binary_search_by_key(&word.id, |(id, _)| *id) {
                    let n_times = u32::from(doc.counts[at].1);
                    reached += bm25(word.weight, n_times, doc.length, self.mean_length);
                    covered += word.coverage();
                }
            }
            let lexical = Some(reached / self.highest);
            let parts = Parts {
                lexical,
                semantic: None,
            };
            self.best_coverage = self.best_coverage.max(covered);
            self.scored.insert(row, (score(&parts), covered));
        }
        Ok(())
    }

    /// Returns the records that cover enough of the query, best first.
    fn ranked(self) -> Vec<Candidate> {
        let enough = self.best_coverage * MIN_COVERAGE;
        let mut ranked: Vec<(Row, f64)> = self
            .scored
            .into_iter()
            .filter(|(_, (score, covered))| *score > 0.0 && *covered >= enough)
            .map(|(row, (score, _))| (row, score))
            .collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| b.0.cmp(&a.0)));
        ranked
            .into_iter()
            .zip(1..)
            .map(|((row, score), rank)| Candidate { row, score, rank })
            .collect()
    }
}
