-- Credentials of other services, and the names under which projects use them (contract 11).

CREATE TABLE integrations (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    type TEXT NOT NULL CHECK (type = 'custom_http'),
    name TEXT NOT NULL,
    base_url TEXT NOT NULL,
    auth_scheme TEXT NOT NULL CHECK (auth_scheme IN ('bearer', 'basic', 'header')),
    -- The user name of `basic`, the header name of `header`.
    auth_name TEXT,
    -- The secret under a key of its own, and that key under the organization key; both gone once revoked.
    secret BYTES,
    wrapped_key BYTES,
    secret_hint TEXT NOT NULL,
    secret_version BIGINT NOT NULL CHECK (secret_version >= 1),
    created_by_type TEXT NOT NULL,
    created_by_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    rotated_at BIGINT,
    revoked_at BIGINT,
    last_used_at BIGINT,
    CHECK ((auth_scheme = 'bearer') = (auth_name IS NULL)),
    CHECK ((revoked_at IS NULL) = (secret IS NOT NULL)),
    CHECK ((secret IS NULL) = (wrapped_key IS NULL))
);
CREATE INDEX integrations_by_org ON integrations (org_id, mode, created_at, id);

CREATE TABLE integration_bindings (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    integration_id TEXT NOT NULL REFERENCES integrations (id),
    project_id TEXT NOT NULL REFERENCES projects (id),
    alias TEXT NOT NULL,
    -- JSON array; NULL: any path below the base address.
    allowed_paths TEXT,
    created_at BIGINT NOT NULL,
    UNIQUE (project_id, mode, alias)
);
CREATE INDEX integration_bindings_by_integration ON integration_bindings (integration_id, created_at, id);
CREATE INDEX integration_bindings_by_org ON integration_bindings (org_id, mode);
