-- Extends a lease that its owner still has.
local scope, owner, now, ttl = ARGV[1], ARGV[2], clock(ARGV[3]), ARGV[4]
local lease = call('HGET', P .. 'leases', scope)
if not lease then return 0 end
local until_, by = string.match(lease, '^(%d+) (.*)$')
if by ~= owner or tonumber(until_) <= tonumber(now) then return 0 end
call('HSET', P .. 'leases', scope, num(tonumber(now) + tonumber(ttl)) .. ' ' .. owner)
return 1
