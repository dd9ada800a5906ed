-- Takes one request out of each bucket until one denies, then a place. One call is one round trip and atomic.
--
-- KEYS: the buckets, then the places where a place is asked for.
-- ARGV: the time in microseconds or '' for the server's; the limit of places or ''; id and lease in microseconds of
-- the place; then for each bucket its limit and its microseconds per request, '' for a daily one.
-- Answers {requests in flight or -1, time, cell, time, cell, ...}: each cell as it was found. Numbers stay below 2^53.
local now = tonumber(ARGV[1])
if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
end
local day_us = 86400000000
-- A key outlives its use by a minute, so that nothing depends on when the server looks for keys that are over.
local slack_ms = 60000
local answer = {'-1'}
local function text(number) return string.format('%.0f', number) end
local at = 5
local buckets = (#ARGV - 4) / 2
for index = 1, buckets do
    local limit, emission = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
    at = at + 2
    local cell = tonumber(redis.call('GET', KEYS[index]) or '0')
    answer[#answer + 1] = text(now)
    answer[#answer + 1] = text(cell)
    local kept, idle_from
    if emission then
        local base = math.max(cell, now)
        -- A clock that was set back leaves cells further ahead than requests can put them.
        if cell > now + 2 * emission * limit then
            base = now
        end
        if limit == 0 or base + emission - emission * limit > now then
            return answer
        end
        kept = base + emission
        idle_from = kept
    else
        local today = math.floor(now / day_us)
        local used = 0
        if math.floor(cell / 4294967296) == today then
            used = cell % 4294967296
        end
        if used >= limit then
            return answer
        end
        kept = today * 4294967296 + used + 1
        idle_from = (today + 1) * day_us
    end
    redis.call('SET', KEYS[index], text(kept), 'PX', text(math.ceil((idle_from - now) / 1000) + slack_ms))
end
local most = tonumber(ARGV[2])
if most then
    local places = KEYS[buckets + 1]
    local lease = tonumber(ARGV[4])
    -- A clock that was set back leaves leases that last longer than any; whoever is alive extends them in time.
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', places, '(' .. text(now + 2 * lease), '+inf')) do
        redis.call('ZADD', places, 'XX', text(now + lease), id)
    end
    redis.call('ZREMRANGEBYSCORE', places, '-inf', text(now))
    local in_flight = redis.call('ZCARD', places)
    answer[1] = text(in_flight)
    if in_flight < most then
        redis.call('ZADD', places, text(now + lease), ARGV[3])
        redis.call('PEXPIRE', places, text(math.ceil(lease / 1000)))
    end
end
return answer
