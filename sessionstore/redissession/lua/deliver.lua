-- Applies messages of a partition's outbox to an app: '=' sets state, '+' adds a
-- session to the app's lists and its user to that of users, '-' removes a session, and '~'
-- a user. Each message is applied once,
-- however often it is delivered: messages come in the order of their numbers.
-- KEYS[1] is the prefix of the app's keys, ARGV[1] the partition. The messages follow,
-- or '' and the prefix of the partition's keys and the app: then they are taken out of
-- the outbox, which has to be on this server. Answers the last message applied.
local A, from, messages, outbox = KEYS[1], ARGV[1], {}, nil
if ARGV[2] == '' then
  outbox = ARGV[3] .. 'outbox:' .. ARGV[4]
  messages = redis.call('LRANGE', outbox, 0, -1)
else
  for i = 2, #ARGV do messages[i - 1] = ARGV[i] end
end
local applied = tonumber(redis.call('HGET', A .. 'applied', from) or '0')
local bytes = tonumber(redis.call('GET', A .. 'bytes')) -- of the state; false if nobody has counted it
local changed = false
for _, message in ipairs(messages) do
  local e = cmsgpack.unpack(message)
  local seq, kind = e[1], e[2]
  if seq > applied then
    if kind == '=' then
      for j = 1, #e[3], 2 do
        local name, value = e[3][j], e[3][j + 1]
        if bytes then
          local had = redis.call('HEXISTS', A .. 'state', name) == 1 and redis.call('HSTRLEN', A .. 'state', name)
          bytes = bytes + #value - (had or -(#name + STATE_KEY_BYTES))
        end
        redis.call('HSET', A .. 'state', name, value)
      end
      changed = true
      if e[4] then redis.call('HDEL', A .. 'reserved', e[4]) end
    elseif kind == '+' then
      redis.call('ZADD', A .. 'sessions', redis.call('INCR', A .. 'n'), e[3] .. '/' .. e[4])
      redis.call('ZADD', A .. 'users', 0, e[3])
      redis.call('ZADD', A .. 'ids', 0, e[4] .. '/' .. e[3])
    elseif kind == '-' then
      redis.call('ZREM', A .. 'sessions', e[3] .. '/' .. e[4])
      redis.call('ZREM', A .. 'ids', e[4] .. '/' .. e[3])
    elseif kind == '~' then
      redis.call('ZREM', A .. 'users', e[3])
    end
    applied = seq
  end
end
if changed and bytes then redis.call('SET', A .. 'bytes', string.format('%.0f', bytes)) end
if #messages > 0 then redis.call('HSET', A .. 'applied', from, string.format('%.0f', applied)) end
if outbox and #messages > 0 then -- last: a script that fails halfway is not taken back
  redis.call('DEL', outbox)
  redis.call('SREM', ARGV[3] .. 'outboxes', ARGV[4])
end
if changed then guard.count() end
return string.format('%.0f', applied)
