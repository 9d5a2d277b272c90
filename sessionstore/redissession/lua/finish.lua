-- Moves the done position, stores the changes for the operations that requested
-- them, and ends the lease. Answers 1 and how many operations have ended.
local scope, ref, done, attempts, to = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local now, expired = clock(ARGV[6]), ARGV[7]
if not still_claimed(ref, done, attempts) then return 0 end
local m = meta(ref, 'requested', 'deleted')
if tonumber(to) > tonumber(m[1]) or tonumber(to) <= tonumber(done) then return 0 end
for i = 8, #ARGV, 2 do
  local n = call('HINCRBY', key('session', ref), 'changes', 1)
  call('ZADD', key('changes', ref), ARGV[i], member(n) .. ARGV[i + 1])
end
call('HSET', key('session', ref), 'done', to, 'attempts', 0, 'failed', 0, 'due', 0, 'error', '', 'asked', now)
call('UNLINK', key('plan', ref))
call('HDEL', key('session', ref), 'planned')
local ended = call('ZRANGEBYSCORE', key('waiting', ref), '-inf', to)
for _, op in ipairs(ended) do
  end_operation(scope, op, now)
  call('ZREM', key('waiting', ref), op)
end
-- Remove the changes that no readable operation covers.
for _, op in ipairs(call('ZRANGE', key('covers', ref), 0, 99)) do
  local at = call('HGET', key('operation', op), 'ended')
  if at and (at == '0' or tonumber(at) >= tonumber(expired)) then break end
  call('ZREM', key('covers', ref), op)
end
local first = call('ZRANGE', key('covers', ref), 0, 0, 'WITHSCORES')[2]
call('ZREMRANGEBYSCORE', key('changes', ref), '-inf', first or '+inf')
if tonumber(to) < tonumber(m[1]) then
  enqueue(scope, ref, now, 0)
else
  dequeue(scope, ref)
  if m[2] == '1' then purge(ref) end
end
call('HDEL', P .. 'leases', scope)
requeue(scope)
return 1 + #ended
