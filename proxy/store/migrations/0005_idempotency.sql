-- Keys that callers gave their writes, and what they were answered (contract 4).

CREATE TABLE idempotency (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    principal_id TEXT NOT NULL,
    -- SHA-256 of the key: its text opens the response and is kept nowhere.
    key_digest BYTES NOT NULL,
    fingerprint BYTES NOT NULL,
    -- Who runs the request: a request id. NULL once it is completed.
    owner TEXT,
    lease_until BIGINT NOT NULL,
    first_seen_at BIGINT NOT NULL,
    -- Sealed under the organization key and the key's text.
    response BYTES,
    -- NULL until completed.
    expires_at BIGINT,
    PRIMARY KEY (org_id, mode, principal_id, key_digest)
--[sqlite]
) WITHOUT ROWID;
--[postgres]
);
--[both]
CREATE INDEX idempotency_by_end ON idempotency (expires_at);
