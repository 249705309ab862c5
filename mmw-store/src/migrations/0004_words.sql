-- What a search by words in memory needs: which records lost or changed their words.

-- Numbers only rise: whoever holds words in memory drops those of these records as exactly as it reads those
-- of new ones, whichever program wrote. It tells no more than that there was a record. The newest 100,000
-- are kept, and who is further behind reads everything anew.
CREATE TABLE changed_words (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    row INTEGER NOT NULL
) STRICT;

-- Triggers, so that what an older program changes or forgets is not missed.
CREATE TRIGGER words_went AFTER DELETE ON record_terms
BEGIN
    INSERT INTO changed_words (row) VALUES (OLD.row);
    DELETE FROM changed_words WHERE seq <= (SELECT max(seq) FROM changed_words) - 100000;
END;
CREATE TRIGGER words_changed AFTER UPDATE ON record_terms
BEGIN
    INSERT INTO changed_words (row) VALUES (NEW.row);
    DELETE FROM changed_words WHERE seq <= (SELECT max(seq) FROM changed_words) - 100000;
END;
