-- What would read a whole table, or all rows of a person, for each call is read along an index.

-- Each change of an agent asks for those that act for it. Few agents act for another one: the others are in no entry.
CREATE INDEX agents_by_parent ON agents (parent_agent_id) WHERE parent_agent_id IS NOT NULL;

-- What is told of a person, page by page in the order of time. Written once for each credential and conversation, and
-- for those alone that name somebody.
CREATE INDEX agent_credentials_by_end_user ON agent_credentials (org_id, mode, runtime_user, created_at, id)
    WHERE runtime_user IS NOT NULL;
DROP INDEX conversations_by_end_user;
CREATE INDEX conversations_by_end_user ON conversations (org_id, mode, runtime_user, created_at, id)
    WHERE runtime_user IS NOT NULL;

-- Which sessions are idle is asked every minute, and each is touched every ten seconds at most. `rate_limits` has no
-- such index on `idle_from`, which changes with every request: an update that touches no index stays on its page. It is
-- read whole instead, and seldom.
CREATE INDEX sessions_by_use ON sessions (seen_at);
