-- Takes a token from each bucket and a place in each room of an app, all or none. Of a
-- bucket is kept when it will be full again (the generic cell rate algorithm), of a room
-- the ids of those in it, scored by when they no longer count. Times are microseconds.
local id, stay, now = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
if not now then
  local t = redis.call('TIME')
  now = t[1] * 1e6 + t[2]
end
local gates = {}
for i, key in ipairs(KEYS) do
  gates[i] = {key = key, every = tonumber(ARGV[2 * i + 2]), size = tonumber(ARGV[2 * i + 3])}
end
for i, g in ipairs(gates) do
  if g.every == 0 then
    redis.call('ZREMRANGEBYSCORE', g.key, '-inf', now)
    if redis.call('ZCARD', g.key) >= g.size then return {i - 1, 0} end
  else
    local whole = g.size * g.every
    local full = math.max(now, tonumber(redis.call('GET', g.key) or '0'))
    if full > now + whole then -- a clock that was ahead has filled it: it is empty
      full = now + whole
      redis.call('SET', g.key, string.format('%.0f', full), 'PX', math.ceil(whole / 1000))
    end
    g.next = full + g.every
    if g.next > now + whole then return {i - 1, g.next - now - whole} end
  end
end
for _, g in ipairs(gates) do
  if g.every == 0 then
    redis.call('ZADD', g.key, string.format('%.0f', now + stay), id)
    redis.call('PEXPIRE', g.key, math.ceil(stay / 1000))
  else
    redis.call('SET', g.key, string.format('%.0f', g.next), 'PX', math.ceil((g.next - now) / 1000))
  end
end
return {-1, 0}
