//! Builders of values, and the small world that they live in.

use mmw_core::ids::{AccountId, CandidateId, KeyId, PrincipalId, ProjectId, RecordId};
use mmw_core::place::{Place, Scopes, WorkspaceName};
use mmw_core::plan::{AccountState, Limits};
use mmw_core::record::{Confidence, DEFAULT_SCOPE, FactKey, Kind, Record, Said, Visibility};
use mmw_core::source::{ContentHash, Origin, SourceId};
use mmw_core::text::ContentDigest;
use mmw_core::time::Timestamp;

use crate::engine::{
    AccountRow, Engine, EngineResult, KeyRow, LexicalDoc, NewRecord, ProjectKind, ProjectRow, Row,
    TermId, Txn, write,
};

/// The moment at which the world begins.
pub const START: Timestamp = Timestamp::from_ms(1_770_000_000_000);

/// Returns the moment that many minutes after the start.
#[must_use]
pub const fn minute(n: i64) -> Timestamp {
    START.plus_ms(n * 60_000)
}

const fn bytes(kind: u8, n: u64) -> [u8; 16] {
    let n = n.to_be_bytes();
    [
        kind, 0, 0, 0, 0, 0, 0x70, 0, n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7],
    ]
}

/// Returns the record id with that number; higher numbers sort later.
#[must_use]
pub const fn record_id(n: u64) -> RecordId {
    RecordId::from_bytes(bytes(1, n))
}

/// Returns the lane item's id with that number.
#[must_use]
pub const fn candidate_id(n: u64) -> CandidateId {
    CandidateId::from_bytes(bytes(2, n))
}

/// Returns the project id with that number.
#[must_use]
pub const fn project_id(n: u64) -> ProjectId {
    ProjectId::from_bytes(bytes(3, n))
}

/// Returns the principal id with that number.
#[must_use]
pub const fn principal_id(n: u64) -> PrincipalId {
    PrincipalId::from_bytes(bytes(4, n))
}

/// Returns the account id with that number.
#[must_use]
pub const fn account_id(n: u64) -> AccountId {
    AccountId::from_bytes(bytes(5, n))
}

/// Returns the workspace of that name.
#[must_use]
pub fn workspace(name: &str) -> WorkspaceName {
    WorkspaceName::new(name).unwrap()
}

/// Returns the fact key.
#[must_use]
pub fn fact_key(text: &str) -> FactKey {
    FactKey::new(text).unwrap()
}

/// Returns the source id.
#[must_use]
pub fn source_id(text: &str) -> SourceId {
    SourceId::new(text).unwrap()
}

/// Returns a SHA-256 hash whose digits are all that one.
#[must_use]
pub fn sha(digit: char) -> ContentHash {
    ContentHash::new(&format!("sha256:{}", digit.to_string().repeat(64))).unwrap()
}

/// Returns the index entry of a text whose words are separated by white space, taken as they are.
#[must_use]
pub fn words(text: &str) -> LexicalDoc {
    let mut counts = std::collections::BTreeMap::<TermId, u16>::new();
    for word in text.split_whitespace() {
        *counts.entry(crc32fast::hash(word.as_bytes())).or_default() += 1;
    }
    let all: Vec<&str> = text.split_whitespace().collect();
    LexicalDoc {
        text: all.join(" "),
        counts: counts.into_iter().collect(),
        length: u32::try_from(all.len()).unwrap(),
    }
}

/// Returns the record with that number and content: said by the first principal, `n` minutes after
/// the start, everything else left open.
#[must_use]
pub fn record(place: &Place, n: u64, content: &str) -> Record {
    let at = minute(i64::try_from(n).unwrap());
    Record {
        id: record_id(n),
        place: place.clone(),
        content: content.to_owned(),
        fact_key: None,
        kind: Kind::Fact,
        label: None,
        origin: Origin::default(),
        confidence: Confidence::default(),
        derived_from: Vec::new(),
        scope: DEFAULT_SCOPE.to_owned(),
        tags: Vec::new(),
        valid_from: None,
        valid_until: None,
        visibility: Visibility::Project,
        said: Said {
            author: principal_id(1),
            created_at: at,
            received_at: at,
            agent: None,
            client: None,
            session: None,
            branch: None,
        },
    }
}

/// Returns the record as a version of that fact.
#[must_use]
pub fn version(place: &Place, n: u64, key: &str, content: &str) -> Record {
    Record {
        fact_key: Some(fact_key(key)),
        ..record(place, n, content)
    }
}

/// Writes a record; its words are those of its content.
///
/// # Errors
/// As [`crate::engine::RecordWrites::insert_record`].
pub fn put(txn: &mut dyn Txn, record: &Record) -> EngineResult<Row> {
    txn.insert_record(&NewRecord {
        record,
        digest: ContentDigest::of(&record.content),
        words: &words(&record.content),
        replaced: &[],
        approval: None,
        screened: 7,
    })
}

/// An account with two people and three projects: two shared ones and the first person's own.
#[derive(Debug, Clone)]
pub struct World {
    /// The account.
    pub account: AccountId,
    /// The first person.
    pub person: PrincipalId,
    /// The second person.
    pub other_person: PrincipalId,
    /// Workspace `default` of the first project.
    pub here: Place,
    /// Workspace `backend` of the first project.
    pub backend: Place,
    /// Workspace `default` of the second project.
    pub elsewhere: Place,
    /// The first person's `@user` workspace.
    pub own: Place,
}

impl World {
    /// Writes the world into a store, unless it is there already.
    ///
    /// # Panics
    /// If it can't be written.
    pub fn found(engine: &dyn Engine) -> Self {
        let world = Self::plan();
        write(engine, |txn| world.write(txn)).unwrap();
        world
    }

    /// Returns the world without writing it.
    #[must_use]
    pub fn plan() -> Self {
        let place = |project, name: &str| Place {
            project: project_id(project),
            workspace: workspace(name),
        };
        Self {
            account: account_id(1),
            person: principal_id(1),
            other_person: principal_id(2),
            here: place(1, "default"),
            backend: place(1, "backend"),
            elsewhere: place(2, "default"),
            own: place(3, "@user"),
        }
    }

    /// Writes the world in a transaction, unless it is there already.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn write(&self, txn: &mut dyn Txn) -> EngineResult<()> {
        if txn.account(self.account)?.is_some() {
            return Ok(());
        }
        txn.insert_account(&AccountRow {
            id: self.account,
            name: "local".to_owned(),
            state: AccountState::Active,
            created_at: START,
        })?;
        txn.insert_principal(self.person, self.account, "ada", START)?;
        txn.insert_principal(self.other_person, self.account, "bob", START)?;
        for (place, name, kind) in [
            (&self.here, "zeta", ProjectKind::Shared),
            (&self.elsewhere, "alpha", ProjectKind::Shared),
            (&self.own, "@user", ProjectKind::Person(self.person)),
        ] {
            txn.insert_project(&self.project(place, name, kind))?;
        }
        Ok(())
    }

    /// Returns a project's row.
    #[must_use]
    pub fn project(&self, place: &Place, name: &str, kind: ProjectKind) -> ProjectRow {
        ProjectRow {
            id: place.project,
            account: self.account,
            name: name.to_owned(),
            kind,
            limits: Limits::default(),
            created_at: START,
        }
    }

    /// Returns a key of the first person for the first project.
    ///
    /// # Panics
    /// If the text is no key id.
    #[must_use]
    pub fn key(&self, id: &str) -> KeyRow {
        KeyRow {
            id: KeyId::new(id).unwrap(),
            secret_hash: [7; 32],
            account: self.account,
            project: self.here.project,
            user_project: self.own.project,
            principal: self.person,
            scopes: Scopes::agent(),
            name: "laptop".to_owned(),
            created_at: START,
            expires_at: None,
            revoked_at: None,
            last_used_at: None,
        }
    }
}
