-- Rate limits of many requests in one round trip (contract 6).

--[postgres]
-- What `limits_take` does, for several requests at once, in their order: `asked` is an array of what that takes, each
-- with `now_us`, NULL for the time of this server; the answer is an array of what that answers. Buckets are locked
-- before anything is judged and in one order for all callers, so that two that share some never wait for each other
-- in a circle. It is also the order of `limits_take`, which stays for replicas that still run the version before: the
-- key, its organization, the day; or the organization, the day, an agent's credential.
CREATE FUNCTION limits_rank(bucket TEXT) RETURNS INT LANGUAGE sql IMMUTABLE AS $rank$
    SELECT CASE WHEN bucket LIKE 'key:agc\_%' THEN 3 WHEN bucket LIKE 'day:%' THEN 2 WHEN bucket LIKE 'org:%' THEN 1 ELSE 0 END
$rank$;

CREATE FUNCTION limits_take_all(asked TEXT) RETURNS TEXT LANGUAGE plpgsql AS $take$
DECLARE
    names TEXT[];
    cells BIGINT[];
    -- Of the buckets that have changed.
    idle BIGINT[];
    request JSON;
    item JSON;
    name TEXT;
    at INT;
    most BIGINT;
    emission BIGINT;
    stored BIGINT;
    now_us BIGINT;
    base BIGINT;
    today BIGINT;
    used BIGINT;
    denied BOOLEAN;
    in_flight BIGINT;
    answer TEXT;
    answers TEXT[] := '{}';
BEGIN
    -- For the transaction that this one statement is.
    PERFORM set_config('synchronous_commit', 'off', true);
    SELECT COALESCE(array_agg(bucket ORDER BY limits_rank(bucket), bucket), '{}') INTO names FROM (
        SELECT DISTINCT (take.value ->> 'bucket') COLLATE "C" AS bucket
        FROM json_array_elements(asked::JSON) AS one, json_array_elements(one.value -> 'takes') AS take
    ) AS wanted;
    LOOP
        SELECT COALESCE(array_agg(cell ORDER BY place), '{}') INTO cells FROM (
            SELECT array_position(names, bucket) AS place, cell FROM rate_limits
            WHERE bucket = ANY (names) ORDER BY 1 FOR UPDATE
        ) AS held;
        EXIT WHEN cardinality(cells) = cardinality(names);
        -- One that is idle may be swept away in between.
        INSERT INTO rate_limits (bucket, cell, idle_from) SELECT wanted, 0, 0
            FROM unnest(names) WITH ORDINALITY AS missing (wanted, place) ORDER BY place ON CONFLICT DO NOTHING;
    END LOOP;
    -- A count has no row to lock.
    FOR name IN
        SELECT DISTINCT (one.value -> 'slot' ->> 'bucket') COLLATE "C" AS bucket
        FROM json_array_elements(asked::JSON) AS one WHERE json_typeof(one.value -> 'slot') = 'object' ORDER BY 1
    LOOP
        PERFORM pg_advisory_xact_lock(hashtextextended(name, 0));
    END LOOP;
    idle := array_fill(NULL::BIGINT, ARRAY[cardinality(names)]);
    FOR request IN SELECT value FROM json_array_elements(asked::JSON) LOOP
        -- After the locks: a request that waited for them is judged by when its turn came.
        now_us := COALESCE((request ->> 'now_us')::BIGINT, (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT);
        in_flight := -1;
        denied := false;
        answer := '';
        FOR item IN SELECT value FROM json_array_elements(request -> 'takes') LOOP
            at := array_position(names, item ->> 'bucket');
            most := (item ->> 'limit')::BIGINT;
            emission := (item ->> 'emission_us')::BIGINT;
            stored := cells[at];
            answer := answer || ',' || now_us || ',' || stored;
            IF emission IS NULL THEN
                today := now_us / 86400000000;
                used := CASE WHEN stored >> 32 = today THEN stored & 4294967295 ELSE 0 END;
                denied := used >= most;
                EXIT WHEN denied;
                cells[at] := (today << 32) + used + 1;
                idle[at] := (today + 1) * 86400000000;
            ELSE
                base := GREATEST(stored, now_us);
                denied := most = 0 OR base + emission - emission * most > now_us;
                EXIT WHEN denied;
                cells[at] := base + emission;
                idle[at] := base + emission;
            END IF;
        END LOOP;
        item := request -> 'slot';
        IF NOT denied AND json_typeof(item) = 'object' THEN
            name := item ->> 'bucket';
            DELETE FROM limit_slots WHERE bucket = name AND lease_until <= now_us;
            SELECT COUNT(*) INTO in_flight FROM limit_slots WHERE bucket = name;
            IF in_flight < (item ->> 'limit')::BIGINT THEN
                INSERT INTO limit_slots (id, bucket, lease_until)
                    VALUES (item ->> 'id', name, now_us + (item ->> 'lease_us')::BIGINT);
            END IF;
        END IF;
        answers := answers || ('[' || in_flight || answer || ']');
    END LOOP;
    UPDATE rate_limits SET cell = changed.cell, idle_from = changed.idle
        FROM unnest(names, cells, idle) AS changed (bucket, cell, idle)
        WHERE rate_limits.bucket = changed.bucket AND changed.idle IS NOT NULL;
    RETURN '[' || array_to_string(answers, ',') || ']';
END
$take$;
--[both]
