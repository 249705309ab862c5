//! What a turn of a conversation is, and how far the turns before it speak for it.
//!
//! A turn rarely repeats what it answers: "Yes, twice" says nothing of what was asked. So a search counts
//! the words of the turns before it among its own, at half weight. Statements that stand for themselves
//! (facts, decisions and whatever has a topic) get no neighbours: what happened to be saved before a fact
//! says nothing about it.
//!
//! Only the rule is here. Who the neighbours are is read when a question is asked, never stored.

use crate::record::{Kind, Record, Visibility};

/// What the `source_id` of a session begins with; what follows names the session, up to a `#`.
pub const SESSION: &str = "session:";

/// How many of the turns before a turn speak for it.
pub const TURNS_BEFORE: usize = 2;

/// How much a word of a turn before counts, beside one of the turn's own.
pub const SHARE_OF_BEFORE: f64 = 0.5;

/// The kind of turns.
pub const KIND: Kind = Kind::Context;

/// The visibilities of turns: whoever can see one of a place's turns can see all. A record that is kept from
/// some readers takes no part in a conversation, so that its words move nothing that others see.
pub const VISIBLE_TO_ALL: [Visibility; 2] = [Visibility::Project, Visibility::Organization];

/// Tells whether a record is a turn of a conversation: of kind `context`, without a topic, from a session, and
/// not kept from anybody who sees its place.
///
/// The turns of one conversation are those of one place and one session, in the order in which they
/// arrived.
#[must_use]
pub fn is_turn(record: &Record) -> bool {
    let is_of_session = |id: &crate::source::SourceId| id.document().starts_with(SESSION);
    record.kind == KIND
        && record.fact_key.is_none()
        && VISIBLE_TO_ALL.contains(&record.visibility)
        && record.origin.id.as_ref().is_some_and(is_of_session)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{PrincipalId, ProjectId, RecordId};
    use crate::place::{Place, WorkspaceName};
    use crate::record::{Confidence, DEFAULT_SCOPE, FactKey, Said};
    use crate::source::{Origin, SourceId};
    use crate::time::Timestamp;

    fn record(kind: Kind, source: Option<&str>) -> Record {
        let at = Timestamp::from_ms(0);
        Record {
            id: RecordId::from_bytes([1; 16]),
            place: Place {
                project: ProjectId::from_bytes([2; 16]),
                workspace: WorkspaceName::new("default").unwrap(),
            },
            content: "Yes, twice.".to_owned(),
            fact_key: None,
            kind,
            label: None,
            origin: Origin {
                id: source.map(|id| SourceId::new(id).unwrap()),
                ..Origin::default()
            },
            confidence: Confidence::default(),
            derived_from: Vec::new(),
            scope: DEFAULT_SCOPE.to_owned(),
            tags: Vec::new(),
            valid_from: None,
            valid_until: None,
            visibility: Visibility::Project,
            said: Said {
                author: PrincipalId::from_bytes([3; 16]),
                created_at: at,
                received_at: at,
                agent: None,
                client: None,
                session: None,
                branch: None,
            },
        }
    }

    #[test]
    fn context_of_a_session_is_a_turn() {
        for source in ["session:42", "session:42#7", "session:2026-11-30/a b"] {
            assert!(is_turn(&record(Kind::Context, Some(source))), "{source}");
        }
    }

    #[test]
    fn what_stands_for_itself_is_none() {
        for source in [
            None,
            Some("docs/a.md"),
            Some("sessions:1"),
            Some("docs#session:1"),
        ] {
            assert!(!is_turn(&record(Kind::Context, source)), "{source:?}");
        }
        for kind in Kind::ALL.iter().filter(|kind| **kind != KIND) {
            assert!(!is_turn(&record(*kind, Some("session:42"))), "{kind:?}");
        }
        let topical = Record {
            fact_key: Some(FactKey::new("deploy").unwrap()),
            ..record(Kind::Context, Some("session:42"))
        };
        assert!(!is_turn(&topical));
    }

    #[test]
    fn what_is_kept_from_some_is_no_turn() {
        for visibility in [Visibility::Author, Visibility::Unit] {
            let turn = record(Kind::Context, Some("session:42"));
            assert!(!is_turn(&Record { visibility, ..turn }), "{visibility:?}");
        }
    }
}
