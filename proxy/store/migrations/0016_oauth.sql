-- Delegated access for applications (contract 16): who may ask, what was asked, and the codes that answer.

CREATE TABLE oauth_applications (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    client_id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    publisher TEXT,
    type TEXT NOT NULL CHECK (type IN ('confidential', 'public', 'native')),
    -- JSON arrays.
    redirect_uris TEXT NOT NULL,
    homepage_url TEXT,
    details_types TEXT NOT NULL,
    -- SHA-256 of the secret and, during the grace of a rotation, of the one before it; gone once revoked.
    secret_digest BYTES,
    secret_hint TEXT,
    previous_digest BYTES,
    previous_expires_at BIGINT,
    created_by_type TEXT NOT NULL,
    created_by_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    revoked_at BIGINT,
    CHECK ((type = 'confidential') = (secret_hint IS NOT NULL)),
    CHECK ((secret_digest IS NOT NULL) = (type = 'confidential' AND revoked_at IS NULL)),
    CHECK ((previous_digest IS NULL) = (previous_expires_at IS NULL))
);
CREATE INDEX oauth_applications_by_org ON oauth_applications (org_id, mode, created_at, id);

-- Requests that wait for a user to sign in and decide. The organization is the agent's.
CREATE TABLE oauth_requests (
    digest BYTES PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    application_id TEXT NOT NULL REFERENCES oauth_applications (id),
    redirect_uri TEXT NOT NULL,
    state TEXT,
    code_challenge TEXT NOT NULL,
    agent_id TEXT NOT NULL REFERENCES agents (id),
    details TEXT NOT NULL,
    -- NULL until the first session that looks at it: from then on it is that session's.
    session_id TEXT,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX oauth_requests_by_end ON oauth_requests (expires_at);
CREATE INDEX oauth_requests_by_application ON oauth_requests (application_id);

-- Codes, kept after their use for as long as what they produced lives: a second use ends it.
CREATE TABLE oauth_codes (
    digest BYTES PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    application_id TEXT NOT NULL REFERENCES oauth_applications (id),
    redirect_uri TEXT NOT NULL,
    code_challenge TEXT NOT NULL,
    agent_id TEXT NOT NULL REFERENCES agents (id),
    user_id TEXT NOT NULL REFERENCES users (id),
    scope_grants TEXT NOT NULL,
    expiry_hours BIGINT NOT NULL,
    attempts BIGINT NOT NULL CHECK (attempts >= 0),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    -- Redeemed, or burned by wrong verifiers: then nothing came of it.
    used_at BIGINT,
    credential_id TEXT REFERENCES agent_credentials (id),
    kept_until BIGINT NOT NULL,
    CHECK (used_at IS NOT NULL OR credential_id IS NULL)
);
CREATE INDEX oauth_codes_by_end ON oauth_codes (kept_until);
CREATE INDEX oauth_codes_by_application ON oauth_codes (application_id);

CREATE INDEX agent_credentials_by_application ON agent_credentials (application_id)
    WHERE application_id IS NOT NULL;
