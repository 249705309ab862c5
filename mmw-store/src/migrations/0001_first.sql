-- The first schema: every family of tables, so that none has to be fitted in later.
--
-- Three families never mix: `records` (with `links`), `capture_events` (with their edges) and
-- `candidates`. Ids are the sixteen bytes of a UUID, moments are milliseconds since 1970 in UTC,
-- lists are JSON. A record's row is `project number << 41 | workspace number << 27 | sequence`, so that
-- the records of one workspace are consecutive numbers in the order of arrival, and those of one
-- project lie together.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Who owns what --------------------------------------------------------------------------------

CREATE TABLE accounts (
    id         BLOB PRIMARY KEY CHECK (length(id) = 16),
    name       TEXT NOT NULL,
    state      TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE principals (
    id         BLOB PRIMARY KEY CHECK (length(id) = 16),
    account    BLOB NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    name       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (account, name)
) STRICT, WITHOUT ROWID;

-- Organizations, for later: units form a tree, principals are members of them with a role.
CREATE TABLE units (
    id         BLOB PRIMARY KEY CHECK (length(id) = 16),
    account    BLOB NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    parent     BLOB REFERENCES units (id) DEFERRABLE INITIALLY DEFERRED,
    kind       TEXT NOT NULL,
    name       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (account, parent, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX units_parent ON units (parent);

CREATE TABLE memberships (
    principal  BLOB NOT NULL REFERENCES principals (id) DEFERRABLE INITIALLY DEFERRED,
    unit       BLOB NOT NULL REFERENCES units (id) DEFERRABLE INITIALLY DEFERRED,
    role       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at   INTEGER,
    PRIMARY KEY (principal, unit, role)
) STRICT, WITHOUT ROWID;
CREATE INDEX memberships_unit ON memberships (unit);

CREATE TABLE projects (
    number               INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 4194303),
    id                   BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    account              BLOB NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    name                 TEXT NOT NULL,
    -- The principal whose hidden project this is; null for a shared one.
    person               BLOB REFERENCES principals (id) DEFERRABLE INITIALLY DEFERRED,
    unit_id              BLOB REFERENCES units (id) DEFERRABLE INITIALLY DEFERRED,
    max_records          INTEGER,
    max_calls_per_minute INTEGER,
    created_at           INTEGER NOT NULL,
    -- Unforgotten records.
    n_records            INTEGER NOT NULL DEFAULT 0,
    n_source_reports     INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX projects_shared ON projects (account, name) WHERE person IS NULL;
CREATE UNIQUE INDEX projects_person ON projects (account, person) WHERE person IS NOT NULL;

-- `number` is `project number << 14 | number in the project`: the upper bits of its records' rows.
CREATE TABLE workspaces (
    number    INTEGER PRIMARY KEY,
    project   INTEGER NOT NULL REFERENCES projects (number),
    name      TEXT NOT NULL,
    -- Unforgotten records and their words, and the sequence of the next record.
    n_records INTEGER NOT NULL DEFAULT 0,
    n_words   INTEGER NOT NULL DEFAULT 0,
    next_seq  INTEGER NOT NULL DEFAULT 0,
    UNIQUE (project, name),
    CHECK (number >> 14 = project)
) STRICT;

CREATE TABLE keys (
    id           TEXT PRIMARY KEY,
    secret_hash  BLOB NOT NULL CHECK (length(secret_hash) = 32),
    account      BLOB NOT NULL REFERENCES accounts (id) DEFERRABLE INITIALLY DEFERRED,
    project      BLOB NOT NULL REFERENCES projects (id) DEFERRABLE INITIALLY DEFERRED,
    user_project BLOB NOT NULL REFERENCES projects (id) DEFERRABLE INITIALLY DEFERRED,
    principal    BLOB NOT NULL REFERENCES principals (id) DEFERRABLE INITIALLY DEFERRED,
    scopes       TEXT NOT NULL,
    name         TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX keys_account ON keys (account, created_at);

-- Records --------------------------------------------------------------------------------------

-- Short columns first: content may go to overflow pages, and what stands before it is read without.
CREATE TABLE records (
    row              INTEGER PRIMARY KEY,
    id               BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    workspace        INTEGER NOT NULL REFERENCES workspaces (number),
    digest           BLOB NOT NULL CHECK (length(digest) = 16),
    fact_key         TEXT,
    kind             TEXT NOT NULL,
    created_at       INTEGER NOT NULL,
    received_at      INTEGER NOT NULL,
    valid_from       INTEGER,
    valid_until      INTEGER,
    confidence       REAL NOT NULL,
    author           BLOB NOT NULL,
    visibility       TEXT NOT NULL,
    unit_id          BLOB,
    forgotten_at     INTEGER,
    forgotten_by     BLOB,
    forget_reason    TEXT,
    purged           INTEGER NOT NULL DEFAULT 0,
    approval         BLOB,
    scope            TEXT NOT NULL,
    label            TEXT,
    -- Hashes are 32 bytes if they are SHA-256, else the text `algorithm:value`.
    source_id        TEXT,
    source_document  TEXT,
    source_hash      ANY,
    source_hash_text ANY,
    source_revision  TEXT,
    span_kind        TEXT,
    span_label       TEXT,
    span_hash        ANY,
    agent            TEXT,
    client           TEXT,
    session          TEXT,
    branch           TEXT,
    tags             TEXT,
    replaced         TEXT,
    content          TEXT NOT NULL
) STRICT;
-- The digest tells without a look at the rows whether all versions say the same.
CREATE INDEX records_fact ON records (workspace, fact_key, digest)
    WHERE forgotten_at IS NULL AND fact_key IS NOT NULL;
CREATE INDEX records_statement ON records (workspace, digest)
    WHERE forgotten_at IS NULL AND fact_key IS NULL;
CREATE INDEX records_source ON records (source_document)
    WHERE forgotten_at IS NULL AND source_document IS NOT NULL;
CREATE INDEX records_hash ON records (source_hash)
    WHERE forgotten_at IS NULL AND source_hash IS NOT NULL;
CREATE INDEX records_hash_text ON records (source_hash_text)
    WHERE forgotten_at IS NULL AND source_hash_text IS NOT NULL;
CREATE INDEX records_span_hash ON records (span_hash)
    WHERE forgotten_at IS NULL AND span_hash IS NOT NULL;
CREATE INDEX records_forgotten ON records (forgotten_at)
    WHERE forgotten_at IS NOT NULL AND purged = 0;

-- The word counts of unforgotten records, apart so that scoring reads dense pages: pairs of a
-- word's fingerprint (u32) and its count (u16), little-endian, ascending.
CREATE TABLE record_terms (
    row     INTEGER PRIMARY KEY REFERENCES records (row),
    n_words INTEGER NOT NULL,
    counts  BLOB NOT NULL
) STRICT;

-- Which unforgotten records have a word. The text comes in words that are separated by spaces;
-- every other printable ASCII character belongs to a word, like all non-ASCII ones do.
CREATE VIRTUAL TABLE record_words USING fts5 (
    words,
    content = '',
    contentless_delete = 1,
    detail = none,
    tokenize = "ascii tokenchars '!""#$%&''()*+,-./:;<=>?@[\]^_`{|}~'"
);
-- Small pages: a search from the newest backwards reads each page whole.
INSERT INTO record_words (record_words, rank) VALUES ('pgsz', 500);

CREATE TABLE links (
    from_row   INTEGER NOT NULL REFERENCES records (row),
    kind       TEXT NOT NULL,
    to_row     INTEGER NOT NULL REFERENCES records (row),
    -- The place in the list that the author gave, for `derived_from`.
    nth        INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (from_row, kind, to_row)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_to ON links (to_row, kind);

CREATE TABLE resolutions (
    id        BLOB PRIMARY KEY CHECK (length(id) = 16),
    workspace INTEGER NOT NULL REFERENCES workspaces (number),
    fact_key  TEXT NOT NULL,
    winner    BLOB NOT NULL,
    at        INTEGER NOT NULL,
    by        BLOB NOT NULL,
    way       TEXT NOT NULL,
    note      TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX resolutions_fact ON resolutions (workspace, fact_key);

CREATE TABLE resolution_claims (
    resolution BLOB NOT NULL REFERENCES resolutions (id),
    nth        INTEGER NOT NULL,
    record     BLOB NOT NULL,
    PRIMARY KEY (resolution, nth)
) STRICT, WITHOUT ROWID;

CREATE TABLE vectors (
    row   INTEGER NOT NULL REFERENCES records (row),
    model TEXT NOT NULL,
    dims  INTEGER NOT NULL,
    data  BLOB NOT NULL,
    PRIMARY KEY (row, model)
) STRICT;

CREATE TABLE idempotency (
    project INTEGER NOT NULL REFERENCES projects (number),
    key     TEXT NOT NULL,
    request BLOB NOT NULL CHECK (length(request) = 32),
    answer  TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (project, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (project, at);

CREATE TABLE source_reports (
    project   INTEGER NOT NULL REFERENCES projects (number),
    hash      ANY NOT NULL,
    source_id TEXT NOT NULL,
    at        INTEGER NOT NULL,
    PRIMARY KEY (project, hash, source_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX source_reports_age ON source_reports (project, at);

-- What was captured ------------------------------------------------------------------------------

CREATE TABLE capture_events (
    id               TEXT PRIMARY KEY,
    project          INTEGER NOT NULL REFERENCES projects (number),
    author           BLOB NOT NULL,
    session          TEXT NOT NULL,
    sequence         INTEGER NOT NULL,
    capture_source   TEXT NOT NULL,
    trigger          TEXT NOT NULL,
    tool_name        TEXT,
    tool_call_id     TEXT,
    agent_id         TEXT,
    root_hash        BLOB,
    branch           TEXT,
    input_hash       BLOB,
    raw_event_hash   BLOB NOT NULL,
    raw_retention    TEXT NOT NULL,
    importance       REAL NOT NULL,
    verdict          TEXT NOT NULL,
    occurred_at      INTEGER NOT NULL,
    received_at      INTEGER NOT NULL,
    redacted_at      INTEGER,
    output_summary   TEXT
) STRICT;
CREATE INDEX capture_events_session ON capture_events (project, session, sequence);

CREATE TABLE capture_edges (
    from_event TEXT NOT NULL,
    kind       TEXT NOT NULL,
    to_event   TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (from_event, kind, to_event)
) STRICT, WITHOUT ROWID;
CREATE INDEX capture_edges_to ON capture_edges (to_event, kind);

-- The lane in front of memory --------------------------------------------------------------------

CREATE TABLE candidates (
    id                     BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    project                INTEGER NOT NULL REFERENCES projects (number),
    workspace              TEXT NOT NULL,
    author                 BLOB NOT NULL,
    kind                   TEXT NOT NULL,
    state                  TEXT NOT NULL,
    digest                 BLOB NOT NULL CHECK (length(digest) = 16),
    fact_key               TEXT,
    classification         TEXT NOT NULL,
    confidence             REAL NOT NULL,
    created_at             INTEGER NOT NULL,
    -- The decision.
    decided_by             BLOB,
    decided_way            TEXT,
    decided_at             INTEGER,
    decided_note           TEXT,
    record                 BLOB,
    -- What the guard found, without the payload.
    finding_rule           TEXT,
    finding_reason         TEXT,
    -- What capture adds.
    importance             REAL,
    privacy_scope          TEXT,
    t_valid                INTEGER,
    t_invalid              INTEGER,
    stale_if               TEXT,
    source_event_hash      BLOB,
    derived_memory_hash    BLOB,
    promotion_target       TEXT,
    promotion_decision_ref TEXT,
    -- Texts; null once they were erased.
    why_durable            TEXT,
    evidence               TEXT NOT NULL DEFAULT '[]',
    replaced               TEXT,
    draft                  TEXT,
    envelope               TEXT
) STRICT;
CREATE INDEX candidates_same ON candidates (project, digest, created_at);
CREATE INDEX candidates_waiting ON candidates (project, created_at) WHERE state = 'waiting';
CREATE INDEX candidates_record ON candidates (record) WHERE record IS NOT NULL;

-- What was done ------------------------------------------------------------------------------------

CREATE TABLE audit (
    seq       INTEGER PRIMARY KEY,
    at        INTEGER NOT NULL,
    account   BLOB NOT NULL,
    project   BLOB,
    principal BLOB NOT NULL,
    key       TEXT,
    way       TEXT NOT NULL,
    deed      TEXT NOT NULL,
    ids       TEXT NOT NULL,
    why       TEXT,
    hash      BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit can only be added to');
END;
CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit can only be added to');
END;

-- Which rows of the audit touched a record.
CREATE TABLE audit_records (
    record BLOB NOT NULL,
    seq    INTEGER NOT NULL REFERENCES audit (seq),
    PRIMARY KEY (record, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE guard_events (
    number    INTEGER PRIMARY KEY,
    project   INTEGER REFERENCES projects (number),
    principal BLOB,
    at        INTEGER NOT NULL,
    way       TEXT NOT NULL,
    verdict   TEXT NOT NULL,
    rule      TEXT NOT NULL,
    field     TEXT NOT NULL,
    n_values  INTEGER NOT NULL
) STRICT;
CREATE INDEX guard_events_project ON guard_events (project, at);

-- A taken job is due again when its lease ends: `due_at` is then the end of the lease.
CREATE TABLE jobs (
    id         BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    kind       TEXT NOT NULL,
    payload    TEXT NOT NULL,
    due_at     INTEGER NOT NULL,
    n_attempts INTEGER NOT NULL DEFAULT 0,
    set_aside  INTEGER NOT NULL DEFAULT 0,
    last_error TEXT
) STRICT;
CREATE INDEX jobs_due ON jobs (due_at) WHERE set_aside = 0;
