-- Moves a session's done position back to the start; see Rebind.
local ref, now = ARGV[1], clock(ARGV[2])
local m = meta(ref, 'scope', 'requested')
if not m[1] or m[2] == '0' then return 0 end
call('HSET', key('session', ref), 'done', 0, 'failed', 0, 'error', '', 'attempts', 0, 'due', 0, 'asked', now)
call('UNLINK', key('plan', ref), key('changes', ref)) -- the plan and the changes are made again
call('HDEL', key('session', ref), 'planned', 'changes')
call('ZREM', P .. 'gone', ref)
enqueue(m[1], ref, now, 0)
requeue(m[1])
persist(ref)
return 1
