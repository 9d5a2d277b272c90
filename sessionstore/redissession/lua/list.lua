-- Reads sessions without their events and states: the first count of a scope's
-- sessions with numbers below before, newest first, or the sessions that the
-- arguments name. With each comes the size of its own state, and with each user the
-- size of theirs.
local before, count = ARGV[1], tonumber(ARGV[2])
local out = {}
local function add(scope, id)
  local ref = find(scope, id)
  if not ref then return end
  out[#out + 1] = {ref, scope, id, meta(ref, 'updated')[1], num(own_bytes(ref))}
end
local users, seen = {}, {}
local function user(scope)
  if not seen[scope] then
    seen[scope] = true
    users[#users + 1] = {scope, num(user_bytes(scope))}
  end
end
if before ~= '' then
  local scope = ARGV[3]
  user(scope)
  while #out < count do
    local ids = call('ZREVRANGEBYSCORE', key('live', scope), '(' .. before, '-inf', 'WITHSCORES',
      'LIMIT', 0, count - #out)
    if #ids == 0 then break end
    for i = 1, #ids, 2 do add(scope, ids[i]) end
    before = ids[#ids]
  end
else
  for i = 3, #ARGV, 2 do
    user(ARGV[i])
    add(ARGV[i], ARGV[i + 1])
  end
end
return {out, users}
