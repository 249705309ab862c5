-- What a search by meaning needs: the models that gave vectors, the vectors, and what waits for one.

-- Never written to until now. A vector is found by its number: numbers only rise, so that whoever
-- holds vectors in memory reads what came later, whichever program wrote it.
DROP TABLE vectors;

CREATE TABLE embedding_models (
    number  INTEGER PRIMARY KEY,
    -- Name, dimensions and form of text: vectors of other ids do not compare.
    id      TEXT NOT NULL UNIQUE,
    -- Records up to this row were looked through for those without a vector. What was saved since the
    -- model came is in the queue, wherever its row lies.
    done_to INTEGER NOT NULL DEFAULT 0,
    used_at INTEGER NOT NULL
) STRICT;

-- `data` is one piece after the other: a factor (f32, little-endian) and a byte a dimension. Empty if
-- the record has nothing to embed.
CREATE TABLE vectors (
    seq   INTEGER PRIMARY KEY AUTOINCREMENT,
    model INTEGER NOT NULL REFERENCES embedding_models (number),
    row   INTEGER NOT NULL REFERENCES records (row),
    data  BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX vectors_row ON vectors (row, model);

-- Unforgotten records that wait for a vector. Who takes one has it until `taken_until`; a worker that
-- died loses nothing.
CREATE TABLE embedding_queue (
    model       INTEGER NOT NULL REFERENCES embedding_models (number),
    row         INTEGER NOT NULL REFERENCES records (row),
    taken_until INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (model, row)
) STRICT, WITHOUT ROWID;

-- Triggers, so that records that an older program saves, changes or forgets are not missed.
CREATE TRIGGER embedding_of_a_new_record AFTER INSERT ON record_terms
BEGIN
    INSERT INTO embedding_queue (model, row) SELECT number, NEW.row FROM embedding_models;
END;
CREATE TRIGGER embedding_of_a_forgotten_record AFTER DELETE ON record_terms
BEGIN
    DELETE FROM embedding_queue WHERE row = OLD.row AND model IN (SELECT number FROM embedding_models);
END;
CREATE TRIGGER embedding_of_a_changed_record AFTER DELETE ON vectors
WHEN EXISTS (SELECT 1 FROM record_terms WHERE row = OLD.row)
    AND EXISTS (SELECT 1 FROM embedding_models WHERE number = OLD.model AND used_at >= 0)
BEGIN
    INSERT INTO embedding_queue (model, row) VALUES (OLD.model, OLD.row) ON CONFLICT DO NOTHING;
END;

-- Which vectors went, with numbers that only rise: whoever holds vectors in memory drops them as exactly as
-- it reads new ones. It tells no more than that there was a record. Those of a dropped model don't count;
-- the newest 100,000 are kept, and who is further behind reads everything anew.
CREATE TABLE removed_vectors (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT,
    row    INTEGER NOT NULL,
    vector INTEGER NOT NULL
) STRICT;
CREATE TRIGGER vector_went AFTER DELETE ON vectors
WHEN EXISTS (SELECT 1 FROM embedding_models WHERE number = OLD.model AND used_at >= 0)
BEGIN
    INSERT INTO removed_vectors (row, vector) VALUES (OLD.row, OLD.seq);
    DELETE FROM removed_vectors WHERE seq <= (SELECT max(seq) FROM removed_vectors) - 100000;
END;

-- With which version of the path from text to words the index was made, and up to which row it has been
-- made again since that version changed.
INSERT INTO meta (name, value) VALUES ('analysis_version', '1'), ('analysis_done_to', '0');
