-- Adds amounts to those of an app on the present day of UTC, all or none. KEYS[1] is a
-- hash: the day, counted from 1970, and each amount by name.
local DAY = 86400 * 1e6 -- microseconds
local now = tonumber(ARGV[1])
if not now then
  local t = redis.call('TIME')
  now = t[1] * 1e6 + t[2]
end
local today = math.floor(now / DAY)
local day = tonumber(redis.call('HGET', KEYS[1], 'day') or '-1')
if today > day or day > today + 1 then -- it is over, or a clock that was ahead has begun it
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'day', string.format('%.0f', today))
  day = today
end
redis.call('EXPIRE', KEYS[1], 3 * 86400)
for i = 2, #ARGV, 3 do
  local most = tonumber(ARGV[i + 2])
  if most > 0 and tonumber(redis.call('HGET', KEYS[1], 'of:' .. ARGV[i]) or '0') >= most then
    return {(i - 2) / 3, string.format('%.0f', (day + 1) * DAY - now)}
  end
end
for i = 2, #ARGV, 3 do redis.call('HINCRBY', KEYS[1], 'of:' .. ARGV[i], ARGV[i + 1]) end
return {-1, '0'}
