-- Keys that the deployment signs with, and the documents of acceptances.

CREATE TABLE signing_keys (
    -- What the key signs and nothing else does.
    purpose TEXT NOT NULL,
    -- The highest signs; the others still verify.
    version BIGINT NOT NULL,
    -- Hex of the first 8 bytes of the public key's SHA-256.
    key_id TEXT NOT NULL UNIQUE,
    -- Ed25519.
    public_key BYTES NOT NULL,
    -- The private half, wrapped by the master key.
    wrapped BYTES NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (purpose, version)
);

-- What was signed, as bytes: rendered once, never changed.
CREATE TABLE baa_documents (
    acceptance_id TEXT PRIMARY KEY REFERENCES baa_acceptances (id),
    org_id TEXT NOT NULL REFERENCES organizations (id),
    -- A data key of the document's own, wrapped by the organization key.
    wrapped_key BYTES NOT NULL,
    -- Sealed under the data key.
    content BYTES NOT NULL,
    size_bytes BIGINT NOT NULL,
    -- Hex.
    sha256 TEXT NOT NULL,
    -- Ed25519 over the hex digits of `sha256`.
    signature BYTES NOT NULL,
    signing_key_id TEXT NOT NULL REFERENCES signing_keys (key_id)
);

-- An acceptance is a fact: it may be superseded and ended once, nothing else.
--[sqlite]
CREATE TRIGGER baa_acceptances_no_update BEFORE UPDATE OF id, org_id, template_version, template_sha256,
accepted_by_user_id, signer_name, signer_title, signer_email, accepted_at, ip, user_agent, effective_at, expires_at
ON baa_acceptances
BEGIN SELECT RAISE(ABORT, 'baa_acceptances is append-only'); END;
CREATE TRIGGER baa_acceptances_ends_once BEFORE UPDATE ON baa_acceptances
WHEN (OLD.superseded_at IS NOT NULL AND NEW.superseded_at IS NOT OLD.superseded_at)
OR (OLD.terminated_at IS NOT NULL AND NEW.terminated_at IS NOT OLD.terminated_at)
BEGIN SELECT RAISE(ABORT, 'baa_acceptances is append-only'); END;
CREATE TRIGGER baa_acceptances_no_delete BEFORE DELETE ON baa_acceptances
BEGIN SELECT RAISE(ABORT, 'baa_acceptances is append-only'); END;
CREATE TRIGGER baa_documents_no_update BEFORE UPDATE OF acceptance_id, org_id, content, size_bytes, sha256, signature,
signing_key_id ON baa_documents
BEGIN SELECT RAISE(ABORT, 'baa_documents is append-only'); END;
CREATE TRIGGER baa_documents_no_delete BEFORE DELETE ON baa_documents
BEGIN SELECT RAISE(ABORT, 'baa_documents is append-only'); END;
--[postgres]
CREATE TRIGGER baa_acceptances_no_update BEFORE UPDATE OF id, org_id, template_version, template_sha256,
accepted_by_user_id, signer_name, signer_title, signer_email, accepted_at, ip, user_agent, effective_at, expires_at
ON baa_acceptances FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER baa_acceptances_ends_once BEFORE UPDATE ON baa_acceptances FOR EACH ROW
WHEN ((OLD.superseded_at IS NOT NULL AND NEW.superseded_at IS DISTINCT FROM OLD.superseded_at)
OR (OLD.terminated_at IS NOT NULL AND NEW.terminated_at IS DISTINCT FROM OLD.terminated_at))
EXECUTE FUNCTION refuse_change();
CREATE TRIGGER baa_acceptances_no_delete BEFORE DELETE OR TRUNCATE ON baa_acceptances
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER baa_documents_no_update BEFORE UPDATE OF acceptance_id, org_id, content, size_bytes, sha256, signature,
signing_key_id ON baa_documents FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER baa_documents_no_delete BEFORE DELETE OR TRUNCATE ON baa_documents
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
--[both]
