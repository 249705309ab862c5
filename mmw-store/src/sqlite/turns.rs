//! Conversations in SQLite: the turns around a turn, by the index of sources.

use mmw_core::turn::{KIND, SESSION, VISIBLE_TO_ALL};

use super::SqliteTxn;
use super::columns as col;
use crate::engine::{Around, EngineResult, Row, Turns};

/// What a turn is, see [`mmw_core::turn::is_turn`], of `records` under an alias.
fn is_turn(alias: &str) -> String {
    let [project, organization] = VISIBLE_TO_ALL.map(mmw_core::record::Visibility::name);
    let (kind, n_bytes) = (KIND.name(), SESSION.len());
    format!(
        "{alias}.forgotten_at IS NULL AND {alias}.kind = '{kind}' AND {alias}.fact_key IS NULL
         AND substr({alias}.source_document, 1, {n_bytes}) = '{SESSION}'
         AND {alias}.visibility IN ('{project}', '{organization}')"
    )
}

/// Returns the query for the turns of the conversation of `r` on one side of it.
fn beside(comparison: &str, order: &str) -> String {
    // Sessions are short and stores are long: the rows of a session, not those of the workspace, are gone
    // through. Rows of one workspace have their upper bits in common.
    let bits = crate::engine::SEQUENCE_BITS;
    format!(
        "(SELECT group_concat(near.row) FROM (
            SELECT b.row AS row FROM records b INDEXED BY records_source
            WHERE b.source_document = r.source_document AND b.row {comparison} r.row
              AND b.row >> {bits} = r.row >> {bits} AND {}
            ORDER BY b.row {order} LIMIT ?2) near)",
        is_turn("b")
    )
}

/// Reads numbers as `group_concat` strings them together, in the order of their distance from a row.
fn rows(text: Option<String>, from: Row) -> Vec<Row> {
    let text = text.unwrap_or_default();
    let mut rows: Vec<Row> = text.split(',').filter_map(|row| row.parse().ok()).collect();
    rows.sort_unstable_by_key(|row| row.abs_diff(from));
    rows
}

impl Turns for SqliteTxn<'_> {
    fn turns_around(&self, wanted: &[Row], most: usize) -> EngineResult<Vec<Around>> {
        let mut wanted = wanted.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        self.many(
            &format!(
                "SELECT r.row, {}, {}
                 FROM rarray(?1) wanted CROSS JOIN records r ON r.row = wanted.value WHERE {}",
                beside("<", "DESC"),
                beside(">", "ASC"),
                is_turn("r")
            ),
            (col::numbers(wanted), col::limit(most)),
            |found| {
                let row = found.get(0)?;
                Ok(Around {
                    row,
                    before: rows(found.get(1)?, row),
                    after: rows(found.get(2)?, row),
                })
            },
        )
    }
}
