-- A log is mostly of inferences, and most questions are about something else: what is asked of other events is read
-- along an index that inferences have no entry in, and that costs them nothing.
CREATE INDEX audit_beside_inferences ON audit (org_id, mode, occurred_at, id)
    WHERE SUBSTR(event, 1, 10) <> 'inference.';
