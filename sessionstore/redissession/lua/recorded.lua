-- Reads a part of the changes of a life as they are stored, from a place on, and the plan.
local ref, from, n = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
return {call('GET', key('plan', ref)) or '', call('ZRANGE', key('changes', ref), from, from + n - 1)}
