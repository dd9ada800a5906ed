-- Values that an organization always or never takes out of its texts, as keyed hashes.

CREATE TABLE phi_lists (
    org_id TEXT PRIMARY KEY REFERENCES organizations (id),
    -- Key of the digests below, under the organization key.
    wrapped_key BYTES NOT NULL,
    -- One more with every change: what replicas hold in memory is current while this is.
    revision BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE phi_list_entries (
    org_id TEXT NOT NULL REFERENCES phi_lists (org_id),
    -- HMAC-SHA-256 of the value's letters and digits.
    digest BYTES NOT NULL,
    -- How many bytes those are: what has another length is not hashed.
    value_bytes BIGINT NOT NULL CHECK (value_bytes BETWEEN 1 AND 127),
    list TEXT NOT NULL CHECK (list IN ('allow', 'deny')),
    -- Kind of a denied value.
    kind TEXT CHECK ((list = 'deny') = (kind IS NOT NULL)),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, digest)
);
