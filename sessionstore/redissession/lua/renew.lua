-- Extends a lease that its owner still has: also one that has ended, if nobody else
-- has claimed the scope since.
local scope, owner, now, ttl = ARGV[1], ARGV[2], clock(ARGV[3]), ARGV[4]
local lease = call('HGET', P .. 'leases', scope)
if not lease then return 0 end
local _, by = string.match(lease, '^(%d+) (.*)$')
if by ~= owner then return 0 end
call('HSET', P .. 'leases', scope, num(tonumber(now) + tonumber(ttl)) .. ' ' .. owner)
return 1
