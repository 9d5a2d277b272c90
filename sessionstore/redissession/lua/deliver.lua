-- Applies messages of a partition's outbox to an app: '=' sets state, '+' adds a
-- session to the app's list, and '-' removes one. Each message is applied once,
-- however often it is delivered: messages come in the order of their numbers.
-- KEYS[1] is the prefix of the app's keys, ARGV[1] the partition.
local A, from = KEYS[1], ARGV[1]
local changed = false
local applied = tonumber(redis.call('HGET', A .. 'applied', from) or '0')
for i = 2, #ARGV do
  local e = cmsgpack.unpack(ARGV[i])
  local seq, kind = e[1], e[2]
  if seq > applied then
    if kind == '=' then
      changed = true
      for j = 1, #e[3], 2 do redis.call('HSET', A .. 'state', e[3][j], e[3][j + 1]) end
    elseif kind == '+' then
      redis.call('ZADD', A .. 'sessions', redis.call('INCR', A .. 'n'), e[3] .. '/' .. e[4])
    elseif kind == '-' then
      redis.call('ZREM', A .. 'sessions', e[3] .. '/' .. e[4])
    end
    applied = seq
  end
end
redis.call('HSET', A .. 'applied', from, string.format('%.0f', applied))
if changed then guard.count() end
return string.format('%.0f', applied)
