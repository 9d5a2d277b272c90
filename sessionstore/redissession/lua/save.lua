-- Stores the plan of the batch in progress.
local ref, done, attempts, to, plan = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if not still_claimed(ref, done, attempts) then return 0 end
call('SET', key('plan', ref), plan)
call('HSET', key('session', ref), 'planned', to)
return 1
