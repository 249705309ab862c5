//! A repeated request is the same request: answers kept by key.

use mmw_core::draft::{Draft, Screened};
use mmw_core::ids::ProjectId;
use mmw_core::place::Caller;
use mmw_core::time::{DAY_MS, Timestamp};
use mmw_core::wire::RememberArgs;
use sha2::{Digest as _, Sha256};

use super::outcome::Outcome;
use crate::engine::{Answered, EngineResult, Txn};
use crate::memory::failure::RememberError;

/// How long an idempotency key is kept, in days. "Keys live at least 15 days."
const IDEMPOTENCY_DAYS: i64 = 30;

/// An idempotency key as it is kept: as its hash. Clients make keys of what they have at hand, a
/// secret included, and nothing but the same key has to be recognised.
pub(super) fn kept_key(draft: &Draft) -> Option<String> {
    let key = draft.envelope.idempotency_key.as_ref()?;
    let digest = Sha256::digest(key.as_bytes());
    Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The fingerprint of a request: of the screened draft, so that no secret goes into it.
fn fingerprint(screened: &Screened, caller: &Caller) -> [u8; 32] {
    let (args, mut envelope) = RememberArgs::of(screened.draft());
    // When and under which id it was queued may differ between two tries of one request.
    envelope.recorded_at = None;
    envelope.proposed_id = None;
    let canonical = serde_json::json!({
        "principal": caller.principal,
        "args": args,
        "envelope": envelope,
    });
    Sha256::digest(canonical.to_string().as_bytes()).into()
}

pub(super) fn keep(
    txn: &mut dyn Txn,
    project: ProjectId,
    key: &str,
    screened: &Screened,
    caller: &Caller,
    outcome: &Outcome,
    now: Timestamp,
) -> EngineResult<()> {
    let answered = Answered {
        request: fingerprint(screened, caller),
        answer: outcome.to_json(),
        at: now,
    };
    txn.keep_answer(
        project,
        key,
        &answered,
        now.plus_ms(-IDEMPOTENCY_DAYS * DAY_MS),
    )
}

/// "Same key and same request → the same record and the same answer; same key and a different
/// request → `409 Conflict`."
pub(super) fn replay(
    earlier: &Answered,
    screened: &Screened,
    caller: &Caller,
) -> Result<Outcome, RememberError> {
    if earlier.request != fingerprint(screened, caller) {
        return Err(RememberError::IdempotencyConflict);
    }
    Outcome::from_json(&earlier.answer).ok_or_else(|| {
        let damaged = crate::engine::EngineError::Corrupt("a kept answer can't be read".to_owned());
        damaged.into()
    })
}
