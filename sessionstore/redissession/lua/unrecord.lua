-- Removes changes of a life as they are stored, and the plan if it is the given one: a
-- claim of the work is void then.
local ref, plan = ARGV[1], ARGV[2]
for i = 3, #ARGV do call('ZREM', key('changes', ref), ARGV[i]) end
if plan == '' or call('GET', key('plan', ref)) ~= plan then return 0 end
call('UNLINK', key('plan', ref))
call('HDEL', key('session', ref), 'planned')
if tonumber(meta(ref, 'attempts')[1] or '0') > 0 then call('HINCRBY', key('session', ref), 'attempts', 1) end
return 1
