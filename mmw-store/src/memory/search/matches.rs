//! Finds the records that share words with a query, and scores their words.
//!
//! Rare words decide: all records that have one are looked at. Of a common word only the newest
//! records are, together with those that have *all* words of the query. So a search costs about the
//! same whatever the store's size. BM25 weights come from the reader's own workspaces alone. What is
//! filtered by is looked for like a word, so that a filter leaves no match behind.

use mmw_core::rank::{Evidence, MIN_COVERAGE, bm25, idf, max_bm25};
use rustc_hash::FxHashMap;

use super::query::Depth;
use super::turns::Turns;
use crate::engine::{EngineResult, Lexical, Row, Snapshot, TermId};
use crate::words::{self, fingerprint};

/// How a record matches by words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Match {
    /// BM25 against the highest that the query could reach, 0 to 1.
    pub(super) lexical: f64,
    /// How much of that comes from the turns before it, if it is a turn of a conversation.
    before: f64,
    /// How much of the query's weight the record has.
    pub(super) covered: f64,
    /// How much of the weight of the query's names that any record has.
    pub(super) named: f64,
}

impl Match {
    /// A record that shares no word.
    const NONE: Self = Self {
        lexical: 0.0,
        before: 0.0,
        covered: 0.0,
        named: 0.0,
    };
}

/// The records that share words with a query.
pub(super) struct Matches {
    words: Vec<Word>,
    scores: Scores,
}

/// One word of the query over all places.
struct Word {
    id: TermId,
    weight: f64,
    is_common: bool,
    /// An identifier as a whole: its parts are words of the query too.
    is_whole: bool,
    is_name: bool,
    rows: Vec<Row>,
}

/// What to look for.
pub(super) struct Wanted<'q> {
    /// The words.
    pub(super) words: &'q words::Query,
    /// Further words that a record must have to be looked at.
    pub(super) facets: &'q [String],
    /// How far.
    pub(super) depth: Depth,
}

impl Matches {
    /// Finds and scores.
    pub(super) fn of(
        snapshot: &dyn Snapshot,
        lexica: &[Lexical],
        wanted: &Wanted<'_>,
    ) -> EngineResult<Self> {
        let words = look_up(snapshot, lexica, wanted)?;
        let turns = Turns::of(snapshot, lexica)?;
        let mut scores = Scores::new(lexica, &words, wanted.depth.scored, turns);
        scores.add(
            snapshot,
            &words,
            &known_weights(&words, |word| !word.is_common),
        )?;
        // Records that share only common words may still cover enough of the query.
        let common: f64 = words
            .iter()
            .filter(|word| word.is_common)
            .map(Word::coverage)
            .sum();
        if common > 0.0 && common >= scores.best_coverage * MIN_COVERAGE {
            let mut weights = known_weights(&words, |_| true);
            add_rows_with_all(snapshot, lexica, wanted, &words, &mut weights)?;
            scores.add(snapshot, &words, &weights)?;
            scores.is_cut = true;
        }
        let mut matches = Self { words, scores };
        if matches.scores.turns.are_there() {
            // What answers a turn need not repeat any of its words.
            let found = matches.found();
            let rows = found.iter().map(|(row, _)| *row);
            let after = matches.scores.turns.after(rows, wanted.depth.of_a_word);
            matches.scores.more(snapshot, &matches.words, &after)?;
        }
        Ok(matches)
    }

    /// Records that share only common words may have been passed over.
    pub(super) const fn is_cut(&self) -> bool {
        self.scores.is_cut
    }

    /// Returns the records that share words with the query, best first.
    pub(super) fn found(&self) -> Vec<(Row, Match)> {
        let scored = self.scores.scored.iter();
        let mut found: Vec<(Row, Match)> = scored
            .filter(|(_, one)| one.lexical > 0.0)
            .map(|(row, one)| (*row, *one))
            .collect();
        found.sort_by(|a, b| b.1.lexical.total_cmp(&a.1.lexical).then(b.0.cmp(&a.0)));
        found
    }

    /// Tells whether a record covers enough of the query, beside the one that covers most, to be a match
    /// by words alone.
    pub(super) fn covers_enough(&self, row: Row) -> bool {
        let scored = self.scores.scored.get(&row);
        scored.is_some_and(|one| one.covered >= self.scores.best_coverage * MIN_COVERAGE)
    }

    /// Scores the words of records that were found otherwise. Returns those of them that are in memory
    /// no more.
    pub(super) fn score(
        &mut self,
        snapshot: &dyn Snapshot,
        rows: &[Row],
    ) -> EngineResult<Vec<Row>> {
        let unknown: Vec<Row> = rows
            .iter()
            .copied()
            .filter(|row| !self.scores.scored.contains_key(row))
            .collect();
        self.scores.look_at(snapshot, &self.words, &unknown)?;
        Ok(unknown
            .into_iter()
            .filter(|row| !self.scores.scored.contains_key(row))
            .collect())
    }

    /// Returns how much of a record's match by words comes from the turns before it.
    pub(super) fn before(&self, row: Row) -> f64 {
        self.scores.scored.get(&row).map_or(0.0, |one| one.before)
    }

    /// Returns what of the words speaks for a record; nothing for one that has not been scored.
    pub(super) fn evidence(&self, row: Row) -> Evidence {
        let found = self.scores.scored.get(&row).unwrap_or(&Match::NONE);
        let share = |part: f64, of: f64| {
            if of > 0.0 {
                (part / of).clamp(0.0, 1.0)
            } else {
                0.0
            }
        };
        Evidence {
            lexical: found.lexical,
            covered: share(found.covered, self.words.iter().map(Word::coverage).sum()),
            named: share(found.named, self.words.iter().map(Word::name).sum()),
            cosine: None,
            crowding: 0.0,
        }
    }
}

impl Word {
    /// What the word adds to how much of the query a record covers: nothing for a name as a whole,
    /// whose parts count.
    const fn coverage(&self) -> f64 {
        if self.is_whole { 0.0 } else { self.weight }
    }

    /// What the word adds to how much of the query's names a record has: nothing for a name that no
    /// record has.
    const fn name(&self) -> f64 {
        if self.is_name && !self.rows.is_empty() {
            self.weight
        } else {
            0.0
        }
    }
}

/// Looks every word up: its records, and how many have it, estimated for common words from how
/// densely its newest records lie.
fn look_up(
    snapshot: &dyn Snapshot,
    lexica: &[Lexical],
    wanted: &Wanted<'_>,
) -> EngineResult<Vec<Word>> {
    let depth = wanted.depth.of_a_word;
    let n_records: u64 = lexica.iter().map(|lexical| lexical.n_records).sum();
    let mut found = Vec::with_capacity(wanted.words.words.len());
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
        found.push(Word {
            id: fingerprint(word),
            weight: idf(n_records, n_having.min(n_records)),
            is_common,
            is_whole: wanted.words.wholes.binary_search(&nth).is_ok(),
            is_name: wanted.words.names.binary_search(&nth).is_ok(),
            rows,
        });
    }
    Ok(found)
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
fn known_weights(found: &[Word], which: impl Fn(&Word) -> bool) -> FxHashMap<Row, f64> {
    let mut weights: FxHashMap<Row, f64> = FxHashMap::default();
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

/// The records that have been scored so far.
struct Scores {
    mean_length: f64,
    /// The highest BM25 that the query could reach.
    highest: f64,
    most: usize,
    scored: FxHashMap<Row, Match>,
    best_coverage: f64,
    is_cut: bool,
    turns: Turns,
}

impl Scores {
    fn new(lexica: &[Lexical], found: &[Word], most: usize, turns: Turns) -> Self {
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
            scored: FxHashMap::default(),
            best_coverage: 0.0,
            is_cut: false,
            turns,
        }
    }

    /// Scores records that have not been scored yet: those with the most known weight.
    fn add(
        &mut self,
        snapshot: &dyn Snapshot,
        found: &[Word],
        weights: &FxHashMap<Row, f64>,
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
        self.more(snapshot, found, &rows)
    }

    /// Scores records as matches, as far as they have not been scored yet.
    fn more(&mut self, snapshot: &dyn Snapshot, found: &[Word], rows: &[Row]) -> EngineResult<()> {
        let rows = rows.iter().filter(|row| !self.scored.contains_key(row));
        let rows: Vec<Row> = rows.copied().collect();
        self.look_at(snapshot, found, &rows)?;
        self.best_coverage = rows
            .iter()
            .filter_map(|row| self.scored.get(row))
            .map(|one| one.covered)
            .fold(self.best_coverage, f64::max);
        Ok(())
    }

    fn look_at(
        &mut self,
        snapshot: &dyn Snapshot,
        found: &[Word],
        rows: &[Row],
    ) -> EngineResult<()> {
        for (row, heard) in self.turns.heard(snapshot, rows)? {
            let length = heard.length();
            let mut reached = 0.0;
            let mut own = 0.0;
            let mut covered = 0.0;
            let mut named = 0.0;
            for word in found {
                if let Some(times) = heard.times(word.id) {
                    reached += bm25(word.weight, times.all, length, self.mean_length);
                    own += bm25(word.weight, times.own, length, self.mean_length);
                    covered += times.share() * word.coverage();
                    named += times.share() * word.name();
                }
            }
            let lexical = (reached / self.highest).clamp(0.0, 1.0);
            let found = Match {
                lexical,
                before: lexical - (own / self.highest).clamp(0.0, 1.0),
                covered,
                named,
            };
            self.scored.insert(row, found);
        }
        Ok(())
    }
}
