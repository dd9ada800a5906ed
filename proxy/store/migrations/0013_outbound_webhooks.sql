-- Where events are delivered to, and the deliveries that wait, were made or were given up (contract 15).

CREATE TABLE webhook_endpoints (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    url TEXT NOT NULL,
    description TEXT,
    -- JSON array of names, or ["*"].
    events TEXT NOT NULL,
    -- NULL: of any app, of any entity (else a JSON array).
    app_id TEXT,
    entity_keys TEXT,
    max_in_flight BIGINT NOT NULL CHECK (max_in_flight BETWEEN 1 AND 50),
    -- NULL: enabled.
    disabled_reason TEXT CHECK (disabled_reason IN ('manual', 'failing', 'gone')),
    -- The endpoint's own key under the organization key: it seals the secrets and the bodies of the deliveries. Gone
    -- with the endpoint, so that no body opens any more.
    wrapped_key BYTES,
    secret BYTES,
    secret_hint TEXT NOT NULL,
    secret_created_at BIGINT NOT NULL,
    previous_secret BYTES,
    previous_secret_expires_at BIGINT,
    last_success_at BIGINT,
    last_failure_at BIGINT,
    -- Since the last success: attempts that failed, the first of them, and deliveries that were given up.
    consecutive_failures BIGINT NOT NULL,
    failing_since BIGINT,
    exhausted_count BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    -- Its deliveries stay to be looked at until their time is over.
    deleted_at BIGINT,
    CHECK ((deleted_at IS NULL) = (secret IS NOT NULL)),
    CHECK ((secret IS NULL) = (wrapped_key IS NULL)),
    CHECK ((previous_secret IS NULL) = (previous_secret_expires_at IS NULL))
);
CREATE INDEX webhook_endpoints_by_org ON webhook_endpoints (org_id, mode, created_at, id);

-- The outbox: one row per event and endpoint, written in the transaction of the event.
CREATE TABLE webhook_deliveries (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    endpoint_id TEXT NOT NULL REFERENCES webhook_endpoints (id),
    event TEXT NOT NULL,
    app_id TEXT NOT NULL,
    entity_key TEXT NOT NULL,
    -- Sealed under the endpoint's key; the bytes never change.
    body BYTES NOT NULL,
    status TEXT NOT NULL CHECK (status IN
        ('pending', 'delivering', 'delivered', 'retrying', 'exhausted', 'cancelled', 'held')),
    triggered_by TEXT NOT NULL CHECK (triggered_by IN ('schedule', 'replay')),
    -- Attempts that were made, and those of them in the schedule that runs: a replay starts another one.
    attempt_count BIGINT NOT NULL,
    scheduled_count BIGINT NOT NULL,
    -- When it is tried next; of one that is being delivered, when its lease ends. NULL: nothing more happens by itself.
    due_at BIGINT,
    leased_by TEXT,
    replay_id TEXT,
    created_at BIGINT NOT NULL,
    delivered_at BIGINT,
    -- Since when nothing more happens by itself.
    settled_at BIGINT,
    CHECK ((due_at IS NULL) = (status IN ('delivered', 'exhausted', 'cancelled', 'held'))),
    CHECK ((settled_at IS NULL) = (due_at IS NOT NULL)),
    CHECK ((leased_by IS NOT NULL) = (status = 'delivering'))
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_leased ON webhook_deliveries (endpoint_id) WHERE leased_by IS NOT NULL;
CREATE INDEX webhook_deliveries_settled ON webhook_deliveries (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_replay ON webhook_deliveries (replay_id) WHERE replay_id IS NOT NULL;
CREATE INDEX webhook_deliveries_by_org ON webhook_deliveries (org_id, mode, created_at, id);
CREATE INDEX webhook_deliveries_by_endpoint ON webhook_deliveries (endpoint_id, created_at, id);

CREATE TABLE webhook_attempts (
    delivery_id TEXT NOT NULL REFERENCES webhook_deliveries (id),
    number BIGINT NOT NULL,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    triggered_by TEXT NOT NULL CHECK (triggered_by IN ('schedule', 'replay')),
    started_at BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    status_code BIGINT,
    -- NULL: delivered.
    error TEXT,
    -- The address that the connection went to.
    address TEXT,
    PRIMARY KEY (delivery_id, number)
);

-- What a call for many replays has come to.
CREATE TABLE webhook_replays (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    matched BIGINT NOT NULL,
    enqueued BIGINT NOT NULL,
    -- JSON array of {"id", "reason"}.
    skipped TEXT NOT NULL,
    truncated BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX webhook_replays_by_age ON webhook_replays (created_at);
