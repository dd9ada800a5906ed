-- The audit log and the epochs of policy sets that its rows name.

CREATE TABLE audit (
    id TEXT PRIMARY KEY,
    -- NULL where a row belongs to no organization (failed authentication, the system itself).
    org_id TEXT,
    mode TEXT,
    request_id TEXT,
    phase TEXT NOT NULL CHECK (phase IN ('requested', 'terminal', 'single')),
    event TEXT NOT NULL,
    occurred_at BIGINT NOT NULL,
    actor_type TEXT NOT NULL,
    actor_id TEXT,
    target_type TEXT,
    target_id TEXT,
    result TEXT NOT NULL,
    surface TEXT,
    model TEXT,
    phi_detected BOOLEAN NOT NULL,
    -- The row of contract 14.1 as JSON, without `integrity`.
    document TEXT NOT NULL,
    UNIQUE (request_id, phase)
);
CREATE INDEX audit_by_org ON audit (org_id, mode, occurred_at, id);

CREATE TABLE policy_epochs (
    digest TEXT PRIMARY KEY,
    epoch BIGINT NOT NULL UNIQUE
);

-- One row: the lock and the last number of the epochs above.
CREATE TABLE policy_epoch_counter (
    only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
    last_epoch BIGINT NOT NULL
);
INSERT INTO policy_epoch_counter (only_row, last_epoch) VALUES (1, 0);

--[sqlite]
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
--[postgres]
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
--[both]
