-- Stores a key, and removes those of any app that have been dead for long. KEYS[1] is
-- the prefix of the keys of callers; the arguments are the id, its app, its entry in the
-- lists, how many an app may have, when those died that are removed, when the new one
-- dies ('' for never), and then fields and values.
local K, id, app, entry, most, before, dies = KEYS[1], ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6]
if redis.call('EXISTS', K .. 'key:' .. id) == 1 then return {'EXISTS'} end
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', K .. 'dead', '-inf', before, 'LIMIT', 0, 1000)) do
  local is = redis.call('HMGET', K .. 'key:' .. gone, 'app', 'entry')
  redis.call('DEL', K .. 'key:' .. gone)
  redis.call('ZREM', K .. 'dead', gone)
  if is[1] then
    redis.call('ZREM', K .. 'list', is[2])
    redis.call('ZREM', K .. 'list:' .. is[1], is[2])
  end
end
if redis.call('ZCARD', K .. 'list:' .. app) >= most then return {'FULL'} end
redis.call('HSET', K .. 'key:' .. id, 'app', app, 'entry', entry, unpack(ARGV, 7))
redis.call('ZADD', K .. 'list', 0, entry)
redis.call('ZADD', K .. 'list:' .. app, 0, entry)
if dies ~= '' then redis.call('ZADD', K .. 'dead', dies, id) end
redis.call('INCR', K .. 'revision')
return {'OK'}
