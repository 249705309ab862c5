//! Makes the words of a store again when the path from text to words has changed.
//!
//! It happens when a store is opened, in steps that each leave the store whole: a program that is
//! stopped in between, or another one that opens the store at the same time, goes on where it is.

use super::indexed::words_of;
use crate::engine::{Analysis, Engine, EngineResult, Txn, read, write};
use crate::words::ANALYSIS_VERSION;

/// Records of one step.
const STEP: usize = 500;

/// Brings the index to the present version. Does nothing, at the cost of one look, if it is there.
///
/// An index of a newer program is left as it is: its words are found as far as they are the same.
pub(super) fn bring_up_to_date(engine: &dyn Engine) -> EngineResult<()> {
    let is_old = |analysis: Analysis| analysis.version < ANALYSIS_VERSION;
    if !is_old(read(engine, |snapshot| snapshot.analysis())?) {
        return Ok(());
    }
    while write(engine, |txn| match txn.analysis()? {
        analysis if is_old(analysis) => step(txn, analysis),
        _ => Ok(false),
    })? {}
    Ok(())
}

/// Indexes the next records. Returns whether more are left.
fn step(txn: &mut dyn Txn, before: Analysis) -> EngineResult<bool> {
    let records = txn.indexed_after(before.done_to, STEP)?;
    for stored in &records {
        txn.put_words(stored.row, &words_of(&stored.record))?;
    }
    let is_last = records.len() < STEP;
    txn.set_analysis(match records.last() {
        Some(last) if !is_last => Analysis {
            done_to: last.row,
            ..before
        },
        _ => Analysis {
            version: ANALYSIS_VERSION,
            done_to: 0,
        },
    })?;
    Ok(!is_last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::Sqlite;
    use crate::testing::build::{self, World, put};
    use crate::words::Facet;

    #[test]
    fn an_index_of_an_older_version_is_made_again_in_steps() {
        let folder = tempfile::tempdir().unwrap();
        let engine = Sqlite::open(&folder.path().join("store.db")).unwrap();
        let world = World::found(&engine);
        let n_records = STEP as u64 + 3;
        write(&engine, |txn| {
            for n in 1..=n_records {
                put(txn, &build::record(&world.here, n, "staging runs"))?;
            }
            txn.forget(&[build::record_id(2)], build::START, world.person, None)
        })
        .unwrap();
        let count = || {
            let words = [Facet::Kind("fact").word(), "stage".to_owned()];
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            read(&engine, |snapshot| {
                snapshot.rows_with(&(0..i64::MAX), &words, 10_000)
            })
            .unwrap()
            .len() as u64
        };
        assert_eq!(count(), 0);
        bring_up_to_date(&engine).unwrap();
        assert_eq!(count(), n_records - 1);
        let analysis = read(&engine, |snapshot| snapshot.analysis()).unwrap();
        assert_eq!((analysis.version, analysis.done_to), (ANALYSIS_VERSION, 0));
        assert_eq!(engine.verify().unwrap(), Vec::<String>::new());
        // There is nothing to do any more.
        bring_up_to_date(&engine).unwrap();
    }
}
