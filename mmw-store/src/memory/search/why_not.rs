//! Why a record did not come back: the first thing on the way of a search that kept it out.

use mmw_core::ids::RecordId;
use mmw_core::place::{Caller, Scope, WorkspaceChoice};
use mmw_core::record::Record;
use mmw_core::time::Timestamp;
use mmw_core::wire::{SearchArgs, WhyNotAnswer};

use super::candidates::{Candidate, Candidates};
use super::query::Query;
use super::{Looked, holds, is_stale, look, places};
use crate::engine::{EngineResult, Stored, read};
use crate::memory::failure::Failure;
use crate::memory::hits::rounded;
use crate::memory::judged::Judge;
use crate::memory::{Memory, needed};

/// What became of a record, before it is put in words.
enum Fate {
    Hit(u32),
    BehindTheLimit(u32),
    TooWeak,
    NoMatch,
    NotEmbedded,
    NotSearched(String),
    Filtered(&'static str),
    NotInForce(&'static str),
    Folded(Option<RecordId>),
    Withheld,
}

impl Memory {
    /// Tells why a record is no hit of a search, or at which place it is one.
    ///
    /// # Errors
    /// As [`Memory::search`]; `NotFound` for a forgotten, a foreign and an absent record alike.
    pub fn why_not(
        &self,
        caller: &Caller,
        args: &SearchArgs,
        id: RecordId,
    ) -> Result<WhyNotAnswer, Failure> {
        let query = Query::read(args)?;
        let found = self.search(caller, args)?;
        let asked = self.ask(&query, &args.query);
        let now = self.clock.now();
        read(self.engine(), |snapshot| {
            if let Err(refused) = needed(snapshot, caller, Scope::Read)? {
                return Ok(Err(refused));
            }
            let stored = snapshot.record(id)?;
            let Some(stored) = stored.filter(|it| caller.sees(it.record.place.project)) else {
                return Ok(Err(Failure::NotFound("record")));
            };
            let mut query = query.clone();
            query.watched = Some(stored.row);
            let Looked { mut candidates, .. } = look(self, snapshot, caller, &query, &asked)?;
            candidates.settle(snapshot, usize::MAX)?;
            let place = found.hits.iter().position(|hit| hit.record.id == id);
            let mut judge = Judge::new(self, snapshot, caller, now, query.named_hashes());
            let fate = match place {
                Some(at) => Fate::Hit(place_of(at)),
                None => fate(&mut judge, caller, &query, &stored, &candidates, now)?,
            };
            let candidate = candidates.watched;
            let is_searched = !matches!(fate, Fate::NotSearched(_) | Fate::Withheld);
            let candidate = candidate.filter(|_| is_searched);
            let (code, text) = words(&fate, candidate.as_ref());
            Ok(Ok(WhyNotAnswer {
                code: code.to_owned(),
                text,
                place: match fate {
                    Fate::Hit(place) | Fate::BehindTheLimit(place) => Some(place),
                    _ => None,
                },
                // What is no match has no score: it would be read as one.
                score: candidate
                    .filter(|_| matches!(fate, Fate::Hit(_) | Fate::BehindTheLimit(_)))
                    .map(|one| rounded(one.score)),
                score_parts: candidate.map(|one| one.parts(candidates.spread.is_some())),
            }))
        })?
    }
}

fn place_of(at: usize) -> u32 {
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}

fn fate(
    judge: &mut Judge<'_>,
    caller: &Caller,
    query: &Query,
    stored: &Stored,
    candidates: &Candidates,
    now: Timestamp,
) -> EngineResult<Fate> {
    let record = &stored.record;
    let is_searched = places(caller, &query.workspaces)
        .iter()
        .any(|(project, chosen)| {
            *project == record.place.project
                && match chosen {
                    WorkspaceChoice::All => true,
                    WorkspaceChoice::One(name) => *name == record.place.workspace,
                }
        });
    if !is_searched {
        return Ok(Fate::NotSearched(record.place.workspace.to_string()));
    }
    if judge.know(stored.clone())?.is_none() {
        return Ok(Fate::Withheld);
    }
    if let Some(what) = query.keeps_out(record) {
        return Ok(Fate::Filtered(what));
    }
    if !holds(record, query.as_of, now) {
        return Ok(Fate::NotInForce(match query.as_of {
            Some(_) => "it did not hold at the time of `as_of`",
            None => "it starts to hold later; `as_of` shows what will",
        }));
    }
    if query.exclude_stale && is_stale(judge, record)? {
        return Ok(Fate::Filtered("exclude_stale"));
    }
    if !query.history
        && let Some(newer) = folded_into(judge, record)?
    {
        return Ok(Fate::Folded(newer));
    }
    let mut ranked = candidates.ranked.iter();
    let at = ranked.position(|one| one.row == stored.row);
    Ok(match (at, candidates.watched) {
        (Some(at), _) => Fate::BehindTheLimit(place_of(at)),
        (None, Some(one)) if one.evidence.lexical > 0.0 => Fate::TooWeak,
        (None, Some(one)) if one.evidence.cosine.is_none() => Fate::NotEmbedded,
        (None, _) => Fate::NoMatch,
    })
}

/// Returns what stands for a version that is not shown itself; nothing if it is shown.
fn folded_into(judge: &mut Judge<'_>, record: &Record) -> EngineResult<Option<Option<RecordId>>> {
    let Some(fact) = judge.fact_of(record)? else {
        return Ok(None);
    };
    let is_folded = fact.versions.is_history(record.id);
    let newest = fact.versions.newest().map(|version| version.id);
    Ok(is_folded.then_some(newest))
}

fn words(fate: &Fate, candidate: Option<&Candidate>) -> (&'static str, String) {
    match fate {
        Fate::Hit(place) => ("hit", format!("it came back, as number {place}")),
        Fate::BehindTheLimit(place) => (
            "behind_the_limit",
            format!("it matches, as number {place} of all records: raise `limit` or ask more closely"),
        ),
        Fate::TooWeak => (
            "too_weak",
            "it shares too few of the query's words, and its meaning is not near enough: use rarer \
             words of the record"
                .to_owned(),
        ),
        Fate::NotEmbedded => (
            "no_match",
            "it shares no word with the query, and meaning took no part: it has no vector yet, or \
             meaning is switched off"
                .to_owned(),
        ),
        Fate::NoMatch => (
            "no_match",
            match candidate.and_then(|one| one.evidence.cosine) {
                Some(cosine) => format!(
                    "it shares no word with the query, and its meaning is not near enough (cosine \
                     {cosine:.2})"
                ),
                None => "it shares no word with the query".to_owned(),
            },
        ),
        Fate::NotSearched(workspace) => (
            "not_searched",
            format!("it lies in the workspace `{workspace}`, which was not searched"),
        ),
        Fate::Filtered(what) => ("filtered", format!("the filter `{what}` leaves it out")),
        Fate::NotInForce(why) => ("not_in_force", (*why).to_owned()),
        Fate::Folded(newest) => (
            "folded",
            match newest {
                Some(newest) => format!(
                    "it is an older version: {newest} stands for the fact; `history` lists all"
                ),
                None => "it is an older version; `history` lists all".to_owned(),
            },
        ),
        Fate::Withheld => (
            "withheld",
            "it is withheld: today's guard sees an instruction in it. A person can move it to the \
             review lane with `rescan`"
                .to_owned(),
        ),
    }
}
