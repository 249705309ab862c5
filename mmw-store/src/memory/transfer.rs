//! Takes a project out of a store, and takes one in: nothing is lost on the way.
//!
//! | room | what it is for |
//! |---|---|
//! | `out` | the lines of an export, in their one order |
//! | `prepare` | what is decided of a line before the transaction: its form, and what the guard says |
//! | `take` | what is decided in it: is it here already, is what it rests on here |
//! | `names` | ids that depend on what is named and on nothing else |
//! | `report` | what an import came to, without contents |
//!
//! What is taken in was written by somebody else: it passes the guard like every write, and a decision
//! that it brings along (a resolved conflict, an approval) counts only if a person is there.

mod names;
mod out;
mod prepare;
mod report;
mod take;

use mmw_core::capture::Classification;
use mmw_core::place::{Caller, Reviewer, Scope};
use mmw_core::time::Timestamp;
use mmw_core::wire::transfer::ExportLine;
use mmw_core::wire::{EnvelopeArgs, RememberArgs};

pub use self::out::Exported;
pub use self::report::{Held, ImportReport, Refused};
use self::take::Taking;
use super::Memory;
use super::failure::Failure;
use crate::engine::{Txn, read, rehearse, write};

/// How many lines one transaction takes in: others write in between.
const CHUNK: usize = 200;

/// Something to be taken in, and where it stood.
#[derive(Debug, Clone, PartialEq)]
pub struct Incoming {
    /// The number of its line or entry, from 1; for the report.
    pub line: u64,
    /// What it is.
    pub what: Arriving,
}

/// What can be taken in.
#[derive(Debug, Clone, PartialEq)]
pub enum Arriving {
    /// A line of an export of ours.
    Line(Box<ExportLine>),
    /// A statement of another program's memory.
    Foreign(Box<Foreign>),
    /// What could not be read; why, without what it says.
    Broken(String),
}

/// A statement that another program kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Foreign {
    /// Names it in the program that it comes from: the same name and the same words are the same
    /// statement, however often it comes.
    pub name: String,
    /// The statement.
    pub args: RememberArgs,
    /// What is known beside it.
    pub envelope: EnvelopeArgs,
    /// When it was said, if that program knows.
    pub said_at: Option<Timestamp>,
    /// Why it waits for a person instead of becoming memory; none for what people wrote.
    pub candidate: Option<Captured>,
}

/// Why a statement of another program is worth a person's look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// What sort of statement it is.
    pub classification: Classification,
    /// Why it is worth keeping.
    pub why_durable: String,
}

impl Memory {
    /// Takes in statements that were kept elsewhere, into the caller's project. Each becomes memory
    /// whole or not at all, and one that can't leaves the others alone. Doing it again changes nothing.
    ///
    /// Records of ours keep id, author and moments. An author who is unknown here stays who they are:
    /// an id. Without a `reviewer`, decisions that the lines bring along are left out and counted. With
    /// `dry_run` everything is done in one transaction, which is rolled back: the report is exact.
    /// `progress` is told how many of how many are done.
    ///
    /// # Errors
    /// [`Failure`] if the caller may not write or the store failed. What was taken in before stays.
    pub fn import(
        &self,
        caller: &Caller,
        reviewer: Option<Reviewer>,
        arriving: Vec<Incoming>,
        dry_run: bool,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<ImportReport, Failure> {
        self.need(caller, Scope::Write)?;
        let now = self.clock.now();
        let n_all = arriving.len() as u64;
        let wards = read(self.engine(), |snapshot| {
            let here = self.ward(snapshot, caller.project, now)?;
            let own = self.ward(snapshot, caller.user_project, now)?;
            Ok((here, own))
        })?;
        wards.0.check()?;
        let taking = Taking {
            caller,
            reviewer,
            now,
        };
        let mut report = ImportReport {
            is_dry_run: dry_run,
            ..ImportReport::default()
        };
        let prepared = self.prepare_all(&taking, &wards, arriving, &mut report);
        let n_prepared = prepared.items.len() as u64;
        progress(n_all.saturating_sub(n_prepared), n_all);
        let size = if dry_run {
            prepared.items.len().max(1)
        } else {
            CHUNK
        };
        let mut n_done = n_all.saturating_sub(n_prepared);
        for chunk in prepared.items.chunks(size) {
            let work = |txn: &mut dyn Txn| {
                let mut taken = Vec::with_capacity(chunk.len());
                for one in chunk {
                    taken.push(taking.take(txn, one, &prepared.marks)?);
                }
                Ok(taken)
            };
            let taken = if dry_run {
                rehearse(self.engine(), work)?
            } else {
                write(self.engine(), work)?
            };
            for (one, taken) in chunk.iter().zip(taken) {
                report.count(one, taken);
            }
            n_done += chunk.len() as u64;
            progress(n_done, n_all);
        }
        report.in_order();
        self.meaning.wake();
        Ok(report)
    }
}
