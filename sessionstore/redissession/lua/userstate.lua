-- Reads the state of a user and its size, or the size alone if the state has more than
-- room bytes; 0 is no bound.
local scope, room = ARGV[1], tonumber(ARGV[2])
local bytes = user_bytes(scope)
if room > 0 and bytes > room then return {num(bytes), {}} end
return {num(bytes), call('HGETALL', key('user', scope))}
