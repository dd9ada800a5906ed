-- A cheaper queue for the audit log (decision 23). The sealer asks it by place alone; that a row is in it once follows from
-- the log's own key and the trigger that fills it. What it takes is judged once a statement.

--[sqlite]
DROP TRIGGER audit_is_queued;
CREATE TABLE audit_queue (seq INTEGER PRIMARY KEY, audit_id TEXT NOT NULL);
INSERT INTO audit_queue (seq, audit_id) SELECT seq, audit_id FROM audit_unsealed;
DROP TABLE audit_unsealed;
ALTER TABLE audit_queue RENAME TO audit_unsealed;
CREATE TRIGGER audit_is_queued AFTER INSERT ON audit
BEGIN INSERT INTO audit_unsealed (audit_id) VALUES (NEW.id); END;
CREATE TRIGGER audit_unsealed_no_update BEFORE UPDATE ON audit_unsealed
BEGIN SELECT RAISE(ABORT, 'audit_unsealed is append-only'); END;
CREATE TRIGGER audit_unsealed_no_delete BEFORE DELETE ON audit_unsealed
WHEN NOT EXISTS (SELECT 1 FROM audit_leaves WHERE audit_id = OLD.audit_id)
BEGIN SELECT RAISE(ABORT, 'audit_unsealed is append-only'); END;
--[postgres]
ALTER TABLE audit_unsealed DROP CONSTRAINT audit_unsealed_audit_id_key;
DROP TRIGGER audit_unsealed_until_sealed ON audit_unsealed;
-- A subquery for each row, along the index of the leaves: as a join, which the planner would make of it without knowing
-- how many rows `gone` has, it reads all leaves.
CREATE FUNCTION refuse_unsealing_any() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM gone WHERE (SELECT l.leaf_index FROM audit_leaves l WHERE l.audit_id = gone.audit_id) IS NULL)
    THEN RAISE EXCEPTION 'audit_unsealed is append-only'; END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_unsealed_until_sealed AFTER DELETE ON audit_unsealed REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION refuse_unsealing_any();
DROP FUNCTION refuse_unsealing();
--[both]
