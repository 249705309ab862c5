//! Ids that depend on what is named and on nothing else, so that what comes again is known again.

use mmw_core::ids::{CandidateId, ID_ENTROPY_BYTES, ProjectId, RecordId, ResolutionId};
use mmw_core::text::comparable;
use mmw_core::time::Timestamp;
use sha2::{Digest as _, Sha256};

use super::Foreign;

fn half(parts: &[&[u8]]) -> [u8; ID_ENTROPY_BYTES] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    let mut half = [0; ID_ENTROPY_BYTES];
    half.copy_from_slice(&hasher.finalize()[..ID_ENTROPY_BYTES]);
    half
}

/// Returns the id of another program's statement in a project and workspace.
pub(super) fn of_foreign(project: ProjectId, workspace: &str, foreign: &Foreign) -> RecordId {
    let moment = foreign.said_at.unwrap_or(Timestamp::from_ms(0));
    let content = comparable(&foreign.args.content);
    let parts = [
        b"foreign".as_slice(),
        project.as_bytes(),
        workspace.as_bytes(),
        foreign.name.as_bytes(),
        content.as_bytes(),
    ];
    RecordId::from_parts(moment, half(&parts))
}

/// Returns the id under which a record comes into a project if its own belongs to another project of
/// this store.
pub(super) fn alias(project: ProjectId, id: RecordId) -> RecordId {
    let random = half(&[b"alias", project.as_bytes(), id.as_bytes()]);
    RecordId::from_parts(moment_of(id.as_bytes()), random)
}

/// Returns the id of a decision whose records came in under an alias.
pub(super) fn alias_of_decision(project: ProjectId, id: ResolutionId) -> ResolutionId {
    let random = half(&[b"decision", project.as_bytes(), id.as_bytes()]);
    ResolutionId::from_parts(moment_of(id.as_bytes()), random)
}

/// Returns the id of the lane's item that a statement waits as.
pub(super) fn waiting(project: ProjectId, id: RecordId) -> CandidateId {
    let random = half(&[b"waiting", project.as_bytes(), id.as_bytes()]);
    CandidateId::from_parts(moment_of(id.as_bytes()), random)
}

/// Returns the id under which a waiting statement comes into a project if its own belongs to another one.
pub(super) fn alias_of_waiting(project: ProjectId, id: CandidateId) -> CandidateId {
    let random = half(&[b"waiting alias", project.as_bytes(), id.as_bytes()]);
    CandidateId::from_parts(moment_of(id.as_bytes()), random)
}

/// Returns the moment that an id was made at.
fn moment_of(bytes: &[u8; 16]) -> Timestamp {
    let ms = bytes[..6]
        .iter()
        .fold(0_i64, |ms, byte| (ms << 8) | i64::from(*byte));
    Timestamp::from_ms(ms)
}
