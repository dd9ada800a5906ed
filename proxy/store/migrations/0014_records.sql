-- Apps, the entities of their data, the records, and the webhooks through which others make records (contract 17).

CREATE TABLE apps (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX apps_by_org ON apps (org_id, mode, created_at, id);

CREATE TABLE entities (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    app_id TEXT NOT NULL REFERENCES apps (id),
    key TEXT NOT NULL,
    schema_version BIGINT NOT NULL CHECK (schema_version >= 1),
    -- JSON array.
    fields TEXT NOT NULL,
    -- What the values of its records are sealed with, under the organization key.
    wrapped_key BYTES NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (app_id, key),
    -- The version is part of a key, so that on PostgreSQL whoever changes it waits for the transactions that are
    -- inserting records (their foreign key holds the row), and they for it.
    UNIQUE (id, schema_version)
);
CREATE INDEX entities_by_app ON entities (app_id, created_at, id);

CREATE TABLE records (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    app_id TEXT NOT NULL,
    entity_id TEXT NOT NULL REFERENCES entities (id),
    -- All values, sealed under the key of the entity.
    fields BYTES NOT NULL,
    created_via TEXT NOT NULL CHECK (created_via IN ('api', 'inbound', 'bulk', 'ui')),
    -- What an inbound request said of the delivery that it comes from.
    origin_delivery_id TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX records_by_entity ON records (entity_id, created_at, id);
CREATE INDEX records_by_change ON records (entity_id, updated_at, id);

CREATE TABLE inbound_webhooks (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    app_id TEXT NOT NULL REFERENCES apps (id),
    entity_id TEXT NOT NULL REFERENCES entities (id),
    name TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'inactive')),
    -- SHA-256; the token itself is kept nowhere.
    token_digest BYTES NOT NULL UNIQUE,
    token_hint TEXT NOT NULL,
    -- JSON object: source, field.
    field_mapping TEXT NOT NULL,
    -- NULL: what the policy says.
    per_minute BIGINT CHECK (per_minute >= 0),
    created_at BIGINT NOT NULL,
    last_used_at BIGINT
);
CREATE INDEX inbound_webhooks_by_app ON inbound_webhooks (app_id, created_at, id);
