-- Extends the lease of one place that is held. KEYS: the places. ARGV: the time in microseconds or '' for the
-- server's; the lease in microseconds; the id.
local now = tonumber(ARGV[1])
if not now then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
end
local lease = tonumber(ARGV[2])
redis.call('ZADD', KEYS[1], 'XX', string.format('%.0f', now + lease), ARGV[3])
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.ceil(lease / 1000)))
