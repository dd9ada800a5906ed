-- The tree over the audit log (contract 14.4), what keeps sealed rows as they are, and what retention may remove.

-- Rows that are no leaf yet, in the order in which they were written. A row is here from its own transaction on until
-- the transaction that makes it a leaf.
CREATE TABLE audit_unsealed (
--[sqlite]
    seq INTEGER PRIMARY KEY,
--[postgres]
    seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
--[both]
    audit_id TEXT NOT NULL UNIQUE
);
INSERT INTO audit_unsealed (audit_id) SELECT id FROM audit ORDER BY occurred_at, id;

-- The leaves. They stay when their rows have expired.
CREATE TABLE audit_leaves (
    leaf_index BIGINT PRIMARY KEY,
    audit_id TEXT NOT NULL UNIQUE,
    leaf_hash BYTES NOT NULL,
    -- Whose row it is and of when, so that an export shows rows that are gone.
    org_id TEXT,
    mode TEXT,
    occurred_at BIGINT NOT NULL
);
CREATE INDEX audit_leaves_by_org ON audit_leaves (org_id, mode, occurred_at, leaf_index);

-- Complete subtrees whose height is a multiple of 4, the leaves left out.
CREATE TABLE audit_nodes (
    height BIGINT NOT NULL,
    position BIGINT NOT NULL,
    hash BYTES NOT NULL,
    PRIMARY KEY (height, position)
);

-- One row: the lock of the sealers, the name of the log, the right edge of its tree and its newest checkpoint.
CREATE TABLE audit_tree (
    only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
    origin TEXT NOT NULL,
    size BIGINT NOT NULL,
    edge BYTES NOT NULL,
    checkpoint TEXT NOT NULL,
    signed_at BIGINT NOT NULL
);

CREATE INDEX conversations_by_age ON conversations (org_id, updated_at);

-- A row may be removed when it is a leaf and as old as its organization's retention, at least 2190 days, by the clock
-- of the database. There is no switch that lifts this.
--[sqlite]
DROP TRIGGER audit_no_delete;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
WHEN NOT EXISTS (SELECT 1 FROM audit_leaves WHERE audit_id = OLD.id)
    OR OLD.occurred_at >= (CAST(strftime('%s', 'now') AS INTEGER) - 86400 * MAX(2190,
        COALESCE((SELECT audit_days FROM organizations WHERE id = OLD.org_id), 2190))) * 1000
BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
CREATE TRIGGER audit_is_queued AFTER INSERT ON audit
BEGIN INSERT INTO audit_unsealed (audit_id) VALUES (NEW.id); END;
CREATE TRIGGER audit_unsealed_no_update BEFORE UPDATE ON audit_unsealed
BEGIN SELECT RAISE(ABORT, 'audit_unsealed is append-only'); END;
CREATE TRIGGER audit_unsealed_no_delete BEFORE DELETE ON audit_unsealed
WHEN NOT EXISTS (SELECT 1 FROM audit_leaves WHERE audit_id = OLD.audit_id)
BEGIN SELECT RAISE(ABORT, 'audit_unsealed is append-only'); END;
CREATE TRIGGER audit_leaves_no_update BEFORE UPDATE ON audit_leaves
BEGIN SELECT RAISE(ABORT, 'audit_leaves is append-only'); END;
CREATE TRIGGER audit_leaves_no_delete BEFORE DELETE ON audit_leaves
BEGIN SELECT RAISE(ABORT, 'audit_leaves is append-only'); END;
CREATE TRIGGER audit_nodes_no_update BEFORE UPDATE ON audit_nodes
BEGIN SELECT RAISE(ABORT, 'audit_nodes is append-only'); END;
CREATE TRIGGER audit_nodes_no_delete BEFORE DELETE ON audit_nodes
BEGIN SELECT RAISE(ABORT, 'audit_nodes is append-only'); END;
CREATE TRIGGER audit_tree_grows BEFORE UPDATE ON audit_tree WHEN NEW.size < OLD.size
BEGIN SELECT RAISE(ABORT, 'audit_tree is append-only'); END;
CREATE TRIGGER audit_tree_no_delete BEFORE DELETE ON audit_tree
BEGIN SELECT RAISE(ABORT, 'audit_tree is append-only'); END;
--[postgres]
DROP TRIGGER audit_append_only ON audit;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE FUNCTION refuse_early_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM audit_leaves WHERE audit_id = OLD.id)
        OR OLD.occurred_at >= (EXTRACT(EPOCH FROM clock_timestamp())::BIGINT - 86400 * GREATEST(2190,
            COALESCE((SELECT audit_days FROM organizations WHERE id = OLD.org_id), 2190))) * 1000
    THEN RAISE EXCEPTION 'audit is append-only'; END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER audit_no_early_delete BEFORE DELETE ON audit
FOR EACH ROW EXECUTE FUNCTION refuse_early_delete();
CREATE FUNCTION queue_for_sealing() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO audit_unsealed (audit_id) VALUES (NEW.id); RETURN NULL; END $$;
CREATE TRIGGER audit_is_queued AFTER INSERT ON audit
FOR EACH ROW EXECUTE FUNCTION queue_for_sealing();
CREATE TRIGGER audit_unsealed_append_only BEFORE UPDATE OR TRUNCATE ON audit_unsealed
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE FUNCTION refuse_unsealing() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM audit_leaves WHERE audit_id = OLD.audit_id)
    THEN RAISE EXCEPTION 'audit_unsealed is append-only'; END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER audit_unsealed_until_sealed BEFORE DELETE ON audit_unsealed
FOR EACH ROW EXECUTE FUNCTION refuse_unsealing();
CREATE TRIGGER audit_leaves_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_leaves
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_nodes_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_nodes
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE FUNCTION refuse_shrinking() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.size < OLD.size THEN RAISE EXCEPTION 'audit_tree is append-only'; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER audit_tree_grows BEFORE UPDATE ON audit_tree
FOR EACH ROW EXECUTE FUNCTION refuse_shrinking();
CREATE TRIGGER audit_tree_append_only BEFORE DELETE OR TRUNCATE ON audit_tree
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
--[both]
