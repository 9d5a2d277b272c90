-- Gives an app without a configuration one. KEYS[1] is the prefix of the app's keys; the
-- arguments are the document and its revision.
local key, doc, revision = KEYS[1] .. 'config', ARGV[1], ARGV[2]
if redis.call('EXISTS', key) == 0 then redis.call('HSET', key, 'doc', doc, 'revision', revision) end
return {'OK'}
