//! Brings together what was found by words and what was found by meaning, in one order.
//!
//! Each leg gives its best; both parts are then looked up for all of them, so that a record counts the
//! same whichever leg found it.

use std::cmp::Ordering;
use std::ops::Range;

use mmw_core::rank::{Evidence, Scale, Spread, fused, is_match, strength};
use mmw_core::wire::ScoreView;
use rustc_hash::FxHashMap;

use super::matches::{Matches, Wanted};
use super::query::{Legs, Query};
use super::ties;
use crate::embed::Vector;
use crate::engine::{EngineResult, Lexical, Row, Snapshot};
use crate::index::Near;
use crate::memory::hits::rounded;
use crate::memory::meaning::View;
use crate::memory::wording::HeldWords;

/// How many of the nearest records are candidates.
const NEAREST: usize = 100;
/// The same if a look at the records themselves may leave out most of them.
const NEAREST_OF_FILTERED: usize = 2_000;
/// The most records with the facets that are all compared; of more, the nearest are, and those with the
/// facets kept.
const MAX_COMPARED: usize = 32_768;
/// The same where only words are compared: of more the store's own index finds words and facets together.
const MAX_LISTED: usize = 4_096;
/// How many of the best are looked at for how crowded it is around them. What is behind these stays behind.
const CROWDS: usize = 128;

/// A record that may become a hit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Candidate {
    /// The record.
    pub(super) row: Row,
    /// What speaks for it.
    pub(super) evidence: Evidence,
    /// Its place among the matches by words, from 1.
    pub(super) lexical_rank: Option<u32>,
    /// Its place among the nearest, from 1.
    pub(super) semantic_rank: Option<u32>,
    /// How much of its match by words comes from the turns before it.
    pub(super) before: f64,
    /// What it is worth beside the others, without bounds.
    pub(super) worth: f64,
    /// The same from 0 to 1.
    pub(super) score: f64,
}

impl Candidate {
    /// Tells whether a leg found it; the watched record may be there without.
    fn is_found(&self) -> bool {
        self.lexical_rank.is_some() || self.semantic_rank.is_some()
    }

    fn strength(&self) -> f64 {
        strength(&self.evidence)
    }

    /// Returns the parts as a reader sees them.
    pub(super) fn parts(&self, by_meaning: bool) -> ScoreView {
        ScoreView {
            lexical: Some(rounded(self.evidence.lexical)),
            lexical_rank: self.lexical_rank,
            lexical_before: (self.before > 0.0).then(|| rounded(self.before)),
            semantic: self
                .evidence
                .cosine
                .filter(|_| by_meaning)
                .map(|cosine| rounded(cosine.clamp(0.0, 1.0))),
            semantic_rank: self.semantic_rank,
            crowding: Some(rounded(self.evidence.crowding))
                .filter(|crowding| by_meaning && *crowding != 0.0),
        }
    }
}

/// The records that match, best first.
#[derive(Debug, Clone, Default)]
pub(super) struct Candidates {
    /// Best first; among equals what was said later, as far as that is settled.
    pub(super) ranked: Vec<Candidate>,
    /// Records that share only common words may have been passed over.
    pub(super) is_cut: bool,
    /// Among what is behind the last there may be matches: weaker ones by their words than all here.
    pub(super) is_more: bool,
    /// How the cosines of the places lie, if meaning took part.
    pub(super) spread: Option<Spread>,
    /// The record that was to be looked at in any case.
    pub(super) watched: Option<Candidate>,
    /// Up to here equals are in their order.
    n_settled: usize,
}

/// What meaning has to offer to a search.
pub(super) struct Meant<'v> {
    /// The query.
    pub(super) vector: &'v Vector,
    /// The vectors.
    pub(super) view: &'v View<'v>,
}

impl Candidates {
    /// Finds and ranks.
    pub(super) fn of(
        snapshot: &dyn Snapshot,
        lexica: &[Lexical],
        query: &Query,
        meant: Option<&Meant<'_>>,
        words: Option<&HeldWords<'_>>,
    ) -> EngineResult<Self> {
        if lexica.is_empty() {
            return Ok(Self::default());
        }
        let meant = meant.filter(|_| query.legs != Legs::Words);
        // The store's own index finds words and facets together.
        let most = match (meant, words) {
            (Some(_), _) => MAX_COMPARED,
            (None, Some(_)) => MAX_LISTED,
            (None, None) => 0,
        };
        let with_facets = rows_with_facets(snapshot, lexica, query, most)?;
        let wanted = Wanted {
            words: &query.words,
            facets: &query.facets,
            with_facets: with_facets.as_deref(),
            depth: query.depth(meant.is_some_and(|meant| meant.view.is_complete)),
        };
        let mut matches = Matches::of(snapshot, lexica, &wanted, words)?;
        let mut found = Self {
            is_cut: matches.is_cut(),
            spread: meant.and_then(|meant| spread(meant, lexica)),
            ..Self::default()
        };
        let by_words = match query.legs {
            Legs::Meaning => Vec::new(),
            Legs::Words | Legs::Both => matches.found(),
        };
        let by_meaning = match meant {
            Some(meant) => nearest(snapshot, &wanted, query, meant, &mut matches)?,
            None => Vec::new(),
        };
        if let Some(watched) = query.watched {
            matches.score(snapshot, &[watched])?;
        }
        found.fuse(query, &matches, &by_words, &by_meaning, meant);
        if let Some(meant) = meant {
            found.leave_crowds(meant, &within(lexica));
        }
        found.judge(query, &matches);
        // What is weaker than what was left out as weak is no match either.
        found.is_more = matches.is_more() && found.ranked.len() >= wanted.depth.scored;
        Ok(found)
    }

    /// Sees to it that the first so many are in their order, equals too.
    pub(super) fn settle(&mut self, snapshot: &dyn Snapshot, n_first: usize) -> EngineResult<()> {
        self.n_settled = ties::settle(snapshot, &mut self.ranked, self.n_settled, n_first)?;
        Ok(())
    }

    fn fuse(
        &mut self,
        query: &Query,
        matches: &Matches<'_>,
        by_words: &[(Row, super::matches::Match)],
        by_meaning: &[Near],
        meant: Option<&Meant<'_>>,
    ) {
        let places = |rows: &mut dyn Iterator<Item = Row>| -> FxHashMap<Row, u32> {
            rows.zip(1..).collect()
        };
        let lexical_ranks = places(&mut by_words.iter().map(|(row, _)| *row));
        let semantic_ranks = places(&mut by_meaning.iter().map(|near| near.row));
        // How near the nearest are is known.
        let others = lexical_ranks.keys().copied();
        let others: Vec<Row> = others
            .filter(|row| !semantic_ranks.contains_key(row))
            .collect();
        let cosines = meant
            .and_then(|meant| Some(meant.view.index()?.cosines(meant.vector, &others)))
            .unwrap_or_else(|| vec![None; others.len()]);
        let nearest = by_meaning.iter().map(|near| (near.row, Some(near.cosine)));
        let spread = self.spread;
        self.ranked = nearest
            .chain(others.into_iter().zip(cosines))
            .map(|(row, cosine)| {
                let words = match query.legs {
                    Legs::Meaning => Evidence::default(),
                    Legs::Words | Legs::Both => matches.evidence(row),
                };
                let evidence = Evidence {
                    cosine: cosine.map(f64::from),
                    ..words
                };
                Candidate {
                    row,
                    evidence,
                    lexical_rank: lexical_ranks.get(&row).copied(),
                    semantic_rank: semantic_ranks.get(&row).copied(),
                    before: matches.before(row),
                    worth: fused(&evidence, spread.as_ref()),
                    score: 0.0,
                }
            })
            .collect();
    }

    /// Takes from what the best are worth what they owe to being near to everything.
    fn leave_crowds(&mut self, meant: &Meant<'_>, within: &[Range<Row>]) {
        let (Some(index), Some(spread)) = (meant.view.index(), self.spread) else {
            return;
        };
        let n_best = CROWDS.min(self.ranked.len());
        if n_best < self.ranked.len() {
            self.ranked.select_nth_unstable_by(n_best, by_worth);
        }
        let (best, rest) = self.ranked.split_at_mut(n_best);
        let rows: Vec<Row> = best.iter().map(|one| one.row).collect();
        for (one, crowding) in best.iter_mut().zip(index.crowding(&rows, within)) {
            one.evidence.crowding = crowding;
            one.worth = fused(&one.evidence, Some(&spread));
        }
        let least = best.iter().map(|one| one.worth).fold(f64::MAX, f64::min);
        let ahead = rest.first().map_or(0.0, |first| first.worth - least);
        for one in rest {
            one.worth -= ahead.max(0.0);
        }
    }

    /// Gives everything its score, and leaves out what is no match.
    fn judge(&mut self, query: &Query, matches: &Matches) {
        let found = || self.ranked.iter().filter(|one| one.is_found());
        let strongest = found().map(Candidate::strength).fold(0.0, f64::max);
        let best = found().map(|one| one.worth).fold(f64::MIN, f64::max);
        let scale = Scale::new(strongest, best, self.spread.as_ref());
        for one in &mut self.ranked {
            one.score = scale.score(one.worth);
        }
        let is_watched = |one: &&Candidate| Some(one.row) == query.watched;
        self.watched = self.ranked.iter().find(is_watched).copied();
        self.drop_weak_ones(matches, strongest, &scale);
        self.sort();
    }

    fn sort(&mut self) {
        self.ranked.sort_unstable_by(by_worth);
    }

    /// Leaves out what is no match: what was only looked at, what is near nothing, and, where there is no
    /// vector to say more, what shares only everyday words with the query.
    fn drop_weak_ones(&mut self, matches: &Matches<'_>, strongest: f64, scale: &Scale) {
        let by_meaning = self.spread.is_some();
        self.ranked.retain(|one| {
            let has_meaning = by_meaning && one.evidence.cosine.is_some();
            let is_merely_near = one.lexical_rank.is_none() && scale.is_hopeless();
            let is_match = if has_meaning {
                is_match(one.strength(), strongest) && !is_merely_near
            } else {
                matches.covers_enough(one.row)
            };
            one.is_found() && is_match
        });
    }
}

/// The order of candidates: by what they are worth, of equals what arrived later first.
fn by_worth(a: &Candidate, b: &Candidate) -> Ordering {
    b.worth.total_cmp(&a.worth).then(b.row.cmp(&a.row))
}

/// Returns the nearest records, with their words scored.
fn nearest(
    snapshot: &dyn Snapshot,
    wanted: &Wanted<'_>,
    query: &Query,
    meant: &Meant<'_>,
    matches: &mut Matches<'_>,
) -> EngineResult<Vec<Near>> {
    // A filter that is no facet, or a facet that many have, is looked for in the records themselves.
    let is_sieved = query.sieves() || (!wanted.facets.is_empty() && wanted.with_facets.is_none());
    let n_wanted = if is_sieved {
        NEAREST_OF_FILTERED
    } else {
        NEAREST
    };
    let mut nearest = match wanted.with_facets {
        Some(rows) => nearest_of(meant, rows, n_wanted),
        None => nearest_of_all(meant, n_wanted),
    };
    // Another search may have read newer vectors than this one's snapshot has.
    let rows: Vec<Row> = nearest.iter().map(|near| near.row).collect();
    let unknown = matches.score(snapshot, &rows)?;
    nearest.retain(|near| !unknown.contains(&near.row));
    Ok(nearest)
}

/// Returns the records that have all facets of a query, if it has any and they are not too many.
fn rows_with_facets(
    snapshot: &dyn Snapshot,
    lexica: &[Lexical],
    query: &Query,
    most: usize,
) -> EngineResult<Option<Vec<Row>>> {
    if query.facets.is_empty() || most == 0 {
        return Ok(None);
    }
    let facets: Vec<&str> = query.facets.iter().map(String::as_str).collect();
    let mut rows = Vec::new();
    for lexical in lexica {
        let room = most + 1 - rows.len();
        rows.extend(snapshot.rows_with(&lexical.rows, &facets, room)?);
        if rows.len() > most {
            return Ok(None);
        }
    }
    Ok(Some(rows))
}

/// Returns the nearest of some records.
fn nearest_of(meant: &Meant<'_>, rows: &[Row], n_wanted: usize) -> Vec<Near> {
    let Some(index) = meant.view.index() else {
        return Vec::new();
    };
    let cosines = index.cosines(meant.vector, rows);
    let of_all = rows.iter().zip(cosines).filter_map(|(row, cosine)| {
        let (row, cosine) = (*row, cosine?);
        Some(Near { row, cosine })
    });
    let mut nearest: Vec<Near> = of_all.collect();
    nearest.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then(b.row.cmp(&a.row)));
    nearest.truncate(n_wanted);
    nearest
}

/// Returns the nearest of all records.
fn nearest_of_all(meant: &Meant<'_>, n_wanted: usize) -> Vec<Near> {
    let index = meant.view.index();
    let nearest = index.map(|index| index.nearest(meant.vector, &meant.view.within, n_wanted));
    nearest.unwrap_or_default()
}

fn spread(meant: &Meant<'_>, lexica: &[Lexical]) -> Option<Spread> {
    let index = meant.view.index()?;
    let spread = index.spread(meant.vector, &within(lexica));
    (spread.n > 0).then_some(Spread {
        mean: spread.mean,
        deviation: spread.deviation,
        n_records: lexica.iter().map(|lexical| lexical.n_records).sum(),
    })
}

/// Returns the rows of the places that are searched.
fn within(lexica: &[Lexical]) -> Vec<Range<Row>> {
    lexica.iter().map(|lexical| lexical.rows.clone()).collect()
}
