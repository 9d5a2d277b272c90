-- Takes partitions without work out of the work index, except those enlisted in
-- the last minute: their work may not be stored yet. KEYS[1] is the work index,
-- ARGV the partitions.
local old = tonumber(redis.call('TIME')[1]) - 60
for _, p in ipairs(ARGV) do
  local since = redis.call('ZSCORE', KEYS[1], p)
  if since and tonumber(since) < old then redis.call('ZREM', KEYS[1], p) end
end
return 1
