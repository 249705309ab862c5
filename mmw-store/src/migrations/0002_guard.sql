-- What the guard needs to look again: which rules a record was screened with, what a project asks of
-- the guard, and which reasons in the audit had a secret taken out.

-- The number of the rules that the record was screened with; 0 is before there was one.
ALTER TABLE records ADD COLUMN screened INTEGER NOT NULL DEFAULT 0;

CREATE TABLE guard_policies (
    project INTEGER PRIMARY KEY REFERENCES projects (number),
    text    TEXT NOT NULL,
    set_at  INTEGER NOT NULL,
    set_by  BLOB NOT NULL
) STRICT;

-- Rows of the audit whose reason was redacted. A later row of the audit vouches for each.
CREATE TABLE audit_redactions (
    seq INTEGER PRIMARY KEY REFERENCES audit (seq),
    at  INTEGER NOT NULL
) STRICT;

DROP TRIGGER audit_is_not_changed;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
WHEN NOT (NEW.seq IS OLD.seq AND NEW.at IS OLD.at AND NEW.account IS OLD.account
    AND NEW.project IS OLD.project AND NEW.principal IS OLD.principal AND NEW.key IS OLD.key
    AND NEW.way IS OLD.way AND NEW.deed IS OLD.deed AND NEW.ids IS OLD.ids
    AND NEW.hash IS OLD.hash AND OLD.why IS NOT NULL AND NEW.why IS NOT NULL
    AND EXISTS (SELECT 1 FROM audit_redactions r WHERE r.seq = OLD.seq))
BEGIN
    SELECT RAISE(ABORT, 'the audit can only be added to');
END;
CREATE TRIGGER audit_redactions_stay BEFORE DELETE ON audit_redactions
BEGIN
    SELECT RAISE(ABORT, 'the audit can only be added to');
END;
