-- Replaces the configuration of an app. KEYS[1] is the prefix of the app's keys; the
-- arguments are the document and the revision that it must have now, -1 for any.
local key, doc, expect = KEYS[1] .. 'config', ARGV[1], ARGV[2]
local revision = redis.call('HGET', key, 'revision') or '0'
if expect ~= '-1' and expect ~= revision then return {'STALE', revision} end
redis.call('HSET', key, 'doc', doc)
return {'OK', redis.call('HINCRBY', key, 'revision', 1)}
