-- Gives a key another hash. KEYS[1] is the prefix of the keys of callers; the arguments
-- are the id, the hash, the time, and until when the hash before counts.
local K, id, hash, at, old_until = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local is = redis.call('HMGET', K .. 'key:' .. id, 'hash', 'revoked', 'expires')
if not is[1] then return {'MISSING'} end
if is[2] ~= '0' or is[3] ~= '0' and tonumber(at) >= tonumber(is[3]) then return {'DEAD'} end
redis.call('HSET', K .. 'key:' .. id, 'old', is[1], 'old_until', old_until, 'hash', hash)
redis.call('INCR', K .. 'revision')
return {'OK'}
