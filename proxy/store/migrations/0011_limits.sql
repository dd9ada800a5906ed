-- Rate limits that all replicas share (contract 6). Nothing here is worth an fsync: what a crash loses is at most the
-- requests of its last moments.

-- One cell per bucket: what it means is `core::limit::Rule`.
CREATE TABLE rate_limits (
    bucket TEXT PRIMARY KEY,
    cell BIGINT NOT NULL,
    -- Microseconds: from then on the row is as good as none.
    idle_from BIGINT NOT NULL
--[sqlite]
) WITHOUT ROWID;
--[postgres]
-- Room beside each row, so that an update stays on its page and touches no index.
) WITH (fillfactor = 50);
--[both]

-- Requests in flight of an agent's credential. A lost replica's end with their lease.
CREATE TABLE limit_slots (
    id TEXT PRIMARY KEY,
    bucket TEXT NOT NULL,
    -- Microseconds.
    lease_until BIGINT NOT NULL
--[sqlite]
) WITHOUT ROWID;
--[postgres]
);
--[both]
CREATE INDEX limit_slots_by_bucket ON limit_slots (bucket);

--[postgres]
-- Takes one request out of each bucket until one denies, then a slot: one round trip for all of it. `asked` is
-- {"takes": [{"bucket", "limit", "emission_us"}], "slot": {"id", "bucket", "limit", "lease_us"} or null}; a take without
-- `emission_us` is a daily one. `given_us` is the time, NULL that of this server, which is the same for all replicas.
-- The answer is [requests in flight or -1, time, cell, time, cell, …]: each cell as it was found and when. What a
-- request is told is computed from these by the same function as everywhere else; here stands only what has to be
-- decided under the lock, and both come to the same result (the vectors of the store's tests).
CREATE FUNCTION limits_take(asked TEXT, given_us BIGINT) RETURNS TEXT LANGUAGE plpgsql AS $take$
DECLARE
    item JSON;
    name TEXT;
    most BIGINT;
    emission BIGINT;
    stored BIGINT;
    now_us BIGINT;
    base BIGINT;
    today BIGINT;
    used BIGINT;
    in_flight BIGINT := -1;
    answer TEXT := '';
BEGIN
    -- For the transaction that this one statement is.
    PERFORM set_config('synchronous_commit', 'off', true);
    FOR item IN SELECT value FROM json_array_elements(asked::JSON -> 'takes') LOOP
        name := item ->> 'bucket';
        most := (item ->> 'limit')::BIGINT;
        emission := (item ->> 'emission_us')::BIGINT;
        LOOP
            SELECT cell INTO stored FROM rate_limits WHERE bucket = name FOR UPDATE;
            EXIT WHEN FOUND;
            INSERT INTO rate_limits (bucket, cell, idle_from) VALUES (name, 0, 0) ON CONFLICT DO NOTHING;
        END LOOP;
        -- After the lock: a request that waited for it is judged by when its turn came.
        now_us := COALESCE(given_us, (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT);
        answer := answer || ',' || now_us || ',' || stored;
        IF emission IS NULL THEN
            today := now_us / 86400000000;
            used := CASE WHEN stored >> 32 = today THEN stored & 4294967295 ELSE 0 END;
            IF used >= most THEN
                RETURN '[-1' || answer || ']';
            END IF;
            UPDATE rate_limits SET cell = (today << 32) + used + 1, idle_from = (today + 1) * 86400000000
                WHERE bucket = name;
        ELSE
            base := GREATEST(stored, now_us);
            IF most = 0 OR base + emission - emission * most > now_us THEN
                RETURN '[-1' || answer || ']';
            END IF;
            UPDATE rate_limits SET cell = base + emission, idle_from = base + emission WHERE bucket = name;
        END IF;
    END LOOP;
    item := asked::JSON -> 'slot';
    IF json_typeof(item) = 'object' THEN
        name := item ->> 'bucket';
        -- A count has no row to lock.
        PERFORM pg_advisory_xact_lock(hashtextextended(name, 0));
        now_us := COALESCE(given_us, (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT);
        DELETE FROM limit_slots WHERE bucket = name AND lease_until <= now_us;
        SELECT COUNT(*) INTO in_flight FROM limit_slots WHERE bucket = name;
        IF in_flight < (item ->> 'limit')::BIGINT THEN
            INSERT INTO limit_slots (id, bucket, lease_until)
                VALUES (item ->> 'id', name, now_us + (item ->> 'lease_us')::BIGINT);
        END IF;
    END IF;
    RETURN '[' || in_flight || answer || ']';
END
$take$;
--[both]
