-- Takes partitions without work out of the index, but for those marked in the
-- last minute: who marks one may not have asked yet. KEYS[1] is the work index,
-- ARGV the partitions.
local old = tonumber(redis.call('TIME')[1]) - 60
for _, p in ipairs(ARGV) do
  local since = redis.call('ZSCORE', KEYS[1], p)
  if since and tonumber(since) < old then redis.call('ZREM', KEYS[1], p) end
end
return 1
