-- Agents and the credentials that act for them (contract 10).

CREATE TABLE agents (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    name TEXT NOT NULL,
    description TEXT,
    default_model TEXT,
    -- JSON array; NULL: any.
    allowed_models TEXT,
    scope_grants TEXT NOT NULL,
    parent_agent_id TEXT REFERENCES agents (id),
    delegation_depth BIGINT NOT NULL CHECK (delegation_depth >= 0),
    max_active_credentials BIGINT NOT NULL,
    default_expiry_hours BIGINT NOT NULL,
    metadata TEXT NOT NULL,
    created_by_type TEXT NOT NULL,
    created_by_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    archived_at BIGINT
);
CREATE INDEX agents_by_org ON agents (org_id, mode, created_at, id);

CREATE TABLE agent_credentials (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    agent_id TEXT NOT NULL REFERENCES agents (id),
    source TEXT NOT NULL CHECK (source IN ('api', 'oauth')),
    application_id TEXT,
    label TEXT,
    digest BYTES NOT NULL UNIQUE,
    hint TEXT NOT NULL,
    scope_grants TEXT NOT NULL,
    runtime_user TEXT,
    delegated_by TEXT NOT NULL REFERENCES users (id),
    per_minute BIGINT,
    concurrency BIGINT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    last_used_at BIGINT,
    revoked_at BIGINT
);
CREATE INDEX agent_credentials_by_agent ON agent_credentials (agent_id, created_at, id);
