-- A server whose clock is set back must not keep the places of a lost replica for as long (contract 6: until its lease
-- ends).

--[postgres]
-- As before (migration 0027; 0020 says what it is given and what it answers), but for places that are leased for longer
-- than twice the lease.
CREATE OR REPLACE FUNCTION limits_take_batch(
    names TEXT[], places BIGINT[], limits BIGINT[], emissions BIGINT[], ends BIGINT[], nows BIGINT[],
    slot_buckets TEXT[], slot_ids TEXT[], slot_limits BIGINT[], lease_us BIGINT
) RETURNS TEXT LANGUAGE plpgsql AS $take$
DECLARE
    cells BIGINT[];
    -- Of the buckets that have changed.
    idle BIGINT[];
    name TEXT;
    request INT;
    take INT := 0;
    at INT;
    stored BIGINT;
    next BIGINT;
    used BIGINT;
    today BIGINT;
    now_us BIGINT;
    denied BOOLEAN;
    in_flight BIGINT;
    answer TEXT;
    answers TEXT := '';
BEGIN
    -- For the transaction that this one statement is.
    PERFORM set_config('synchronous_commit', 'off', true);
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
    IF cardinality(array_remove(slot_buckets, NULL)) > 0 THEN
        -- A count has no row to lock.
        FOR name IN SELECT DISTINCT bucket COLLATE "C" FROM unnest(slot_buckets) AS bucket WHERE bucket IS NOT NULL ORDER BY 1
        LOOP
            PERFORM pg_advisory_xact_lock(hashtextextended(name, 0));
        END LOOP;
    END IF;
    idle := array_fill(NULL::BIGINT, ARRAY[cardinality(names)]);
    FOR request IN 1 .. cardinality(ends) LOOP
        -- After the locks: a request that waited for them is judged by when its turn came.
        now_us := COALESCE(nows[request], (EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::BIGINT);
        denied := false;
        answer := '';
        WHILE take < ends[request] AND NOT denied LOOP
            take := take + 1;
            at := places[take];
            stored := cells[at];
            answer := answer || ',' || now_us || ',' || stored;
            IF emissions[take] IS NULL THEN
                today := now_us / 86400000000;
                used := CASE WHEN stored >> 32 = today THEN stored & 4294967295 ELSE 0 END;
                denied := used >= limits[take];
                IF NOT denied THEN
                    cells[at] := (today << 32) + used + 1;
                    idle[at] := (today + 1) * 86400000000;
                END IF;
            ELSE
                -- Further ahead than requests can put it, and no request's: a clock was set back.
                IF stored > now_us + 2 * emissions[take] * limits[take] THEN
                    next := now_us + emissions[take];
                ELSE
                    next := GREATEST(stored, now_us) + emissions[take];
                END IF;
                denied := limits[take] = 0 OR next - emissions[take] * limits[take] > now_us;
                IF NOT denied THEN
                    cells[at] := next;
                    idle[at] := next;
                END IF;
            END IF;
        END LOOP;
        take := ends[request];
        in_flight := -1;
        name := slot_buckets[request];
        IF NOT denied AND name IS NOT NULL THEN
            -- By a clock that was set back since. Whoever is alive extends them in time.
            UPDATE limit_slots SET lease_until = now_us + lease_us
                WHERE id IN (
                    SELECT id FROM limit_slots WHERE bucket = name AND lease_until > now_us + 2 * lease_us
                    FOR UPDATE SKIP LOCKED
                );
            DELETE FROM limit_slots WHERE bucket = name AND lease_until <= now_us;
            SELECT COUNT(*) INTO in_flight FROM limit_slots WHERE bucket = name;
            IF in_flight < slot_limits[request] THEN
                INSERT INTO limit_slots (id, bucket, lease_until) VALUES (slot_ids[request], name, now_us + lease_us);
            END IF;
        END IF;
        answers := answers || ',[' || in_flight || answer || ']';
    END LOOP;
    UPDATE rate_limits SET cell = changed.cell, idle_from = changed.idle
        FROM unnest(names, cells, idle) AS changed (bucket, cell, idle)
        WHERE rate_limits.bucket = changed.bucket AND changed.idle IS NOT NULL;
    RETURN '[' || substr(answers, 2) || ']';
END
$take$;
--[both]
