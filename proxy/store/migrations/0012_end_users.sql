-- One key per person that agents speak with: all of that person's conversations are sealed below it, so that
-- destroying it makes them unreadable at once (contract 19.4).

CREATE TABLE end_user_keys (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    -- Whom agents' credentials name; NULL once erased.
    runtime_user TEXT,
    -- Wrapped by the organization key; NULL once erased.
    wrapped BYTES,
    created_at BIGINT NOT NULL,
    erased_at BIGINT,
    CHECK ((wrapped IS NULL) = (erased_at IS NOT NULL)),
    CHECK ((runtime_user IS NULL) = (erased_at IS NOT NULL)),
    UNIQUE (org_id, mode, runtime_user)
);

-- NULL: the data key is wrapped by the organization key itself.
ALTER TABLE conversations ADD COLUMN end_user_key_id TEXT REFERENCES end_user_keys (id);
CREATE INDEX conversations_by_end_user ON conversations (org_id, mode, runtime_user, id);
