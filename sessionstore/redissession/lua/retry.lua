-- Makes the work of an operation that has failed, or waits to be tried again or
-- for a trigger, due at once.
local scope, id, now = ARGV[1], ARGV[2], clock(ARGV[3])
local o = call('HMGET', key('operation', id), 'scope', 'ref', 'ended')
if o[1] ~= scope or o[3] ~= '0' then return 0 end
local ref = o[2]
local m = meta(ref, 'failed', 'due', 'asked', 'wait_op')
if m[4] == id then
  fire(scope, ref, now)
  return 1
end
if m[1] ~= '1' then
  if tonumber(m[2] or '0') == 0 then return 0 end
  call('HSET', key('session', ref), 'due', 0)
  enqueue(scope, ref, m[3], 0)
  requeue(scope)
  return 1
end
call('HSET', key('session', ref), 'failed', 0, 'attempts', 0, 'due', 0, 'asked', now)
call('ZREM', P .. 'gone', ref)
enqueue(scope, ref, now, 0)
requeue(scope)
return 1
