//! Finds statements.
//!
//! `query` reads the arguments, `matches` finds by words, `candidates` brings words and meaning
//! together and `ties` orders equals, `budget` keeps the answer within its tokens; here candidates
//! become hits: facts instead of versions, judged, in one order that a higher `limit` only makes
//! longer. `recall` gives the candidates themselves, for those who evaluate the ranking.

mod budget;
mod candidates;
mod matches;
mod query;
pub mod recall;
mod ties;
mod turns;
mod why_not;

use std::collections::HashSet;
use std::time::Instant;

use mmw_core::ids::{ProjectId, RecordId};
use mmw_core::place::{Caller, Place, Scope, WorkspaceChoice};
use mmw_core::rank::LIKELY;
use mmw_core::record::{FactKey, Record};
use mmw_core::source::{ContentHash, SourceId};
use mmw_core::status::Level;
use mmw_core::time::Timestamp;
use mmw_core::wire::{Elsewhere, Hit, SearchAnswer, SearchArgs};

use self::candidates::{Candidate, Candidates, Meant};
use self::query::{CurrentHashes, Query};
use super::failure::Failure;
use super::hits::{Found, hit, holds, shown_versions};
use super::judged::Judge;
use super::meaning::Asked;
use super::{Memory, needed};
use crate::engine::{EngineResult, Row, Snapshot, read};

/// In `degraded`: some or all records were not looked for by meaning.
const WITHOUT_MEANING: &str = "semantic";
/// In `degraded`: the model was not made for the query's language, so words answered alone.
const UNREAD: &str = "semantic_language";
/// In `degraded`: records that share only common words may have been passed over.
const COMMON_WORDS: &str = "common_words";

/// The most matches that are counted in another workspace.
const MAX_COUNTED: usize = 512;
/// How many candidates are read at a time where filters may leave some out.
const CHUNK: usize = 32;
/// The most sources that one bare hash is taken to belong to.
const MAX_HASH_SOURCES: usize = 16;

impl Memory {
    /// Finds statements by words and by meaning: in one workspace or in all, with the person's own read
    /// along. Where meaning is not at hand, words answer alone and `degraded` says so.
    ///
    /// What is shown is what is in force: the newest version of a fact, or every open claim if they
    /// disagree. A status is judged with the hashes that the caller gives.
    ///
    /// # Errors
    /// [`Failure`]. Finding nothing is an answer; not being able to look is an error.
    pub fn search(&self, caller: &Caller, args: &SearchArgs) -> Result<SearchAnswer, Failure> {
        // A duration for the reader, no decision: the clock's door is not needed for it.
        let started = Instant::now();
        let query = Query::read(args)?;
        // The model is asked before the transaction begins: it may be somewhere else.
        let asked = self.ask(&query, &args.query);
        self.wording.note_search();
        let now = self.clock.now();
        let mut answer = read(self.engine(), |snapshot| {
            match needed(snapshot, caller, Scope::Read)? {
                Ok(()) => find(self, snapshot, caller, &query, &asked, now).map(Ok),
                Err(refused) => Ok(Err(refused)),
            }
        })??;
        budget::apply(&mut answer, query.max_tokens, query.detail);
        answer.took_ms = (started.elapsed().as_secs_f64() * 100_000.0).round() / 100.0;
        Ok(answer)
    }
}

impl Memory {
    /// Turns a query into a vector. What has no word asks for nothing, and whatever is near to it is no
    /// answer.
    fn ask(&self, query: &Query, text: &str) -> Asked {
        if query.words.words.is_empty() {
            return Asked::Off;
        }
        self.meaning.ask(text)
    }
}

fn find(
    memory: &Memory,
    snapshot: &dyn Snapshot,
    caller: &Caller,
    query: &Query,
    asked: &Asked,
    now: Timestamp,
) -> EngineResult<SearchAnswer> {
    let Looked {
        mut candidates,
        mut degraded,
    } = look(memory, snapshot, caller, query, asked)?;
    let (current, note) = match &query.current {
        CurrentHashes::Named(named) => (named.clone(), None),
        CurrentHashes::Bare(hash) => match sources_of(snapshot, caller, hash)? {
            known if known.is_empty() => (Vec::new(), Some(hash)),
            known => (known, None),
        },
    };
    let mut judge = Judge::new(memory, snapshot, caller, now, &current);
    let gathered = gather(snapshot, caller, &mut judge, query, &mut candidates, now)?;
    let is_short = gathered.groups.len() < query.limit;
    if candidates.is_more && is_short && !degraded.contains(&COMMON_WORDS) {
        degraded.push(COMMON_WORDS);
    }
    if let Some(hash) = note {
        // "Known for none, to the hits' source when all share one."
        if let Some(shared) = shared_source(&gathered.groups) {
            let current = [(shared, hash.clone())];
            let mut judge = Judge::new(memory, snapshot, caller, now, &current);
            let gathered = gather(snapshot, caller, &mut judge, query, &mut candidates, now)?;
            let found = Answered {
                candidates: &candidates,
                gathered: &gathered,
                degraded,
                notice: None,
            };
            return answer(snapshot, caller, judge, query, found);
        }
        let notice = "current_source_hash is not known for any source: pass source_id with it, or \
                      current_sources. No hit was marked by it.";
        let found = Answered {
            candidates: &candidates,
            gathered: &gathered,
            degraded,
            notice: Some(notice),
        };
        return answer(snapshot, caller, judge, query, found);
    }
    let found = Answered {
        candidates: &candidates,
        gathered: &gathered,
        degraded,
        notice: None,
    };
    answer(snapshot, caller, judge, query, found)
}

/// What a look for candidates gave.
struct Looked {
    candidates: Candidates,
    /// What could not take part, by the names of `degraded`.
    degraded: Vec<&'static str>,
}

/// Finds the candidates, by meaning too where it is at hand.
fn look(
    memory: &Memory,
    snapshot: &dyn Snapshot,
    caller: &Caller,
    query: &Query,
    asked: &Asked,
) -> EngineResult<Looked> {
    let mut lexica = Vec::new();
    for (project, chosen) in places(caller, &query.workspaces) {
        lexica.extend(snapshot.lexica(project, &chosen)?);
    }
    lexica.retain(|lexical| lexical.n_records > 0);
    let mut degraded = Vec::new();
    let view = match asked {
        Asked::Vector(vector) if !lexica.is_empty() => {
            let view = memory.meaning.view(snapshot, &lexica)?;
            view.map(|view| (vector, view))
        }
        _ => None,
    };
    let is_complete = view.as_ref().is_some_and(|(_, view)| view.is_complete);
    match asked {
        _ if lexica.is_empty() || is_complete => {}
        Asked::Off => {}
        Asked::Unread => degraded.push(UNREAD),
        Asked::Unavailable | Asked::Vector(_) => degraded.push(WITHOUT_MEANING),
    }
    let meant = view.as_ref().map(|(vector, view)| Meant { vector, view });
    let words = memory.wording.view(snapshot, &lexica)?;
    let candidates = Candidates::of(snapshot, &lexica, query, meant.as_ref(), words.as_ref())?;
    if candidates.is_cut {
        degraded.push(COMMON_WORDS);
    }
    Ok(Looked {
        candidates,
        degraded,
    })
}

/// Where a search looks: the workspaces that were chosen, and the person's own.
fn places(caller: &Caller, workspaces: &WorkspaceChoice) -> Vec<(ProjectId, WorkspaceChoice)> {
    let user = (caller.user_project, WorkspaceChoice::All);
    match workspaces {
        WorkspaceChoice::One(name) if name.is_user() => vec![user],
        chosen => vec![(caller.project, chosen.clone()), user],
    }
}

fn sources_of(
    snapshot: &dyn Snapshot,
    caller: &Caller,
    hash: &ContentHash,
) -> EngineResult<Vec<(SourceId, ContentHash)>> {
    let mut known = snapshot.sources_with_hash(&caller.visible_projects(), hash)?;
    known.sort();
    known.dedup();
    known.truncate(MAX_HASH_SOURCES);
    Ok(known
        .into_iter()
        .map(|source| (source, hash.clone()))
        .collect())
}

/// A match with what is shown for it: the versions of a fact, or one record.
struct Group {
    candidate: Candidate,
    shown: Vec<Record>,
    older_versions: u32,
}

struct Gathered {
    groups: Vec<Group>,
    total: u32,
}

/// Goes through the candidates, best first, and gathers facts until the limit.
fn gather(
    snapshot: &dyn Snapshot,
    caller: &Caller,
    judge: &mut Judge<'_>,
    query: &Query,
    candidates: &mut Candidates,
    now: Timestamp,
) -> EngineResult<Gathered> {
    let mut gathered = Gathered {
        groups: Vec::new(),
        total: 0,
    };
    let mut seen_facts: HashSet<(Place, FactKey)> = HashSet::new();
    let mut n_seen = 0;
    while n_seen < candidates.ranked.len() {
        // What lies behind the limit is only counted, and only if nothing has to be read for it.
        let missing = query.limit.saturating_sub(gathered.groups.len());
        if missing == 0 && !query.filters() {
            break;
        }
        let at_once = if query.filters() { CHUNK } else { missing };
        let end = candidates.ranked.len().min(n_seen + at_once);
        candidates.settle(snapshot, end)?;
        let chunk = &candidates.ranked[n_seen..end];
        n_seen = end;
        let rows: Vec<Row> = chunk.iter().map(|candidate| candidate.row).collect();
        let mut stored = snapshot.records_at(&rows)?;
        stored.retain(|stored| caller.sees(stored.record.place.project));
        let place = |row: Row| rows.iter().position(|one| *one == row);
        stored.sort_by_key(|stored| place(stored.row));
        for found in stored {
            let Some(candidate) = place(found.row).map(|at| chunk[at]) else {
                continue;
            };
            let Some(record) = judge.know(found)? else {
                continue;
            };
            if let Some(fact_key) = &record.fact_key
                && !seen_facts.insert((record.place.clone(), fact_key.clone()))
            {
                continue;
            }
            let Some(group) = group(judge, query, &record, candidate, now)? else {
                continue;
            };
            gathered.total += 1;
            if gathered.groups.len() < query.limit {
                gathered.groups.push(group);
            }
        }
    }
    let n_behind = candidates.ranked.len() - n_seen;
    gathered.total += u32::try_from(n_behind).unwrap_or(u32::MAX);
    Ok(gathered)
}

/// Returns what is shown for a match, `None` if the filters leave nothing.
fn group(
    judge: &mut Judge<'_>,
    query: &Query,
    record: &Record,
    candidate: Candidate,
    now: Timestamp,
) -> EngineResult<Option<Group>> {
    let mut shown = Vec::new();
    let mut older_versions = 0;
    match &record.fact_key {
        None => {
            if query.lets_through(record) && holds(record, query.as_of, now) {
                shown.push(record.clone());
            }
        }
        Some(fact_key) => {
            let versions = judge.fact(&record.place, fact_key)?.versions.clone();
            let versions = match query.as_of {
                Some(moment) => at_moment(judge, &versions, &record.place, fact_key, moment)?,
                None => versions,
            };
            let ids = shown_versions(&versions, query.history);
            judge.load(&ids)?;
            let folded = versions.all().len() - ids.len();
            older_versions = u32::try_from(folded).unwrap_or(u32::MAX);
            for id in ids {
                if let Some(stored) = judge.record(id)?
                    && query.lets_through(&stored.record)
                    && holds(&stored.record, query.as_of, now)
                {
                    shown.push(stored.record);
                }
            }
        }
    }
    if query.exclude_stale {
        let mut fresh = Vec::with_capacity(shown.len());
        for record in shown {
            if !is_stale(judge, &record)? {
                fresh.push(record);
            }
        }
        shown = fresh;
    }
    Ok((!shown.is_empty()).then_some(Group {
        candidate,
        shown,
        older_versions,
    }))
}

/// Tells whether what a record rests on has changed, whatever else there is to say of it.
fn is_stale(judge: &mut Judge<'_>, record: &Record) -> EngineResult<bool> {
    let status = judge.status(record)?;
    let mut reasons = status.reasons().iter();
    Ok(reasons.any(|reason| reason.level() == Level::Stale))
}

/// Returns the versions that held at a moment, in the light of every decision taken since.
fn at_moment(
    judge: &mut Judge<'_>,
    versions: &mmw_core::fact::Versions,
    place: &Place,
    fact_key: &FactKey,
    moment: Timestamp,
) -> EngineResult<mmw_core::fact::Versions> {
    let held = versions
        .all()
        .iter()
        .copied()
        .filter(|version| version.holds_at(moment))
        .collect();
    let resolutions = judge.fact(place, fact_key)?.resolutions.clone();
    Ok(mmw_core::fact::Versions::assemble(held, &resolutions))
}

/// Returns the source that all hits name, if there is just one.
fn shared_source(groups: &[Group]) -> Option<SourceId> {
    let mut sources = groups
        .iter()
        .flat_map(|group| &group.shown)
        .map(|record| record.origin.id.as_ref());
    let first = sources.next()??;
    sources
        .all(|source| source == Some(first))
        .then(|| first.clone())
}

/// What an answer is made of.
struct Answered<'a> {
    candidates: &'a Candidates,
    gathered: &'a Gathered,
    degraded: Vec<&'static str>,
    notice: Option<&'a str>,
}

fn answer(
    snapshot: &dyn Snapshot,
    caller: &Caller,
    mut judge: Judge<'_>,
    query: &Query,
    found: Answered<'_>,
) -> EngineResult<SearchAnswer> {
    let Answered {
        candidates,
        gathered,
        degraded,
        notice,
    } = found;
    let ids: Vec<RecordId> = gathered
        .groups
        .iter()
        .flat_map(|group| group.shown.iter().map(|record| record.id))
        .collect();
    let mut relations = if ids.is_empty() {
        Default::default()
    } else {
        judge.relations(&ids)?
    };
    let mut hits: Vec<Hit> = Vec::with_capacity(ids.len());
    for group in &gathered.groups {
        for (nth, record) in group.shown.iter().enumerate() {
            let found = Found {
                score: group.candidate.score,
                parts: group.candidate.parts(candidates.spread.is_some()),
            };
            // Folded versions are counted once, on the fact's first hit.
            let older_versions = if nth == 0 { group.older_versions } else { 0 };
            hits.push(hit(
                &mut judge,
                record,
                found,
                older_versions,
                &mut relations,
            )?);
        }
    }
    let elsewhere = elsewhere(&mut judge, snapshot, caller, query)?;
    let mut degraded: Vec<String> = degraded.into_iter().map(str::to_owned).collect();
    if !judge.followed_all() {
        degraded.push("inheritance".to_owned());
    }
    let mut notice = notice
        .map(str::to_owned)
        .or_else(|| empty_notice(query, hits.is_empty(), &elsewhere, candidates, &degraded))
        .or_else(|| unlikely_notice(candidates, &hits));
    if judge.n_withheld() > 0 {
        let withheld = withheld_notice(judge.n_withheld());
        notice = Some(match notice {
            Some(notice) => format!("{notice}. {withheld}"),
            None => withheld,
        });
    }
    Ok(SearchAnswer {
        hits,
        total: gathered.total,
        elsewhere,
        degraded,
        omitted: 0,
        took_ms: 0.0,
        notice,
    })
}

/// Says that the guard of today keeps something back, and who can look at it.
fn withheld_notice(n_withheld: usize) -> String {
    let (what, it) = if n_withheld == 1 {
        ("1 record was".to_owned(), "it")
    } else {
        (format!("{n_withheld} records were"), "them")
    };
    format!(
        "{what} withheld: today's guard sees an instruction there that older rules let through. A \
         person can move {it} to the review lane with `rescan`"
    )
}

/// Says that what was found is probably not what was asked for.
fn unlikely_notice(candidates: &Candidates, hits: &[Hit]) -> Option<String> {
    let is_unlikely = candidates.spread.is_some()
        && !hits.is_empty()
        && hits.iter().all(|hit| hit.score < LIKELY);
    is_unlikely.then(|| {
        "no hit is a likely match (all scores are below 0.5): what was asked for may not be in memory"
            .to_owned()
    })
}

/// Says that nothing was found, and what may help: never that nothing is known.
fn empty_notice(
    query: &Query,
    is_empty: bool,
    elsewhere: &[Elsewhere],
    candidates: &Candidates,
    degraded: &[String],
) -> Option<String> {
    if query.words.is_cut {
        return Some(format!(
            "the query was long: only its first {} words were looked for",
            query.words.words.len()
        ));
    }
    if !is_empty {
        return None;
    }
    let mut notice = if query.words.words.is_empty() {
        "the query has no word to look for".to_owned()
    } else {
        "nothing in memory matches these words".to_owned()
    };
    if candidates.spread.is_some() {
        notice.push_str(" or their meaning");
    }
    if query.filters() {
        notice.push_str(" with these filters");
    }
    let is_without = |what: &str| degraded.iter().any(|without| without == what);
    if is_without(WITHOUT_MEANING) {
        notice.push_str("; not all records could be looked at by meaning, ask again in a moment");
    }
    if is_without(UNREAD) {
        notice.push_str("; only words were compared: the model does not read the query's letters");
    }
    if !elsewhere.is_empty() {
        notice.push_str("; other workspaces have matches");
    }
    Some(notice)
}

/// Counts matches of all words in the project's other workspaces.
fn elsewhere(
    judge: &mut Judge<'_>,
    snapshot: &dyn Snapshot,
    caller: &Caller,
    query: &Query,
) -> EngineResult<Vec<Elsewhere>> {
    let WorkspaceChoice::One(here) = &query.workspaces else {
        return Ok(Vec::new());
    };
    if query.words.words.is_empty() {
        return Ok(Vec::new());
    }
    let words: Vec<&str> = query.words.leaves().collect();
    let mut elsewhere = Vec::new();
    for lexical in snapshot.lexica(caller.project, &WorkspaceChoice::All)? {
        if lexical.workspace == *here || lexical.n_records == 0 {
            continue;
        }
        let hits = snapshot
            .rows_with(&lexical.rows, &words, MAX_COUNTED)?
            .len();
        if hits > 0 && judge.are_clean(caller.project, &[lexical.workspace.as_str()])? {
            elsewhere.push(Elsewhere {
                workspace: lexical.workspace.to_string(),
                hits: u32::try_from(hits).unwrap_or(u32::MAX),
            });
        }
    }
    Ok(elsewhere)
}
