-- Reads the own states of sessions, by their numbers, and the states of their users:
-- the arguments are scope and number of each.
local own, users, seen = {}, {}, {}
for i = 1, #ARGV, 2 do
  local scope, ref = ARGV[i], ARGV[i + 1]
  own[#own + 1] = {ref, call('HGETALL', key('state', ref))}
  if not seen[scope] then
    seen[scope] = true
    users[#users + 1] = {scope, call('HGETALL', key('user', scope))}
  end
end
return {own, users}
