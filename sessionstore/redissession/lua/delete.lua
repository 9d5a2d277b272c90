-- Deletes a session: it is hidden at once, and its events stay until the requested
-- memories are made.
local scope, app, id, now = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local ref = find(scope, id, now)
if ref then hide(scope, id, ref, now) end
return call('LRANGE', key('outbox', app), 0, -1)
