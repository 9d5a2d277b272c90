-- Removes the keys that are bound to a user. KEYS[1] is the prefix of the keys of
-- callers; the arguments are the app and the user.
local K, app, user, gone = KEYS[1], ARGV[1], ARGV[2], 0
for _, entry in ipairs(redis.call('ZRANGE', K .. 'list:' .. app, 0, -1)) do
  local id = string.match(entry, '^%d+ (.*)$')
  if redis.call('HGET', K .. 'key:' .. id, 'user') == user then
    redis.call('DEL', K .. 'key:' .. id)
    redis.call('ZREM', K .. 'list', entry)
    redis.call('ZREM', K .. 'list:' .. app, entry)
    redis.call('ZREM', K .. 'dead', id)
    gone = gone + 1
  end
end
if gone > 0 then redis.call('INCR', K .. 'revision') end
return {'OK'}
