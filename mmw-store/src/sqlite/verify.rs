//! Checks a store from end to end and tells what is wrong. "Busy" is never told as damage.

use mmw_core::audit::Walk;
use mmw_core::ids::RecordId;
use mmw_core::text::ContentDigest;

use super::SqliteTxn;
use super::columns as col;
use crate::engine::{AuditTrail as _, EngineError, EngineResult};

/// The most problems of one kind that are told.
const MAX_TOLD: usize = 20;

/// How many rows of the audit are read at a time.
const AUDIT_PAGE: usize = 1000;

/// Each check: what it looks for, and a query that returns what is wrong as one text a row.
const CHECKS: &[(&str, &str)] = &[
    (
        "foreign keys",
        "SELECT 'a row of ' || \"table\" || ' refers to a missing row of ' || parent
         FROM pragma_foreign_key_check",
    ),
    (
        "counters of workspaces",
        "SELECT 'workspace number ' || w.number || ' counts ' || w.n_records || ' records and '
             || w.n_words || ' words; there are ' || count(r.row) || ' and '
             || coalesce(sum(t.n_words), 0)
         FROM workspaces w
         LEFT JOIN records r ON r.row BETWEEN w.number << 27 AND (w.number << 27 | (1 << 27) - 1)
             AND r.forgotten_at IS NULL
         LEFT JOIN record_terms t ON t.row = r.row
         GROUP BY w.number
         HAVING w.n_records <> count(r.row) OR w.n_words <> coalesce(sum(t.n_words), 0)",
    ),
    (
        "sequences of workspaces",
        "SELECT 'workspace number ' || w.number || ' would number a new record like an old one'
         FROM workspaces w
         WHERE EXISTS (SELECT 1 FROM records r WHERE r.row
             BETWEEN (w.number << 27) + w.next_seq AND (w.number << 27 | (1 << 27) - 1))",
    ),
    (
        "counters of projects",
        "SELECT 'project number ' || p.number || ' counts ' || p.n_records
             || ' records; its workspaces count ' || coalesce(sum(w.n_records), 0)
         FROM projects p LEFT JOIN workspaces w ON w.project = p.number
         GROUP BY p.number HAVING p.n_records <> coalesce(sum(w.n_records), 0)",
    ),
    (
        "workspaces of records",
        "SELECT 'row ' || row || ' does not lie in its workspace' FROM records
         WHERE workspace <> row >> 27",
    ),
    (
        "words of records",
        "SELECT 'row ' || r.row || ' can not be found by its words'
         FROM records r WHERE r.forgotten_at IS NULL
             AND (NOT EXISTS (SELECT 1 FROM record_words_docsize d WHERE d.id = r.row)
                 OR NOT EXISTS (SELECT 1 FROM record_terms t WHERE t.row = r.row))",
    ),
    (
        "words of forgotten records",
        "SELECT 'row ' || d.id || ' is forgotten or missing and still found by its words'
         FROM (SELECT id FROM record_words_docsize UNION SELECT row FROM record_terms) d
         LEFT JOIN records r ON r.row = d.id
         WHERE r.row IS NULL OR r.forgotten_at IS NOT NULL",
    ),
    (
        "vectors of forgotten records",
        "SELECT 'row ' || v.row || ' is forgotten and still has a vector'
         FROM vectors v JOIN records r ON r.row = v.row WHERE r.forgotten_at IS NOT NULL",
    ),
    (
        "records without a vector",
        "SELECT 'row ' || t.row || ' has no vector of model number ' || m.number
             || ' and does not wait for one'
         FROM embedding_models m JOIN record_terms t ON t.row <= m.done_to
         WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.row = t.row AND v.model = m.number)
             AND NOT EXISTS
                 (SELECT 1 FROM embedding_queue q WHERE q.row = t.row AND q.model = m.number)",
    ),
    (
        "forgotten records that wait for a vector",
        "SELECT 'row ' || q.row || ' is forgotten and still waits for a vector'
         FROM embedding_queue q JOIN records r ON r.row = q.row
         WHERE r.forgotten_at IS NOT NULL",
    ),
    (
        "links of forgotten records",
        "SELECT 'row ' || l.from_row || ' and row ' || l.to_row || ' are linked, one is forgotten'
         FROM links l JOIN records f ON f.row = l.from_row JOIN records t ON t.row = l.to_row
         WHERE f.forgotten_at IS NOT NULL
             OR (t.forgotten_at IS NOT NULL AND l.kind <> 'derived_from')",
    ),
    (
        "purged records",
        "SELECT 'row ' || row || ' is purged and still has content' FROM records
         WHERE purged <> 0 AND (forgotten_at IS NULL OR content <> '')",
    ),
    (
        "source reports",
        "SELECT 'project number ' || p.number || ' counts ' || p.n_source_reports
             || ' source reports; there are ' || count(s.hash)
         FROM projects p LEFT JOIN source_reports s ON s.project = p.number
         GROUP BY p.number HAVING p.n_source_reports <> count(s.hash)",
    ),
];

/// Returns what is wrong.
pub(super) fn problems(txn: &SqliteTxn<'_>) -> EngineResult<Vec<String>> {
    let mut problems = Vec::new();
    note(&mut problems, "the file", own_check(txn))?;
    for (what, sql) in CHECKS {
        let found = txn.many(&format!("{sql} LIMIT {MAX_TOLD}"), [], |row| row.get(0));
        note(&mut problems, what, found)?;
    }
    note(&mut problems, "contents of records", contents(txn))?;
    note(&mut problems, "the audit", audit_chain(txn))?;
    Ok(problems)
}

/// Adds what a check found. A check that fails over damage has found damage; any other failure is
/// not a finding.
fn note(
    problems: &mut Vec<String>,
    what: &str,
    found: EngineResult<Vec<String>>,
) -> EngineResult<()> {
    match found {
        Ok(found) => problems.extend(found.into_iter().map(|text| format!("{what}: {text}"))),
        Err(EngineError::Corrupt(text)) => problems.push(format!("{what}: {text}")),
        Err(other) => return Err(other),
    }
    Ok(())
}

/// Runs SQLite's own check of pages, indexes and the full-text index.
fn own_check(txn: &SqliteTxn<'_>) -> EngineResult<Vec<String>> {
    let mut found: Vec<String> =
        txn.many(&format!("PRAGMA integrity_check({MAX_TOLD})"), [], |row| {
            row.get(0)
        })?;
    found.retain(|line| line != "ok");
    Ok(found)
}

/// Compares what records say with the digests that were kept when they were saved, one row in memory
/// at a time. White space counts for as little as it does in the digest.
fn contents(txn: &SqliteTxn<'_>) -> EngineResult<Vec<String>> {
    let mut statement = txn
        .conn
        .prepare_cached("SELECT id, digest, content FROM records WHERE forgotten_at IS NULL")?;
    let mut rows = statement.query([])?;
    let mut told = Vec::new();
    let mut n_changed = 0_usize;
    while let Some(row) = rows.next()? {
        let digest: ContentDigest = col::id(row, 1)?;
        let is_whole = row
            .get_ref(2)?
            .as_str()
            .is_ok_and(|content| ContentDigest::of(content) == digest);
        if is_whole {
            continue;
        }
        n_changed += 1;
        if told.len() < MAX_TOLD {
            let id: RecordId = col::id(row, 0)?;
            told.push(format!("record {id} does not say what was saved"));
        }
    }
    if n_changed > told.len() {
        let n_more = n_changed - told.len();
        told.push(format!("{n_more} more records do not say what was saved"));
    }
    Ok(told)
}

/// Computes the chain of the audit anew.
fn audit_chain(txn: &SqliteTxn<'_>) -> EngineResult<Vec<String>> {
    let mut walk = Walk::default();
    loop {
        let page = txn.audit(walk.next(), AUDIT_PAGE)?;
        let is_last = page.len() < AUDIT_PAGE;
        for row in page {
            if !walk.step(row.seq, &row.entry, &row.hash) {
                return Ok(vec![format!("row {} is missing", walk.next())]);
            }
        }
        if is_last {
            let broken = walk.broken_at();
            let told = broken.map(|row| format!("row {row} was changed, or a row before it"));
            return Ok(told.into_iter().collect());
        }
    }
}
