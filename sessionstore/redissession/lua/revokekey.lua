-- Revokes a key. KEYS[1] is the prefix of the keys of callers; the arguments are the id
-- and the time.
local K, id, at = KEYS[1], ARGV[1], ARGV[2]
local is = redis.call('HMGET', K .. 'key:' .. id, 'app', 'revoked')
if not is[1] then return {'MISSING'} end
if is[2] ~= '0' then return {'OK'} end
redis.call('HSET', K .. 'key:' .. id, 'revoked', at)
redis.call('ZADD', K .. 'dead', 'LT', at, id)
redis.call('INCR', K .. 'revision')
return {'OK'}
