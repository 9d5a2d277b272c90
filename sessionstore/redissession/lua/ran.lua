-- Puts operations of a scope, which earlier versions have stored, into the list of its app: up to
-- a number of them from a place on. Answers 1 if others follow.
local scope, from, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local app, user = string.match(scope, '^(.-)/(.*)$')
local ops = call('ZRANGE', key('operations', scope), from, from + most - 1)
for _, op in ipairs(ops) do
  local created = call('HGET', key('operation', op), 'created')
  if created then call('ZADD', key('ran', app), created, user .. '/' .. op) end
end
return #ops == most and 1 or 0
