-- Reads the state of an app and its size, or the size alone if the state has more
-- than room bytes; 0 is no bound. KEYS[1] is the prefix of the app's keys.
local A, room = KEYS[1], tonumber(ARGV[1])
local bytes = tonumber(redis.call('GET', A .. 'bytes'))
if not bytes then
  bytes = 0
  for _, k in ipairs(redis.call('HKEYS', A .. 'state')) do
    bytes = bytes + #k + redis.call('HSTRLEN', A .. 'state', k) + STATE_KEY_BYTES
  end
end
if room > 0 and bytes > room then return {string.format('%.0f', bytes), {}} end
return {string.format('%.0f', bytes), redis.call('HGETALL', A .. 'state')}
