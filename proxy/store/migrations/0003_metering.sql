-- Metering: budgets per cycle, holds of requests in flight, the append-only ledger, replicas.

CREATE TABLE budgets (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    cycle_start BIGINT NOT NULL,
    cycle_end BIGINT NOT NULL,
    -- Caches of the ledger; recomputed from it at any time.
    used_credits_micro BIGINT NOT NULL,
    used_spend_micro BIGINT NOT NULL,
    -- Sums of the holds of this cycle.
    held_credits_micro BIGINT NOT NULL CHECK (held_credits_micro >= 0),
    held_spend_micro BIGINT NOT NULL CHECK (held_spend_micro >= 0),
    PRIMARY KEY (org_id, mode, cycle_start)
);

-- What an organization allows itself per cycle; NULL is no cap, 0 blocks everything (contract 12.4).
CREATE TABLE budget_caps (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    credit_cap_micro BIGINT,
    spend_cap_micro BIGINT,
    alert_thresholds TEXT NOT NULL,
    updated_by TEXT,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, mode)
);

CREATE TABLE replicas (
    id TEXT PRIMARY KEY,
    started_at BIGINT NOT NULL,
    lease_until BIGINT NOT NULL
);

-- One row per inference between its intent and its terminal audit row, also where nothing is held. Few at any
-- time, so that recovery reads them all and no index has to be kept.
CREATE TABLE holds (
    request_id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL,
    mode TEXT NOT NULL,
    cycle_start BIGINT NOT NULL,
    credits_micro BIGINT NOT NULL CHECK (credits_micro >= 0),
    spend_micro BIGINT NOT NULL CHECK (spend_micro >= 0),
    replica_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    FOREIGN KEY (org_id, mode, cycle_start) REFERENCES budgets (org_id, mode, cycle_start)
--[sqlite]
) WITHOUT ROWID;
--[postgres]
);
--[both]

-- Two postings per inference, `debit` and `credit`, whose amounts cancel out. Tokens stand on the debit alone.
-- Request ids grow with time: on SQLite both postings land on one page.
CREATE TABLE ledger (
    id TEXT NOT NULL,
    org_id TEXT NOT NULL,
    mode TEXT NOT NULL,
    request_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    account TEXT NOT NULL,
    amount_micro BIGINT NOT NULL,
    unit TEXT NOT NULL,
    cost_usd_micro BIGINT NOT NULL,
    price_list TEXT NOT NULL,
    cycle_start BIGINT NOT NULL,
    result TEXT NOT NULL,
    model TEXT NOT NULL,
    surface TEXT NOT NULL,
    actor_type TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    billed_to TEXT NOT NULL CHECK (billed_to IN ('operator', 'organization')),
    sonnet_equivalent_tokens BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cache_read_tokens BIGINT NOT NULL,
    cache_creation_tokens BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (request_id, kind)
--[sqlite]
) WITHOUT ROWID;
--[postgres]
);
--[both]
CREATE INDEX ledger_by_cycle ON ledger (org_id, mode, cycle_start, created_at);

--[sqlite]
CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger
BEGIN SELECT RAISE(ABORT, 'ledger is append-only'); END;
CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger
BEGIN SELECT RAISE(ABORT, 'ledger is append-only'); END;
--[postgres]
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$;
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
--[both]
