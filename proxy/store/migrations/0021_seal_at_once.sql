-- What the sealer takes from the queue of the audit log is judged once a statement (decision 23).

--[postgres]
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
