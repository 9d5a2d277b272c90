-- Reserves room in the state of an app for a change that is about to be appended in
-- the slot of a user: concurrent changes must not pass the limit together. The
-- message that brings the change to the app takes the reservation back, and one
-- whose change never came ends by itself. KEYS[1] is the prefix of the app's keys;
-- the arguments are the reservation's token, its time to live in seconds, the limit,
-- whether to store it also if the state does not grow, and name and length of each
-- value.
local A, token, ttl, max, always = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == '1'
local function num(n) return string.format('%.0f', n) end
local bytes = tonumber(redis.call('GET', A .. 'bytes'))
if not bytes then
  bytes = 0
  for _, k in ipairs(redis.call('HKEYS', A .. 'state')) do
    bytes = bytes + #k + redis.call('HSTRLEN', A .. 'state', k) + STATE_KEY_BYTES
  end
  redis.call('SET', A .. 'bytes', num(bytes))
end
local growth = 0
for i = 5, #ARGV, 2 do
  local name, length = ARGV[i], tonumber(ARGV[i + 1])
  if redis.call('HEXISTS', A .. 'state', name) == 1 then
    growth = growth + length - redis.call('HSTRLEN', A .. 'state', name)
  else
    growth = growth + #name + length + STATE_KEY_BYTES
  end
end
if growth <= 0 and not always then return {'OK'} end
local now, reserved = tonumber(redis.call('TIME')[1]), 0
local all = redis.call('HGETALL', A .. 'reserved')
for i = 1, #all, 2 do
  local ends, n = string.match(all[i + 1], '^(%d+) (%d+)$')
  if tonumber(ends) < now then
    redis.call('HDEL', A .. 'reserved', all[i])
  elseif all[i] ~= token then
    reserved = reserved + tonumber(n)
  end
end
if growth > 0 and bytes + reserved + growth > max then return {'STATE', num(bytes), num(bytes + reserved + growth)} end
redis.call('HSET', A .. 'reserved', token, num(now + ttl) .. ' ' .. num(math.max(growth, 0)))
return {'OK'}
