-- Fewer trees to keep for each request (decision 36).

-- All that is summed up stands on the debit.
DROP INDEX ledger_by_cycle;
CREATE INDEX ledger_by_cycle ON ledger (org_id, mode, cycle_start, created_at) WHERE kind = 'debit';

--[sqlite]
-- An `INTEGER PRIMARY KEY` is the row's own number; of any other type it is a tree beside the table.
DROP TRIGGER audit_no_delete;
DROP TRIGGER audit_unsealed_no_delete;
CREATE TABLE numbered_leaves (
    leaf_index INTEGER PRIMARY KEY,
    audit_id TEXT NOT NULL UNIQUE,
    leaf_hash BYTES NOT NULL,
    org_id TEXT,
    mode TEXT,
    occurred_at BIGINT NOT NULL
);
INSERT INTO numbered_leaves SELECT leaf_index, audit_id, leaf_hash, org_id, mode, occurred_at FROM audit_leaves
    ORDER BY leaf_index;
DROP TABLE audit_leaves;
ALTER TABLE numbered_leaves RENAME TO audit_leaves;
CREATE INDEX audit_leaves_by_org ON audit_leaves (org_id, mode, occurred_at, leaf_index);
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
WHEN NOT EXISTS (SELECT 1 FROM audit_leaves WHERE audit_id = OLD.id)
    OR OLD.occurred_at >= (CAST(strftime('%s', 'now') AS INTEGER) - 86400 * MAX(2190,
        COALESCE((SELECT audit_days FROM organizations WHERE id = OLD.org_id), 2190))) * 1000
BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
CREATE TRIGGER audit_unsealed_no_delete BEFORE DELETE ON audit_unsealed
WHEN NOT EXISTS (SELECT 1 FROM audit_leaves WHERE audit_id = OLD.audit_id)
BEGIN SELECT RAISE(ABORT, 'audit_unsealed is append-only'); END;
CREATE TRIGGER audit_leaves_no_update BEFORE UPDATE ON audit_leaves
BEGIN SELECT RAISE(ABORT, 'audit_leaves is append-only'); END;
CREATE TRIGGER audit_leaves_no_delete BEFORE DELETE ON audit_leaves
BEGIN SELECT RAISE(ABORT, 'audit_leaves is append-only'); END;
--[both]
