//! Decides what saving a screened draft comes to: a new record, or the one that is there already.

use crate::draft::{Draft, Screened};
use crate::ids::{PrincipalId, RecordId};
use crate::place::{Caller, Place};
use crate::record::{Record, Said};
use crate::time::{DAY_MS, Timestamp};

/// How far back an agent's `recorded_at` is believed, in days.
pub const MAX_BACKDATED_DAYS: i64 = 30;

/// What a draft comes to.
#[derive(Debug, Clone, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "taken apart where it is returned, never kept"
)]
pub enum Plan {
    /// A new record is to be written.
    New(Record),
    /// An equal record is there; nothing is to be written.
    Existing(RecordId),
}

/// Decides what saving comes to.
///
/// `id` and `now` were taken before the transaction began, so that a repeat plans the same record.
/// `newest` is the newest version of the draft's fact (without a `fact_key`: the newest record of
/// the same content in place).
#[must_use]
pub fn plan(
    screened: &Screened,
    caller: &Caller,
    id: RecordId,
    now: Timestamp,
    newest: Option<&Record>,
) -> Plan {
    let draft = screened.draft();
    let created_at = match draft.envelope.recorded_at {
        Some(said_at) => said_at.clamp(now.plus_ms(-MAX_BACKDATED_DAYS * DAY_MS), now),
        None => after_newest(now, id, newest),
    };
    let said = Moment {
        author: caller.principal,
        created_at,
        received_at: now,
    };
    let record = record_of(draft, caller.place(draft.workspace.clone()), id, said);
    match newest {
        Some(newest) if says_the_same(newest, &record) => Plan::Existing(newest.id),
        _ => Plan::New(record),
    }
}

/// Who said a statement, when, and when a store took it in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The person.
    pub author: PrincipalId,
    /// When it was said.
    pub created_at: Timestamp,
    /// When a store took it in.
    pub received_at: Timestamp,
}

/// Returns the record of a statement that was kept somewhere else before: it keeps its id, its author
/// and its moments, however old they are. Nothing is planned: what was a version there is one here.
///
/// The one door that does not hold `created_at` to the last [`MAX_BACKDATED_DAYS`] days. An agent's
/// `recorded_at` is a claim about a write of just now, and a clock that is years off would put it
/// behind or before everything; what a store wrote down when it was said is what its history is made
/// of, and without it the versions of a fact would come in another order. Only the future is not believed:
/// nothing was said or taken in later than now.
#[must_use]
pub fn moved(
    screened: &Screened,
    place: Place,
    id: RecordId,
    moment: Moment,
    now: Timestamp,
) -> Record {
    let moment = Moment {
        created_at: moment.created_at.min(now),
        received_at: moment.received_at.min(now),
        ..moment
    };
    record_of(screened.draft(), place, id, moment)
}

fn record_of(draft: &Draft, place: Place, id: RecordId, moment: Moment) -> Record {
    Record {
        id,
        place,
        content: draft.content.clone(),
        fact_key: draft.fact_key.clone(),
        kind: draft.kind,
        label: draft.label.clone(),
        origin: draft.origin.clone(),
        confidence: draft.confidence,
        derived_from: draft.derived_from.clone(),
        scope: draft.scope.clone(),
        tags: draft.tags.clone(),
        valid_from: draft.valid_from,
        valid_until: draft.valid_until,
        visibility: draft.visibility,
        said: Said {
            author: moment.author,
            created_at: moment.created_at,
            received_at: moment.received_at,
            agent: draft.envelope.agent.clone(),
            client: draft.envelope.client.clone(),
            session: draft.envelope.session.clone(),
            branch: draft.envelope.branch.clone(),
        },
    }
}

/// What is said now is newer than what was said before, even within one millisecond or after the
/// clock was set back.
fn after_newest(now: Timestamp, id: RecordId, newest: Option<&Record>) -> Timestamp {
    match newest {
        Some(newest) if (now, id) <= newest.order() => newest.said.created_at.plus_ms(1),
        _ => now,
    }
}

/// Tells whether a record says nothing that the newest version does not say already.
///
/// "A record equal to the newest version in place, author, visibility, `fact_key`, every source
/// field, `derived_from`, validity and normalised content"; also kind, scope, tags, label and
/// confidence, so that nothing that was said is lost. The envelope does not count.
fn says_the_same(newest: &Record, record: &Record) -> bool {
    let Record {
        id: _,
        place,
        content,
        fact_key,
        kind,
        label,
        origin,
        confidence,
        derived_from,
        scope,
        tags,
        valid_from,
        valid_until,
        visibility,
        said,
    } = record;
    let sorted = |list: &[String]| {
        let mut list = list.to_vec();
        list.sort();
        list
    };
    newest.place == *place
        && newest.said.author == said.author
        && newest.visibility == *visibility
        && newest.fact_key == *fact_key
        && newest.origin == *origin
        && newest.derived_from == *derived_from
        && newest.valid_from == *valid_from
        && newest.valid_until == *valid_until
        && newest.kind == *kind
        && newest.scope == *scope
        && sorted(&newest.tags) == sorted(tags)
        && newest.label == *label
        && newest.confidence == *confidence
        && crate::text::comparable(&newest.content) == crate::text::comparable(content)
}

/// Returns the place that a draft goes to for this caller.
#[must_use]
pub fn place_of(screened: &Screened, caller: &Caller) -> Place {
    caller.place(screened.draft().workspace.clone())
}

#[cfg(test)]
mod tests;
