//! Lists what rests on sources, so that a program that sees the files can compare them.

use std::collections::HashMap;
use std::fmt;

use mmw_core::ids::RecordId;
use mmw_core::place::{Caller, Place, Scope, WorkspaceChoice};
use mmw_core::record::Record;
use mmw_core::time::Timestamp;
use mmw_core::validation;
use mmw_core::wire::Hit;

use super::Memory;
use super::failure::Failure;
use super::hits::{Found, hit};
use super::judged::Judge;
use crate::engine::read;

/// The most content of one page, in bytes: an answer has to fit into one message.
const MAX_PAGE_BYTES: usize = 4 << 20;

/// Where a page begins: behind a statement of that moment and id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behind {
    at: Timestamp,
    id: RecordId,
}

impl Behind {
    /// Reads what [`Behind`] was written as.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let (at, id) = text.split_once('.')?;
        Some(Self {
            at: Timestamp::from_ms(at.parse().ok()?),
            id: id.parse().ok()?,
        })
    }
}

impl fmt::Display for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at.as_ms(), self.id)
    }
}

impl Memory {
    /// Returns every statement of the project that names a source or was derived from others, as far as
    /// it is in force: what a person decided against and what only repeats the newest version is
    /// history. Newest first; without a workspace, of all.
    ///
    /// They look like hits, so that whatever checks hits checks them. Nothing was asked: scores are 0.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn sourced(&self, caller: &Caller, workspace: Option<&str>) -> Result<Vec<Hit>, Failure> {
        let page = Page {
            behind: None,
            limit: usize::MAX,
            max_bytes: usize::MAX,
        };
        Ok(self.sourced_on(caller, workspace, &page)?.0)
    }

    /// As [`Memory::sourced`], at most `limit` of them and about 4 MiB of content, from behind a place on.
    /// Returns also where the next page begins; nothing if there is no more.
    ///
    /// What is saved between two pages is on neither, and what is forgotten meanwhile on none.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn sourced_page(
        &self,
        caller: &Caller,
        workspace: Option<&str>,
        behind: Option<Behind>,
        limit: usize,
    ) -> Result<(Vec<Hit>, Option<Behind>), Failure> {
        let page = Page {
            behind,
            limit,
            max_bytes: MAX_PAGE_BYTES,
        };
        self.sourced_on(caller, workspace, &page)
    }

    fn sourced_on(
        &self,
        caller: &Caller,
        workspace: Option<&str>,
        page: &Page,
    ) -> Result<(Vec<Hit>, Option<Behind>), Failure> {
        self.need(caller, Scope::Read)?;
        let chosen = match workspace {
            None => WorkspaceChoice::All,
            some => validation::workspace_choice(some)?,
        };
        let now = self.clock.now();
        let listed = read(self.engine(), |snapshot| {
            let places: Vec<Place> = match &chosen {
                WorkspaceChoice::One(name) => vec![caller.place(name.clone())],
                WorkspaceChoice::All => snapshot
                    .workspaces(caller.project)?
                    .into_iter()
                    .map(|(name, _)| caller.place(name))
                    .collect(),
            };
            let mut sourced = Vec::new();
            for place in &places {
                let stored = snapshot.newest_records(place, usize::MAX)?.into_iter();
                sourced.extend(stored.filter(|stored| rests_on_something(&stored.record)));
            }
            sourced.sort_by_key(|stored| std::cmp::Reverse(order(&stored.record)));
            let from = page.behind.map_or(0, |behind| {
                sourced.partition_point(|stored| order(&stored.record) >= (behind.at, behind.id))
            });
            let mut judge = Judge::new(self, snapshot, caller, now, &[]);
            let (mut hits, mut n_bytes) = (Vec::new(), 0);
            let mut last = None;
            for stored in sourced.drain(from..) {
                if hits.len() >= page.limit || n_bytes >= page.max_bytes {
                    return Ok((hits, last));
                }
                let (at, id) = order(&stored.record);
                last = Some(Behind { at, id });
                let Some(record) = judge.know(stored)? else {
                    continue;
                };
                let is_history = judge
                    .fact_of(&record)?
                    .is_some_and(|fact| fact.versions.is_history(record.id));
                if is_history || record.lies_ahead_of(now) {
                    continue;
                }
                n_bytes += record.content.len();
                hits.push(hit(
                    &mut judge,
                    &record,
                    Found::default(),
                    0,
                    &mut HashMap::new(),
                )?);
            }
            Ok((hits, None))
        })?;
        Ok(listed)
    }
}

/// What is asked for at once.
struct Page {
    behind: Option<Behind>,
    limit: usize,
    max_bytes: usize,
}

fn rests_on_something(record: &Record) -> bool {
    record.origin.id.is_some() || !record.derived_from.is_empty()
}

fn order(record: &Record) -> (Timestamp, RecordId) {
    (record.said.created_at, record.id)
}
