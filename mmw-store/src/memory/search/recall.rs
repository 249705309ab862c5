//! The candidates of a search as they were ranked, before they become hits: for evaluating the ranking,
//! trying other rules on it, and telling why something did not come back.

use mmw_core::ids::RecordId;
use mmw_core::place::{Caller, Scope};
use mmw_core::rank::{Evidence, Spread};
use mmw_core::wire::SearchArgs;

pub use super::query::Legs;
use super::{Looked, look};
use crate::engine::read;
use crate::memory::failure::Failure;
use crate::memory::meaning::Asked;
use crate::memory::search::query::Query;
use crate::memory::{Memory, needed};

/// A record that matched.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// The record.
    pub id: RecordId,
    /// What speaks for it.
    pub evidence: Evidence,
    /// Its place among the matches by words, from 1.
    pub lexical_rank: Option<u32>,
    /// Its place among the nearest, from 1.
    pub semantic_rank: Option<u32>,
    /// What it is worth beside the others, without bounds.
    pub worth: f64,
    /// The same from 0 to 1.
    pub score: f64,
}

/// Everything that matched, best first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recollection {
    /// Best first.
    pub recalled: Vec<Recalled>,
    /// How the cosines of all records lie, if meaning took part.
    pub spread: Option<Spread>,
    /// What could not take part.
    pub degraded: Vec<&'static str>,
}

impl Memory {
    /// Returns the candidates of a search, by words, by meaning or by both, in the order of the ranking.
    /// Filters hold as far as they are part of looking; versions are not folded and nothing is judged.
    ///
    /// # Errors
    /// As [`Memory::search`].
    pub fn recall(
        &self,
        caller: &Caller,
        args: &SearchArgs,
        legs: Legs,
    ) -> Result<Recollection, Failure> {
        let mut query = Query::read(args)?;
        query.legs = legs;
        // A search by words alone has no use for a vector, and should not take the time of one.
        let asked = match legs {
            Legs::Words => Asked::Off,
            Legs::Meaning | Legs::Both => self.ask(&query, &args.query),
        };
        self.wording.note_search();
        read(self.engine(), |snapshot| {
            if let Err(refused) = needed(snapshot, caller, Scope::Read)? {
                return Ok(Err(refused));
            }
            let Looked {
                mut candidates,
                degraded,
            } = look(self, snapshot, caller, &query, &asked)?;
            candidates.settle(snapshot, usize::MAX)?;
            let rows: Vec<_> = candidates.ranked.iter().map(|one| one.row).collect();
            let mut records = snapshot.records_at(&rows)?;
            records.retain(|stored| caller.sees(stored.record.place.project));
            let recalled = candidates.ranked.iter().filter_map(|one| {
                let stored = records.iter().find(|stored| stored.row == one.row)?;
                Some(Recalled {
                    id: stored.record.id,
                    evidence: one.evidence,
                    lexical_rank: one.lexical_rank,
                    semantic_rank: one.semantic_rank,
                    worth: one.worth,
                    score: one.score,
                })
            });
            Ok(Ok(Recollection {
                recalled: recalled.collect(),
                spread: candidates.spread,
                degraded,
            }))
        })?
    }
}
