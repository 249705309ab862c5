//! Finds the records that share words with a query, and scores their words.
//!
//! BM25 weights come from the reader's own workspaces alone. What is filtered by is looked for like a word,
//! so that a filter leaves no match behind.
//!
//! | file | what is there |
//! |---|---|
//! | [`Matches`] | the records that were found, and what their words are worth |
//! | `held` | finds them in memory: all of them but for the oldest of very common words |
//! | `stored` | finds them in the store: all that have a rare word, of a common one the newest |
//! | `counts` | how often records have the words, from either |

mod counts;
mod held;
mod stored;

use mmw_core::rank::{Evidence, MIN_COVERAGE, bm25, idf, length_norm, max_bm25, words_worth};
use rustc_hash::FxHashMap;

pub(super) use self::counts::Counts;
use super::query::Depth;
use super::turns::Turns;
use crate::engine::{EngineResult, Lexical, Row, Snapshot};
use crate::memory::wording::HeldWords;
use crate::words;

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
pub(super) struct Matches<'s> {
    words: Vec<Word>,
    scores: Scores<'s>,
}

/// One word of the query over all places.
#[derive(Debug, Clone, Copy)]
struct Word {
    weight: f64,
    /// How many records have it, as far as that is known.
    n_having: u64,
    /// An identifier as a whole: its parts are words of the query too.
    is_whole: bool,
    is_name: bool,
}

/// What to look for.
pub(super) struct Wanted<'q> {
    /// The words.
    pub(super) words: &'q words::Query,
    /// Further words that a record must have to be looked at.
    pub(super) facets: &'q [String],
    /// The records that have all of these, in any order, if they are not too many.
    pub(super) with_facets: Option<&'q [Row]>,
    /// How far.
    pub(super) depth: Depth,
}

impl<'s> Matches<'s> {
    /// Finds and scores, in memory if the words are there.
    pub(super) fn of(
        snapshot: &dyn Snapshot,
        lexica: &[Lexical],
        wanted: &Wanted<'_>,
        held: Option<&'s HeldWords<'_>>,
    ) -> EngineResult<Self> {
        // What is filtered by and too common to be listed is known to the store alone.
        let is_listed = wanted.facets.is_empty() || wanted.with_facets.is_some();
        let mut matches = match held.filter(|_| is_listed) {
            Some(held) => held::find(held, snapshot, lexica, wanted)?,
            None => stored::find(snapshot, lexica, wanted)?,
        };
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

    /// There are more records than were kept, each worth less by its words.
    pub(super) const fn is_more(&self) -> bool {
        self.scores.is_more
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
        let scored = self.scores.scored_of(snapshot, &self.words, &unknown)?;
        self.scores.scored.extend(scored);
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
        Whole::of(&self.words).evidence(found)
    }
}

impl Word {
    /// Returns a word of a query by its place there.
    fn of(words: &words::Query, nth: usize, n_having: u64, lexica: &[Lexical]) -> Self {
        let n_records: u64 = lexica.iter().map(|lexical| lexical.n_records).sum();
        Self {
            weight: idf(n_records, n_having.min(n_records)),
            n_having,
            is_whole: words.wholes.binary_search(&nth).is_ok(),
            is_name: words.names.binary_search(&nth).is_ok(),
        }
    }

    /// Some record has it.
    const fn is_known(&self) -> bool {
        self.n_having > 0
    }

    /// What the word adds to how much of the query a record covers: nothing for a name as a whole,
    /// whose parts count.
    const fn coverage(&self) -> f64 {
        if self.is_whole { 0.0 } else { self.weight }
    }

    /// What the word adds to how much of the query's names a record has: nothing for a name that no
    /// record has.
    const fn name(&self) -> f64 {
        if self.is_name && self.is_known() {
            self.weight
        } else {
            0.0
        }
    }
}

/// What a record would reach that has all words of the query.
#[derive(Debug, Clone, Copy)]
struct Whole {
    coverage: f64,
    name: f64,
}

impl Whole {
    fn of(words: &[Word]) -> Self {
        Self {
            coverage: words.iter().map(Word::coverage).sum(),
            name: words.iter().map(Word::name).sum(),
        }
    }

    fn evidence(&self, found: &Match) -> Evidence {
        Evidence {
            lexical: found.lexical,
            covered: share(found.covered, self.coverage),
            named: share(found.named, self.name),
            cosine: None,
            crowding: 0.0,
        }
    }

    /// Returns what a match is worth by words alone.
    fn worth(&self, lexical: f64, covered: f64, named: f64) -> f64 {
        words_worth(
            lexical,
            share(covered, self.coverage),
            share(named, self.name),
        )
    }
}

fn share(part: f64, of: f64) -> f64 {
    if of > 0.0 {
        (part / of).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// The records that have been scored so far.
struct Scores<'s> {
    mean_length: f64,
    /// The highest BM25 that the query could reach.
    highest: f64,
    most: usize,
    scored: FxHashMap<Row, Match>,
    best_coverage: f64,
    is_cut: bool,
    is_more: bool,
    counts: Counts<'s>,
    turns: Turns,
}

impl<'s> Scores<'s> {
    fn new(
        lexica: &[Lexical],
        found: &[Word],
        most: usize,
        counts: Counts<'s>,
        turns: Turns,
    ) -> Self {
        let n_records: u64 = lexica.iter().map(|lexical| lexical.n_records).sum();
        let n_words: u64 = lexica.iter().map(|lexical| lexical.n_words).sum();
        #[allow(clippy::cast_precision_loss, reason = "a mean for a weight")]
        let mean_length = n_words as f64 / n_records.max(1) as f64;
        // A name that nobody wrote as a whole takes nothing from a match of its parts.
        let reachable = found
            .iter()
            .filter(|word| !word.is_whole || word.is_known());
        Self {
            mean_length,
            highest: max_bm25(reachable.map(|word| word.weight)).max(f64::MIN_POSITIVE),
            most,
            scored: FxHashMap::default(),
            best_coverage: 0.0,
            is_cut: false,
            is_more: false,
            counts,
            turns,
        }
    }

    /// Scores records as matches, as far as they have not been scored yet.
    fn more(&mut self, snapshot: &dyn Snapshot, found: &[Word], rows: &[Row]) -> EngineResult<()> {
        let rows = rows.iter().filter(|row| !self.scored.contains_key(row));
        let rows: Vec<Row> = rows.copied().collect();
        let scored = self.scored_of(snapshot, found, &rows)?;
        self.take(scored);
        Ok(())
    }

    /// Takes in scored records as matches.
    fn take(&mut self, scored: Vec<(Row, Match)>) {
        let covered = scored.iter().map(|(_, one)| one.covered);
        self.best_coverage = covered.fold(self.best_coverage, f64::max);
        self.scored.extend(scored);
    }

    /// Returns how records match by all of the words.
    fn scored_of(
        &mut self,
        snapshot: &dyn Snapshot,
        found: &[Word],
        rows: &[Row],
    ) -> EngineResult<Vec<(Row, Match)>> {
        let mut scored = Vec::with_capacity(rows.len());
        for (row, heard) in self.turns.heard(snapshot, &self.counts, rows)? {
            let norm = length_norm(heard.length(), self.mean_length);
            let mut reached = 0.0;
            let mut own = 0.0;
            let mut covered = 0.0;
            let mut named = 0.0;
            for (nth, word) in found.iter().enumerate() {
                if let Some(times) = heard.times(nth) {
                    reached += bm25(word.weight, times.all, norm);
                    own += bm25(word.weight, times.own, norm);
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
            scored.push((row, found));
        }
        Ok(scored)
    }
}
