-- Stored conversations. Content is sealed under a data key of its own per conversation (contract 19.4).

CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
    owner_type TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    runtime_user TEXT,
    -- The data key, wrapped by the organization key.
    wrapped_key BYTES NOT NULL,
    -- Placeholders and what they stand for; sealed under the data key.
    phi_map BYTES,
    phi_map_version BIGINT NOT NULL,
    next_seq BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (id, org_id, mode)
);
CREATE INDEX conversations_by_org ON conversations (org_id, mode, created_at, id);

CREATE TABLE messages (
    id TEXT PRIMARY KEY,
    org_id TEXT NOT NULL,
    mode TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    request_id TEXT NOT NULL,
    model TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
    -- Sealed under the conversation's data key.
    content BYTES NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cache_read_input_tokens BIGINT NOT NULL,
    cache_write_input_tokens BIGINT NOT NULL,
    credits_micro BIGINT NOT NULL,
    stop_reason TEXT,
    -- Counts and kinds only.
    phi TEXT,
    audit_id TEXT,
    created_at BIGINT NOT NULL,
    UNIQUE (conversation_id, seq),
    FOREIGN KEY (conversation_id, org_id, mode) REFERENCES conversations (id, org_id, mode)
);
