-- Replaces events of a life: the arguments are its number, and then numbers and events.
-- A stream cannot change an entry, so that another one takes its place. What the events
-- have changed is not reported any longer, and a claim of the work is void.
local ref, blank = ARGV[1], {}
for i = 2, #ARGV, 2 do blank[ARGV[i]] = ARGV[i + 1] end
local old, new = key('events', ref), key('blanked', ref)
if call('EXISTS', old) == 0 then return 0 end
local ttl = call('PTTL', old)
call('DEL', new)
for _, e in ipairs(call('XRANGE', old, '-', '+')) do call('XADD', new, e[1], 'd', blank[e[1]] or e[2][2]) end
call('RENAME', new, old)
if ttl > 0 then call('PEXPIRE', old, ttl) end
for n in pairs(blank) do
  local seq = string.match(n, '^%d+')
  call('ZREMRANGEBYSCORE', key('changes', ref), seq, seq)
end
call('UNLINK', key('plan', ref))
call('HDEL', key('session', ref), 'planned')
if tonumber(meta(ref, 'attempts')[1] or '0') > 0 then call('HINCRBY', key('session', ref), 'attempts', 1) end
return 1
