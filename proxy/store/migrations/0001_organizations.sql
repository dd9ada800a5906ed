-- Who uses the gateway: organizations, their people, projects, keys, agreements and encryption keys.

CREATE TABLE organizations (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    slug TEXT NOT NULL UNIQUE,
    plan_tier TEXT NOT NULL,
    -- NULL: what the plan of that tier includes.
    monthly_credits_micro BIGINT,
    evaluation_ends_at BIGINT,
    phi_mode TEXT NOT NULL CHECK (phi_mode IN ('redact', 'block')),
    phi_restore BOOLEAN NOT NULL,
    ai_paused BOOLEAN NOT NULL,
    premium_models TEXT NOT NULL,
    -- Sealed under the organization key.
    default_system_prompt BYTES,
    per_request_max_tokens BIGINT NOT NULL,
    default_project_id TEXT NOT NULL,
    features TEXT NOT NULL,
    webhook_payload TEXT NOT NULL CHECK (webhook_payload IN ('thin', 'full')),
    cycle_anchor_day BIGINT NOT NULL CHECK (cycle_anchor_day BETWEEN 1 AND 28),
    cycle_timezone TEXT NOT NULL,
    conversation_days BIGINT NOT NULL,
    audit_days BIGINT NOT NULL CHECK (audit_days >= 2190),
    -- NULL: the default of the limits policy.
    per_minute BIGINT,
    per_day BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE org_keys (
    org_id TEXT NOT NULL REFERENCES organizations (id),
    version BIGINT NOT NULL,
    wrapped BYTES NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, version)
);

CREATE TABLE users (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    email TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'compliance', 'member', 'viewer')),
    status TEXT NOT NULL CHECK (status IN ('active', 'suspended')),
    mfa_enabled BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    last_login_at BIGINT
);
CREATE INDEX users_by_org ON users (org_id, id);

CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX projects_by_org ON projects (org_id, id);

CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    name TEXT NOT NULL,
    digest BYTES NOT NULL UNIQUE,
    hint TEXT NOT NULL,
    scopes TEXT NOT NULL,
    default_version TEXT,
    per_minute BIGINT,
    delegating_user_id TEXT REFERENCES users (id),
    created_by_type TEXT NOT NULL,
    created_by_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    last_used_at BIGINT
);
CREATE INDEX api_keys_by_org ON api_keys (org_id, created_at, id);

CREATE TABLE baa_templates (
    version TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    body TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    published_at BIGINT NOT NULL,
    -- Until when acceptances of an older template still count; NULL: without end.
    reaccept_by BIGINT
);

CREATE TABLE baa_acceptances (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    template_version TEXT NOT NULL REFERENCES baa_templates (version),
    template_sha256 TEXT NOT NULL,
    accepted_by_user_id TEXT NOT NULL REFERENCES users (id),
    signer_name TEXT NOT NULL,
    signer_title TEXT NOT NULL,
    signer_email TEXT NOT NULL,
    accepted_at BIGINT NOT NULL,
    ip TEXT,
    user_agent TEXT,
    effective_at BIGINT NOT NULL,
    expires_at BIGINT,
    superseded_at BIGINT,
    terminated_at BIGINT
);
CREATE INDEX baa_acceptances_by_org ON baa_acceptances (org_id, accepted_at, id);
