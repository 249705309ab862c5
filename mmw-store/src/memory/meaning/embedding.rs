//! Embeds one batch of records that wait for a vector.
//!
//! The model works outside any transaction. A record that was changed or forgotten meanwhile keeps no
//! vector of what it said before.

use std::collections::HashMap;

use mmw_core::record::Record;
use mmw_core::time::{DAY_MS, Timestamp};

use super::Shared;
use crate::embed::{EmbedError, Embedder, Passage, Vector, pack};
use crate::engine::{Engine, EngineError, EngineResult, ModelNumber, Row, Stored, read, write};
use crate::memory::indexed::{passage_of, written_day};

/// Records of one batch: some tens of milliseconds of the built-in model, so that a record that has
/// just been saved is found by meaning soon even while many others wait.
const BATCH: usize = 16;

/// How long a batch belongs to its worker, in milliseconds.
const TAKEN_MS: i64 = 60_000;

/// How long a batch rests after the model could not be asked, in milliseconds.
const REST_MS: i64 = 30_000;

/// How long a model's vectors are kept after its last use, in milliseconds.
const KEPT_MS: i64 = 30 * DAY_MS;

/// What came of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::memory) enum Step {
    /// A batch has been embedded; more may wait.
    Embedded,
    /// Nothing waits.
    Done,
    /// The model can't be asked now.
    Later,
}

/// Makes a model known to the store, and drops those that nobody has used for long.
pub(super) fn make_known(
    engine: &dyn Engine,
    id: &str,
    now: Timestamp,
) -> EngineResult<ModelNumber> {
    write(engine, |txn| {
        let number = txn.use_embedding_model(id, now)?;
        txn.drop_embedding_models(now.plus_ms(-KEPT_MS))?;
        Ok(number)
    })
}

/// Returns how many records wait for a vector, those included that somebody is at.
pub(super) fn n_waiting(shared: &Shared) -> EngineResult<u64> {
    let Ok(embedder) = shared.slot.embedder() else {
        return Ok(0);
    };
    let model = shared.model(&embedder.model().to_string())?;
    read(shared.engine.as_ref(), |snapshot| {
        snapshot.n_unembedded(model)
    })
}

/// Embeds the next batch.
pub(super) fn step(shared: &Shared) -> EngineResult<Step> {
    let Ok(embedder) = shared.slot.embedder() else {
        return Ok(Step::Later);
    };
    let engine = shared.engine.as_ref();
    let model = shared.model(&embedder.model().to_string())?;
    let now = shared.clock.now();
    if !read(engine, |snapshot| snapshot.has_unembedded(model, now))? {
        return Ok(Step::Done);
    }
    let rows = write(engine, |txn| {
        txn.take_unembedded(model, now, now.plus_ms(TAKEN_MS), BATCH)
    })?;
    if rows.is_empty() {
        // Older records had vectors already; there may be more of them.
        return Ok(Step::Embedded);
    }
    let records = read(engine, |snapshot| snapshot.records_at(&rows))?;
    match embedded(shared, embedder.as_ref(), &records) {
        Ok(vectors) => {
            keep(engine, model, &records, &vectors)?;
            Ok(Step::Embedded)
        }
        Err(_) => {
            write(engine, |txn| {
                txn.give_back_unembedded(model, &rows, now.plus_ms(REST_MS))
            })?;
            Ok(Step::Later)
        }
    }
}

/// Returns the packed vectors of records, in order.
fn embedded(
    shared: &Shared,
    embedder: &dyn Embedder,
    records: &[Stored],
) -> Result<Vec<Vec<u8>>, EmbedError> {
    let mut texts: Vec<String> = Vec::new();
    let mut n_pieces = Vec::with_capacity(records.len());
    for stored in records {
        let pieces = pieces(shared, embedder, &stored.record);
        n_pieces.push(pieces.len());
        texts.extend(pieces);
    }
    let mut vectors = all_vectors(embedder, &texts)?.into_iter();
    Ok(n_pieces
        .into_iter()
        .map(|n| {
            let pieces: Vec<_> = vectors.by_ref().take(n).flatten().collect();
            pack(&pieces.iter().map(Vector::to_bytes).collect::<Vec<_>>())
        })
        .collect())
}

fn pieces(shared: &Shared, embedder: &dyn Embedder, record: &Record) -> Vec<String> {
    let day = written_day(record.said.created_at);
    let passage = passage_of(record, &day);
    if !embedder.is_remote() {
        return embedder.pieces(&passage);
    }
    // What leaves this computer is looked over with today's rules, whenever it was saved.
    let clean = |text: &str| shared.guard.redact(text).0.to_string();
    let (who, fact) = (passage.who.map(clean), clean(passage.fact));
    embedder.pieces(&Passage {
        who: who.as_deref(),
        fact: &fact,
        ..passage
    })
}

/// Returns a vector for each text; none for one that the model finds no direction in.
fn all_vectors(
    embedder: &dyn Embedder,
    texts: &[String],
) -> Result<Vec<Option<Vector>>, EmbedError> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    match embedder.embed(&texts) {
        Ok(vectors) => Ok(vectors.into_iter().map(Some).collect()),
        Err(error) if !error.is_about_a_text() => Err(error),
        // One text must not keep the others from having theirs.
        Err(_) => texts
            .iter()
            .map(|text| match embedder.embed(&[text]) {
                Ok(vectors) => Ok(vectors.into_iter().next()),
                Err(error) if error.is_about_a_text() => Ok(None),
                Err(error) => Err(error),
            })
            .collect(),
    }
}

/// Keeps the vectors of the records that still say what was embedded.
fn keep(
    engine: &dyn Engine,
    model: ModelNumber,
    records: &[Stored],
    vectors: &[Vec<u8>],
) -> Result<(), EngineError> {
    let rows: Vec<Row> = records.iter().map(|stored| stored.row).collect();
    write(engine, |txn| {
        let present: HashMap<Row, Record> = txn
            .records_at(&rows)?
            .into_iter()
            .map(|stored| (stored.row, stored.record))
            .collect();
        for (stored, data) in records.iter().zip(vectors) {
            if present.get(&stored.row) == Some(&stored.record) {
                txn.keep_vector(model, stored.row, data)?;
            }
        }
        // A changed record waits on, for whoever comes next.
        let changed: Vec<Row> = records
            .iter()
            .filter(|stored| present.get(&stored.row) != Some(&stored.record))
            .map(|stored| stored.row)
            .collect();
        txn.give_back_unembedded(model, &changed, Timestamp::from_ms(0))
    })
}
