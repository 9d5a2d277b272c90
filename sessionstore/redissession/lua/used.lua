-- Reads how much is taken of the amounts of an app's day, and of its gates, and changes
-- nothing. KEYS[1] is the hash of spend.lua, the others are the gates of pass.lua. ARGV has
-- the time, the time between two tokens of each gate, and then the names of amounts.
-- Answers how long the day lasts; of each bucket how long until it is full, of each room
-- how many places are taken; and each amount. Times are microseconds.
local DAY = 86400 * 1e6
local now = tonumber(ARGV[1])
if not now then
  local t = redis.call('TIME')
  now = t[1] * 1e6 + t[2]
end
local today = math.floor(now / DAY)
local day = tonumber(redis.call('HGET', KEYS[1], 'day') or '-1')
local over = today > day or day > today + 1
if over then day = today end
local out = {string.format('%.0f', (day + 1) * DAY - now)}
for i = 2, #KEYS do
  if tonumber(ARGV[i]) == 0 then
    out[i] = redis.call('ZCOUNT', KEYS[i], '(' .. string.format('%.0f', now), '+inf')
  else
    out[i] = string.format('%.0f', math.max(0, tonumber(redis.call('GET', KEYS[i]) or '0') - now))
  end
end
for i = #KEYS + 1, #ARGV do
  out[i] = not over and redis.call('HGET', KEYS[1], 'of:' .. ARGV[i]) or '0'
end
return out
