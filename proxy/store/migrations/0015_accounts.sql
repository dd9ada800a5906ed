-- How people sign in: passwords, second factors, links, sessions, and the counting of attempts. None of it is of a mode:
-- a person is the same in live and in test.

-- People write their address as they like.
CREATE UNIQUE INDEX users_by_plain_email ON users (LOWER(email));

CREATE TABLE passwords (
    user_id TEXT PRIMARY KEY REFERENCES users (id),
    org_id TEXT NOT NULL REFERENCES organizations (id),
    -- Argon2id in PHC form.
    phc TEXT NOT NULL,
    changed_at BIGINT NOT NULL
);

CREATE TABLE second_factors (
    user_id TEXT PRIMARY KEY REFERENCES users (id),
    org_id TEXT NOT NULL REFERENCES organizations (id),
    -- The TOTP secret under a key of its own, and that key under the organization key.
    secret BYTES NOT NULL,
    wrapped_key BYTES NOT NULL,
    created_at BIGINT NOT NULL,
    -- NULL: begun, and asked of nobody yet.
    confirmed_at BIGINT,
    -- The newest time step whose code was used: no code works twice.
    last_step BIGINT NOT NULL
);
CREATE INDEX second_factors_by_org ON second_factors (org_id);

CREATE TABLE recovery_codes (
    user_id TEXT NOT NULL REFERENCES users (id),
    org_id TEXT NOT NULL REFERENCES organizations (id),
    digest BYTES NOT NULL,
    used_at BIGINT,
    PRIMARY KEY (user_id, digest)
);

-- Invitations and resets: whoever has the link sets the password.
CREATE TABLE account_links (
    digest BYTES PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    org_id TEXT NOT NULL REFERENCES organizations (id),
    purpose TEXT NOT NULL CHECK (purpose IN ('invitation', 'reset')),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX account_links_by_user ON account_links (user_id);

CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    digest BYTES NOT NULL UNIQUE,
    user_id TEXT NOT NULL REFERENCES users (id),
    org_id TEXT NOT NULL REFERENCES organizations (id),
    -- Of what the pages show; no boundary of rights.
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    -- 'password': the second factor is still to come, and nothing is shown.
    stage TEXT NOT NULL CHECK (stage IN ('password', 'whole')),
    created_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_end ON sessions (expires_at);

-- Attempts to sign in. A bucket is a digest: what somebody typed for a name stands nowhere.
CREATE TABLE login_attempts (
    bucket TEXT PRIMARY KEY,
    attempts BIGINT NOT NULL,
    since BIGINT NOT NULL,
    closed_until BIGINT NOT NULL
);
CREATE INDEX login_attempts_by_time ON login_attempts (since);
