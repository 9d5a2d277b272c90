-- Hides a session at once. Its events stay until the requested memories are made.
local scope, app, user, id = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local ref = find(scope, id)
if not ref then return {} end
call('ZREM', key('live', scope), id)
call('HSET', key('session', ref), 'deleted', 1)
local m = meta(ref, 'requested', 'done', 'failed', 'due')
if tonumber(m[1]) <= tonumber(m[2]) then
  purge(ref)
elseif m[3] == '1' then
  call('ZADD', P .. 'gone', m[4], ref)
end
send(app, '-', user, id)
return call('LRANGE', key('outbox', app), 0, -1)
