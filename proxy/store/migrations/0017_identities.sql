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
