-- Records why an attempt failed, and when to try again: never, if retry is ''.
-- Answers 1 and how many operations wait for it.
local scope, ref, done, attempts, cause, retry = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local now = clock(ARGV[7])
if not still_claimed(ref, done, attempts) then return 0 end
local m = meta(ref, 'asked', 'deleted', 'requested')
if retry == '' then
  call('HSET', key('session', ref), 'error', cause, 'due', now, 'failed', 1)
  dequeue(scope, ref)
  if m[2] == '1' then call('ZADD', P .. 'gone', now, ref) end
else
  call('HSET', key('session', ref), 'error', cause, 'due', retry, 'failed', 0)
  enqueue(scope, ref, m[1], retry)
end
call('HDEL', P .. 'leases', scope)
requeue(scope)
return 1 + call('ZCOUNT', key('waiting', ref), '-inf', m[3])
