-- Reads the configuration of an app and its revision. KEYS[1] is the prefix of the
-- app's keys.
local is = redis.call('HMGET', KEYS[1] .. 'config', 'doc', 'revision')
return {is[1] or '', is[2] or '0'}
