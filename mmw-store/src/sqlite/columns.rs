//! How values are kept in columns, and read back.
//!
//! A value that can't be read back is damage of the store, told as such and never guessed.

use std::rc::Rc;

use mmw_core::draft::Replacement;
use mmw_core::ids::{
    AccountId, CandidateId, JobId, PrincipalId, ProjectId, RecordId, ResolutionId,
};
use mmw_core::place::{ReviewWay, WorkspaceName};
use mmw_core::record::FactKey;
use mmw_core::source::ContentHash;
use mmw_core::text::ContentDigest;
use mmw_core::time::Timestamp;
use rusqlite::types::{FromSql, Type, Value, ValueRef};
use rusqlite::{Error, Result, Row as Columns};
use serde_json::json;

use super::fault::Said;
use crate::engine::{Row, SEQUENCE_BITS, WORKSPACE_BITS};

/// The highest sequence in a workspace.
pub(super) const MAX_SEQUENCE: i64 = (1 << SEQUENCE_BITS) - 1;

/// The highest number of a workspace in its project.
pub(super) const MAX_WORKSPACE: i64 = (1 << WORKSPACE_BITS) - 1;

/// Returns the first row of a workspace, by its number.
pub(super) const fn first_row(workspace: i64) -> Row {
    workspace << SEQUENCE_BITS
}

/// Returns the last row that a workspace can have.
pub(super) const fn last_row(workspace: i64) -> Row {
    first_row(workspace) | MAX_SEQUENCE
}

/// Returns the workspace that a row lies in.
pub(super) const fn workspace_of(row: Row) -> i64 {
    row >> SEQUENCE_BITS
}

/// Returns the number before that of the first workspace of a project, by its number.
pub(super) const fn workspaces_from(project: i64) -> i64 {
    project << WORKSPACE_BITS
}

/// Returns the project that a workspace belongs to.
pub(super) const fn project_of(workspace: i64) -> i64 {
    workspace >> WORKSPACE_BITS
}

/// Returns the first row that a record of a project can have.
pub(super) const fn first_row_of_project(project: i64) -> Row {
    first_row(workspaces_from(project))
}

/// Returns the last row that a record of a project can have.
pub(super) const fn last_row_of_project(project: i64) -> Row {
    last_row(workspaces_from(project) | MAX_WORKSPACE)
}

/// Returns the error for a column with a value that makes no sense.
pub(super) fn unreadable(at: usize, what: &str) -> Error {
    Error::FromSqlConversionFailure(at, Type::Null, Box::new(Said(format!("not {what}"))))
}

/// An id that is kept as its sixteen bytes.
pub(super) trait Id: Sized {
    fn from_stored(bytes: [u8; 16]) -> Self;
}

macro_rules! ids {
    ($($name:ident)+) => {$(
        impl Id for $name {
            fn from_stored(bytes: [u8; 16]) -> Self {
                Self::from_bytes(bytes)
            }
        }
    )+};
}
ids! { AccountId ProjectId PrincipalId RecordId ResolutionId CandidateId JobId ContentDigest }

/// Reads an id (or another value of sixteen bytes).
pub(super) fn id<T: Id>(row: &Columns<'_>, at: usize) -> Result<T> {
    row.get(at).map(T::from_stored)
}

/// Reads an id that may be missing.
pub(super) fn optional_id<T: Id>(row: &Columns<'_>, at: usize) -> Result<Option<T>> {
    Ok(row.get::<_, Option<[u8; 16]>>(at)?.map(T::from_stored))
}

/// Reads a moment.
pub(super) fn moment(row: &Columns<'_>, at: usize) -> Result<Timestamp> {
    row.get(at).map(Timestamp::from_ms)
}

/// Reads a moment that may be missing.
pub(super) fn optional_moment(row: &Columns<'_>, at: usize) -> Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(at)?.map(Timestamp::from_ms))
}

/// Returns the milliseconds of a moment that may be missing.
pub(super) fn ms(moment: Option<Timestamp>) -> Option<i64> {
    moment.map(Timestamp::as_ms)
}

/// Reads a count.
pub(super) fn count(row: &Columns<'_>, at: usize) -> Result<u64> {
    let number: i64 = row.get(at)?;
    u64::try_from(number).map_err(|_| unreadable(at, "a count"))
}

/// Returns a count as it is kept; one beyond 2^63 is kept as that.
pub(super) fn kept_count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Returns a limit of a query; more than there can be is all.
pub(super) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Reads a choice by its name.
pub(super) fn choice<T>(
    row: &Columns<'_>,
    at: usize,
    named: impl FnOnce(&str) -> Option<T>,
) -> Result<T> {
    named(row.get_ref(at)?.as_str()?).ok_or_else(|| unreadable(at, "a known choice"))
}

/// Reads the name of a workspace.
pub(super) fn workspace(row: &Columns<'_>, at: usize) -> Result<WorkspaceName> {
    WorkspaceName::new(row.get_ref(at)?.as_str()?).map_err(|_| unreadable(at, "a workspace name"))
}

/// Reads a fact key that may be missing.
pub(super) fn optional_fact_key(row: &Columns<'_>, at: usize) -> Result<Option<FactKey>> {
    match row.get_ref(at)?.as_str_or_null()? {
        Some(text) => FactKey::new(text)
            .map(Some)
            .map_err(|_| unreadable(at, "a fact key")),
        None => Ok(None),
    }
}

/// Returns how a person decided, by its name.
pub(super) fn review_way(name: &str) -> Option<ReviewWay> {
    [ReviewWay::Key, ReviewWay::Elicitation, ReviewWay::Terminal]
        .into_iter()
        .find(|way| way.name() == name)
}

/// Returns a hash as it is kept: SHA-256 as its 32 bytes, anything else as text.
pub(super) fn kept_hash(hash: &ContentHash) -> Value {
    let digits = hash.as_str().strip_prefix(SHA256).unwrap_or("");
    let bytes: Option<Vec<u8>> = (digits.len() == 64)
        .then(|| {
            digits
                .as_bytes()
                .chunks(2)
                .map(|pair| {
                    let pair = std::str::from_utf8(pair).ok()?;
                    u8::from_str_radix(pair, 16).ok()
                })
                .collect()
        })
        .flatten();
    bytes.map_or_else(|| Value::Text(hash.as_str().to_owned()), Value::Blob)
}

const SHA256: &str = "sha256:";

/// A hash read back from how it is kept.
pub(super) struct KeptHash(pub(super) ContentHash);

impl FromSql for KeptHash {
    fn column_result(value: ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
        let text = match value {
            ValueRef::Blob(bytes) => {
                use std::fmt::Write as _;
                let mut text = SHA256.to_owned();
                for byte in bytes {
                    let _ = write!(text, "{byte:02x}");
                }
                text
            }
            other => other.as_str()?.to_owned(),
        };
        ContentHash::new(&text)
            .map(Self)
            .map_err(|error| rusqlite::types::FromSqlError::Other(Box::new(error)))
    }
}

/// Reads a hash that may be missing.
pub(super) fn optional_hash(row: &Columns<'_>, at: usize) -> Result<Option<ContentHash>> {
    Ok(row.get::<_, Option<KeptHash>>(at)?.map(|kept| kept.0))
}

/// Returns a list of texts as it is kept; an empty one takes no space.
pub(super) fn kept_texts(texts: &[String]) -> Option<String> {
    (!texts.is_empty()).then(|| json!(texts).to_string())
}

/// Reads a list of texts.
pub(super) fn texts(row: &Columns<'_>, at: usize) -> Result<Vec<String>> {
    match row.get_ref(at)?.as_str_or_null()? {
        Some(text) => {
            serde_json::from_str(text).map_err(|_| unreadable(at, "a list of texts in JSON"))
        }
        None => Ok(Vec::new()),
    }
}

/// Returns what was replaced as it is kept.
pub(super) fn kept_replaced(replaced: &[Replacement]) -> Option<String> {
    let list: Vec<_> = replaced
        .iter()
        .map(|replacement| json!([replacement.field, replacement.rule, replacement.count]))
        .collect();
    (!list.is_empty()).then(|| json!(list).to_string())
}

/// Reads what was replaced.
pub(super) fn replaced(row: &Columns<'_>, at: usize) -> Result<Vec<Replacement>> {
    let Some(text) = row.get_ref(at)?.as_str_or_null()? else {
        return Ok(Vec::new());
    };
    let list: Vec<(String, String, u32)> =
        serde_json::from_str(text).map_err(|_| unreadable(at, "a list of replacements in JSON"))?;
    Ok(list
        .into_iter()
        .map(|(field, rule, count)| Replacement {
            field: field_name(&field),
            rule,
            count,
        })
        .collect())
}

/// Returns the name of a draft's field as the code spells it. A name from a newer program is shown
/// as a text of some sort.
fn field_name(name: &str) -> &'static str {
    use mmw_core::draft::Field;
    [
        Field::Content,
        Field::Workspace,
        Field::FactKey,
        Field::Source,
        Field::SourceId,
        Field::SourceRevision,
        Field::Span,
        Field::Scope,
        Field::Tag(0),
        Field::Agent,
        Field::Client,
        Field::Session,
        Field::Branch,
    ]
    .into_iter()
    .map(Field::name)
    .find(|known| *known == name)
    .unwrap_or("text")
}

/// Returns numbers as one parameter for `rarray`.
pub(super) fn numbers(numbers: impl IntoIterator<Item = i64>) -> Rc<Vec<Value>> {
    Rc::new(numbers.into_iter().map(Value::Integer).collect())
}

/// Returns record ids, each once, as one parameter for `rarray`.
pub(super) fn record_ids(ids: &[RecordId]) -> Rc<Vec<Value>> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    Rc::new(
        ids.iter()
            .map(|id| Value::Blob(id.as_bytes().to_vec()))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_reads_back_as_it_was_kept() {
        for (text, is_short) in [
            (format!("sha256:{}", "0a".repeat(32)), true),
            ("sha1:4c53".to_owned(), false),
            ("git:XyZ".to_owned(), false),
        ] {
            let hash = ContentHash::new(&text).unwrap();
            let kept = kept_hash(&hash);
            assert_eq!(matches!(kept, Value::Blob(_)), is_short, "{text}");
            let KeptHash(back) = KeptHash::column_result(ValueRef::from(&kept)).unwrap();
            assert_eq!(back, hash);
        }
    }

    #[test]
    fn rows_of_two_workspaces_or_projects_never_meet() {
        let last = workspaces_from(1) | MAX_WORKSPACE;
        assert!(last_row(last - 1) < first_row(last));
        assert_eq!(last_row(last), last_row_of_project(1));
        assert!(last_row_of_project(1) < first_row_of_project(2));
        assert!(last_row_of_project(4_194_303) > 0);
        assert_eq!(workspace_of(last_row(last)), last);
        assert_eq!(project_of(last), 1);
    }
}
