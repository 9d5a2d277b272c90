-- Makes the work of a failed operation due at once.
local scope, id, now = ARGV[1], ARGV[2], clock(ARGV[3])
local o = call('HMGET', key('operation', id), 'scope', 'ref', 'ended')
if o[1] ~= scope or o[3] ~= '0' then return 0 end
local ref = o[2]
if meta(ref, 'failed')[1] ~= '1' then return 0 end
call('HSET', key('session', ref), 'failed', 0, 'attempts', 0, 'due', 0, 'asked', now)
call('ZREM', P .. 'gone', ref)
enqueue(scope, ref, now, 0)
requeue(scope)
return 1
