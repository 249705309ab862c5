//! A memory on a real SQLite file with a clock that the test moves and seeded randomness.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use mmw_core::env::{Clock, Entropy};
use mmw_core::ids::RecordId;
use mmw_core::place::{Caller, Reviewer, Scope, Way, WorkspaceName};
use mmw_core::record::Record;
use mmw_core::text::ContentDigest;
use mmw_core::time::Timestamp;
use mmw_core::wire::{
    EnvelopeArgs, ExplainAnswer, ExplainArgs, ForgetAnswer, ForgetArgs, Hit, RememberAnswer,
    RememberArgs, ResolveAnswer, ResolveArgs, SearchAnswer, SearchArgs, ValidateAnswer,
    ValidateArgs,
};
use mmw_guard::Guard;
use mmw_store::embed::OpenEmbedder;
use mmw_store::engine::{NewRecord, write};
use mmw_store::sqlite::{Options, Sqlite};
use mmw_store::testing::build;
use mmw_store::{Failure, Memory, RememberError};

/// A clock that stands still until the test moves it.
pub(crate) struct TestClock(AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.0.load(Ordering::SeqCst))
    }
}

/// Randomness that is the same in every run.
struct Seeded(AtomicU64);

impl Entropy for Seeded {
    fn fill(&self, bytes: &mut [u8]) {
        for byte in bytes {
            let mut x = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::SeqCst);
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *byte = (x >> 56) as u8;
        }
    }
}

pub(crate) struct World {
    folder: tempfile::TempDir,
    clock: Arc<TestClock>,
    pub(crate) memory: Memory,
    /// The local person in the project `backend-repository`.
    pub(crate) me: Caller,
}

/// 2026-03-14T09:30:00Z
const START_MS: i64 = 1_773_480_600_000;

impl World {
    pub(crate) fn new() -> Self {
        Self::made(&Options::standard(), None)
    }

    /// A world on a store that is opened with other options.
    pub(crate) fn opened(options: &Options) -> Self {
        Self::made(options, None)
    }

    /// A world that searches by meaning too.
    pub(crate) fn embedding(embedder: Option<Box<OpenEmbedder>>) -> Self {
        Self::made(&Options::standard(), embedder)
    }

    fn made(options: &Options, embedder: Option<Box<OpenEmbedder>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(TestClock(AtomicI64::new(START_MS)));
        let entropy = Arc::new(Seeded(AtomicU64::new(7)));
        let file = folder.path().join("memory.db");
        let engine = Arc::new(Sqlite::open_with(&file, options).unwrap());
        let memory = Memory::with(engine, Guard::standard(), embedder, clock.clone(), entropy);
        let me = memory
            .local_caller("backend-repository", Way::Library)
            .unwrap();
        Self {
            folder,
            clock,
            memory,
            me,
        }
    }

    /// Everything that lies in the files of the store.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let files = std::fs::read_dir(self.folder.path()).unwrap();
        files
            .flat_map(|file| std::fs::read(file.unwrap().path()).unwrap())
            .collect()
    }

    /// Another opening of the same store, as another process would have it.
    pub(crate) fn other_engine(&self) -> Sqlite {
        Sqlite::open(&self.folder.path().join("memory.db")).unwrap()
    }

    /// Does to the file what no door of the store does.
    pub(crate) fn run_sql(&self, sql: &str) {
        let file = self.folder.path().join("memory.db");
        let connection = rusqlite::Connection::open(file).unwrap();
        connection.execute_batch(sql).unwrap();
    }

    /// Another memory on the same store, as another process would have it.
    pub(crate) fn other_memory(&self, embedder: Option<Box<OpenEmbedder>>) -> Memory {
        let entropy = Arc::new(Seeded(AtomicU64::new(11)));
        let engine = Arc::new(self.other_engine());
        Memory::with(
            engine,
            Guard::standard(),
            embedder,
            self.clock.clone(),
            entropy,
        )
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn pass(&self, ms: i64) {
        self.clock.0.fetch_add(ms, Ordering::SeqCst);
    }

    /// The local person with one right more than an agent has.
    pub(crate) fn with_scope(&self, scope: Scope) -> Caller {
        Caller {
            scopes: self.me.scopes.with(scope),
            ..self.me.clone()
        }
    }

    /// Somebody else's project in the same store.
    pub(crate) fn stranger(&self) -> Caller {
        let other = self
            .memory
            .local_caller("other-repository", Way::Library)
            .unwrap();
        // Another person: the `@user` workspace is theirs.
        let theirs = mmw_core::ids::ProjectId::from_bytes([9; 16]);
        Caller {
            user_project: theirs,
            principal: mmw_core::ids::PrincipalId::from_bytes([9; 16]),
            ..other
        }
    }

    pub(crate) fn try_save(&self, args: RememberArgs) -> Result<RememberAnswer, RememberError> {
        self.memory
            .remember(&self.me, args, &EnvelopeArgs::default())
    }

    /// Saves and lets a second pass.
    pub(crate) fn save(&self, args: RememberArgs) -> RememberAnswer {
        let answer = self.try_save(args).unwrap();
        self.pass(1_000);
        answer
    }

    /// Writes a record as an older program did whose guard found nothing in it.
    pub(crate) fn write_unscreened(&self, n: u64, change: impl Fn(&mut Record)) -> RecordId {
        let place = self.me.place(WorkspaceName::default());
        let mut record = build::record(&place, n, "an old statement");
        record.said.author = self.me.principal;
        change(&mut record);
        let words = mmw_store::words::document(&[&record.content]);
        write(self.memory.engine(), |txn| {
            txn.insert_record(&NewRecord {
                record: &record,
                digest: ContentDigest::of(&record.content),
                words: &words,
                replaced: &[],
                approval: None,
                screened: 0,
            })
        })
        .unwrap();
        record.id
    }

    /// Saves a version of a fact and returns its id.
    pub(crate) fn say(&self, fact_key: &str, content: &str) -> RecordId {
        self.save(fact(fact_key, content)).record.unwrap().id
    }

    /// Saves a statement without a topic and returns its id.
    pub(crate) fn note(&self, content: &str) -> RecordId {
        self.save(statement(content)).record.unwrap().id
    }

    pub(crate) fn search(&self, args: &SearchArgs) -> SearchAnswer {
        self.memory.search(&self.me, args).unwrap()
    }

    pub(crate) fn find(&self, query: &str) -> Vec<Hit> {
        self.search(&asking(query)).hits
    }

    pub(crate) fn ids(&self, query: &str) -> Vec<RecordId> {
        self.find(query).iter().map(|hit| hit.record.id).collect()
    }

    pub(crate) fn forget(&self, id: RecordId) -> ForgetAnswer {
        let args = ForgetArgs {
            memory_id: Some(id.to_string()),
            ..ForgetArgs::default()
        };
        self.memory.forget(&self.me, &args).unwrap()
    }

    pub(crate) fn try_explain(&self, id: RecordId) -> Result<ExplainAnswer, Failure> {
        self.memory.explain(
            &self.me,
            &ExplainArgs {
                memory_id: id.to_string(),
            },
        )
    }

    pub(crate) fn explain(&self, id: RecordId) -> ExplainAnswer {
        self.try_explain(id).unwrap()
    }

    pub(crate) fn status(&self, id: RecordId) -> String {
        self.explain(id).status
    }

    pub(crate) fn validate(&self, source_id: &str, hash: &str) -> ValidateAnswer {
        let args = ValidateArgs {
            source_id: source_id.into(),
            current_source_hash: hash.into(),
            workspace: None,
        };
        self.memory.validate(&self.me, &args).unwrap()
    }

    pub(crate) fn try_resolve(
        &self,
        fact_key: &str,
        winner: RecordId,
    ) -> Result<ResolveAnswer, Failure> {
        let args = ResolveArgs {
            fact_key: fact_key.into(),
            winner: winner.to_string(),
            ..ResolveArgs::default()
        };
        let answer = self
            .memory
            .resolve(&self.me, Reviewer::at_terminal(), &args);
        self.pass(1_000);
        answer
    }

    pub(crate) fn resolve(&self, fact_key: &str, winner: RecordId) -> ResolveAnswer {
        self.try_resolve(fact_key, winner).unwrap()
    }
}

pub(crate) fn statement(content: &str) -> RememberArgs {
    RememberArgs {
        content: content.into(),
        ..RememberArgs::default()
    }
}

pub(crate) fn fact(fact_key: &str, content: &str) -> RememberArgs {
    RememberArgs {
        fact_key: Some(fact_key.into()),
        ..statement(content)
    }
}

pub(crate) fn asking(query: &str) -> SearchArgs {
    SearchArgs {
        query: query.into(),
        ..SearchArgs::default()
    }
}

pub(crate) fn sha(digit: char) -> String {
    format!("sha256:{}", digit.to_string().repeat(64))
}

pub(crate) fn sourced(args: RememberArgs, source_id: &str, hash: &str) -> RememberArgs {
    RememberArgs {
        source_id: Some(source_id.into()),
        source_hash: Some(hash.into()),
        ..args
    }
}

pub(crate) fn derived(content: &str, from: &[RecordId]) -> RememberArgs {
    RememberArgs {
        kind: Some("summary".into()),
        derived_from: from.iter().map(ToString::to_string).collect(),
        ..statement(content)
    }
}
