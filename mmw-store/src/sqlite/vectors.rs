//! Vectors in SQLite, and the queue of records that wait for one.
//!
//! That records come into the queue and leave it with their words is up to triggers of the schema, so
//! that it also happens when an older program writes.

use std::ops::Range;

use mmw_core::time::Timestamp;

use super::SqliteTxn;
use super::columns as col;
use crate::engine::{
    EngineResult, KeptVector, ModelNumber, RemovalNumber, RemovedVector, Row, VectorNumber,
    VectorReach, VectorWrites, Vectors,
};

/// Marks a model whose vectors are being dropped: none of them is waited for again.
const DROPPED: i64 = -1;

/// `done_to` when all records that were there before the model have been looked through.
const ALL_DONE: Row = Row::MAX;

fn kept_vector(row: &rusqlite::Row<'_>) -> rusqlite::Result<KeptVector> {
    Ok(KeptVector {
        number: row.get(0)?,
        row: row.get(1)?,
        is_of_model: row.get(2)?,
        data: row.get(3)?,
    })
}

impl Vectors for SqliteTxn<'_> {
    fn embedding_model(&self, id: &str) -> EngineResult<Option<ModelNumber>> {
        self.one(
            "SELECT number FROM embedding_models WHERE id = ?1",
            [id],
            |row| row.get(0),
        )
    }

    fn vector_reach(&self) -> EngineResult<VectorReach> {
        // The newest may be deleted; its number is given to no other.
        let reach = self.one(
            "SELECT coalesce(max(seq) FILTER (WHERE name = 'vectors'), 0),
                 coalesce(max(seq) FILTER (WHERE name = 'removed_vectors'), 0)
             FROM sqlite_sequence",
            [],
            |row| {
                Ok(VectorReach {
                    vector: row.get(0)?,
                    removal: row.get(1)?,
                })
            },
        )?;
        Ok(reach.unwrap_or_default())
    }

    fn vectors_in(
        &self,
        model: ModelNumber,
        rows: &Range<Row>,
        limit: usize,
    ) -> EngineResult<Vec<KeptVector>> {
        self.many(
            "SELECT seq, row, 1, data FROM vectors INDEXED BY vectors_row
             WHERE row >= ?2 AND row < ?3 AND model = ?1 ORDER BY row LIMIT ?4",
            (model, rows.start, rows.end, col::limit(limit)),
            kept_vector,
        )
    }

    fn vectors_after(
        &self,
        model: ModelNumber,
        after: VectorNumber,
        limit: usize,
    ) -> EngineResult<Vec<KeptVector>> {
        self.many(
            "SELECT seq, row, model = ?1, CASE WHEN model = ?1 THEN data ELSE x'' END FROM vectors
             WHERE seq > ?2 ORDER BY seq LIMIT ?3",
            (model, after, col::limit(limit)),
            kept_vector,
        )
    }

    fn removals_after(
        &self,
        after: RemovalNumber,
        limit: usize,
    ) -> EngineResult<Vec<RemovedVector>> {
        self.many(
            "SELECT seq, row, vector FROM removed_vectors WHERE seq > ?1 ORDER BY seq LIMIT ?2",
            (after, col::limit(limit)),
            |row| {
                Ok(RemovedVector {
                    removal: row.get(0)?,
                    row: row.get(1)?,
                    vector: row.get(2)?,
                })
            },
        )
    }

    fn n_indexed(&self) -> EngineResult<u64> {
        let found = self.one(
            "SELECT coalesce(sum(n_records), 0) FROM projects",
            [],
            |row| col::count(row, 0),
        )?;
        Ok(found.unwrap_or(0))
    }

    fn n_vectors(&self, model: ModelNumber) -> EngineResult<u64> {
        let found = self.one(
            "SELECT count(*) FROM vectors INDEXED BY vectors_row WHERE model = ?1",
            [model],
            |row| col::count(row, 0),
        )?;
        Ok(found.unwrap_or(0))
    }

    fn n_unembedded(&self, model: ModelNumber) -> EngineResult<u64> {
        let found = self.one(
            "SELECT (SELECT count(*) FROM embedding_queue WHERE model = ?1)
                 + (SELECT count(*) FROM embedding_models WHERE number = ?1 AND done_to < ?2)",
            (model, ALL_DONE),
            |row| col::count(row, 0),
        )?;
        Ok(found.unwrap_or(0))
    }

    fn has_unembedded(&self, model: ModelNumber, now: Timestamp) -> EngineResult<bool> {
        let found = self.one(
            "SELECT 1 FROM embedding_queue WHERE model = ?1 AND taken_until <= ?2
             UNION ALL
             SELECT 1 FROM embedding_models WHERE number = ?1 AND done_to < ?3
             LIMIT 1",
            (model, now.as_ms(), ALL_DONE),
            |_| Ok(()),
        )?;
        Ok(found.is_some())
    }
}

impl SqliteTxn<'_> {
    /// Moves the next records that were there before the model, and have no vector, into the queue.
    fn queue_older(&self, model: ModelNumber, limit: usize) -> EngineResult<()> {
        let done_to = self
            .one(
                "SELECT done_to FROM embedding_models WHERE number = ?1",
                [model],
                |row| row.get::<_, Row>(0),
            )?
            .unwrap_or(ALL_DONE);
        if done_to == ALL_DONE {
            return Ok(());
        }
        let rows: Vec<Row> = self.many(
            "SELECT row FROM record_terms WHERE row > ?1 ORDER BY row LIMIT ?2",
            (done_to, col::limit(limit)),
            |row| row.get(0),
        )?;
        let reached = match rows.last() {
            Some(last) if rows.len() == limit => *last,
            _ => ALL_DONE,
        };
        self.run(
            "INSERT INTO embedding_queue (model, row)
             SELECT ?1, wanted.value FROM rarray(?2) wanted
             WHERE NOT EXISTS (SELECT 1 FROM vectors v
                 WHERE v.row = wanted.value AND v.model = ?1)
             ON CONFLICT DO NOTHING",
            (model, col::numbers(rows)),
        )?;
        self.run(
            "UPDATE embedding_models SET done_to = ?2 WHERE number = ?1",
            (model, reached),
        )?;
        Ok(())
    }

    fn take_from_queue(
        &self,
        model: ModelNumber,
        now: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> EngineResult<Vec<Row>> {
        self.many(
            "UPDATE embedding_queue SET taken_until = ?3
             WHERE model = ?1 AND row IN (SELECT row FROM embedding_queue
                 WHERE model = ?1 AND taken_until <= ?2 ORDER BY row DESC LIMIT ?4)
             RETURNING row",
            (model, now.as_ms(), until.as_ms(), col::limit(limit)),
            |row| row.get(0),
        )
    }
}

impl VectorWrites for SqliteTxn<'_> {
    fn use_embedding_model(&mut self, id: &str, now: Timestamp) -> EngineResult<ModelNumber> {
        let number = self.one(
            "INSERT INTO embedding_models (id, used_at) VALUES (?1, ?2)
             ON CONFLICT DO UPDATE SET used_at = max(used_at, excluded.used_at)
             RETURNING number",
            (id, now.as_ms()),
            |row| row.get(0),
        )?;
        Ok(number.unwrap_or(0))
    }

    fn take_unembedded(
        &mut self,
        model: ModelNumber,
        now: Timestamp,
        until: Timestamp,
        limit: usize,
    ) -> EngineResult<Vec<Row>> {
        let taken = self.take_from_queue(model, now, until, limit)?;
        if !taken.is_empty() {
            return Ok(taken);
        }
        self.queue_older(model, limit)?;
        self.take_from_queue(model, now, until, limit)
    }

    fn keep_vector(&mut self, model: ModelNumber, row: Row, data: &[u8]) -> EngineResult<bool> {
        let waited = self.run(
            "DELETE FROM embedding_queue WHERE model = ?1 AND row = ?2",
            (model, row),
        )?;
        if waited == 0 {
            return Ok(false);
        }
        self.run(
            "INSERT INTO vectors (model, row, data) VALUES (?1, ?2, ?3)",
            (model, row, data),
        )?;
        Ok(true)
    }

    fn give_back_unembedded(
        &mut self,
        model: ModelNumber,
        rows: &[Row],
        from: Timestamp,
    ) -> EngineResult<()> {
        self.run(
            "UPDATE embedding_queue SET taken_until = ?3
             WHERE model = ?1 AND row IN (SELECT value FROM rarray(?2))",
            (model, col::numbers(rows.to_vec()), from.as_ms()),
        )?;
        Ok(())
    }

    fn drop_embedding_models(&mut self, unused_since: Timestamp) -> EngineResult<u32> {
        self.run(
            "UPDATE embedding_models SET used_at = ?2 WHERE used_at < ?1",
            (unused_since.as_ms(), DROPPED),
        )?;
        self.run(
            "DELETE FROM vectors WHERE model IN
                 (SELECT number FROM embedding_models WHERE used_at = ?1)",
            [DROPPED],
        )?;
        self.run(
            "DELETE FROM embedding_queue WHERE model IN
                 (SELECT number FROM embedding_models WHERE used_at = ?1)",
            [DROPPED],
        )?;
        let n_dropped = self.run("DELETE FROM embedding_models WHERE used_at = ?1", [DROPPED])?;
        Ok(u32::try_from(n_dropped).unwrap_or(u32::MAX))
    }
}
