-- Who a person is at an OpenID provider. `issuer` and `subject` never change hands there; addresses do, so an address
-- is believed once, when the two are tied together.
CREATE TABLE identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id TEXT NOT NULL REFERENCES users (id),
    org_id TEXT NOT NULL REFERENCES organizations (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject),
    UNIQUE (user_id, issuer)
);

-- How somebody has shown who they are, and whom the provider vouches for: tied to the account once they are wholly in.
ALTER TABLE sessions ADD COLUMN shown_by TEXT NOT NULL DEFAULT 'password';
ALTER TABLE sessions ADD COLUMN issuer TEXT;
ALTER TABLE sessions ADD COLUMN subject TEXT;
