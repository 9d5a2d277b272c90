-- Reads sessions without their events: a page of a scope's sessions with numbers
-- below before, newest first, or the sessions that the arguments name.
local before, count = ARGV[1], tonumber(ARGV[2])
local out = {}
local function add(scope, id)
  local ref = find(scope, id)
  if not ref then return end
  out[#out + 1] = {ref, scope, id, meta(ref, 'updated')[1], call('HGETALL', key('state', ref))}
end
local users = {}
local function user(scope)
  if not users[scope] then
    users[scope] = true
    users[#users + 1] = {scope, call('HGETALL', key('user', scope))}
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
