-- Reads sessions without their events: the first count of a scope's sessions with
-- numbers below before, newest first, or the sessions that the arguments name. With
-- each comes the size of its own state, and with each user the size of theirs. The
-- states come too while they have no more than room bytes together, and those that
-- do not are read by states.lua.
local before, count, room, now = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local ascending = ARGV[5] == '1' -- then those with numbers above before, oldest first
local conversations = ARGV[6] == '1' -- leaves out the sessions aside
local out, users, seen = {}, {}, {}

-- state reads a state if there is room for it.
local function state(name, bytes)
  if bytes > room then
    room = -1 -- nor is there for a later one
    return ''
  end
  room = room - bytes
  return call('HGETALL', name)
end

local function add(scope, id, ref)
  local m = meta(ref, 'updated', 'bytes', 'name', 'labels', 'created', 'expires')
  if not m[1] or overdue(m[6], now) then return find(scope, id, now) end -- it has expired
  if not seen[scope] then
    seen[scope] = true
    local bytes = user_bytes(scope)
    users[#users + 1] = {scope, num(bytes), state(key('user', scope), bytes)}
  end
  local bytes = tonumber(m[2]) or own_bytes(ref)
  out[#out + 1] = {ref, scope, id, m[1], num(bytes), state(key('state', ref), bytes),
    m[3] or '', m[4] or '', created(ref, m[5], m[1]), m[6] or '0'}
end

if before ~= '' then
  local scope = ARGV[7]
  while #out < count do
    local how, to = 'ZREVRANGEBYSCORE', '-inf'
    if ascending then how, to = 'ZRANGEBYSCORE', '+inf' end
    local ids = call(how, key('live', scope), '(' .. before, to, 'WITHSCORES', 'LIMIT', 0, count - #out)
    if #ids == 0 then break end
    for i = 1, #ids, 2 do
      if not (conversations and aside(ids[i])) then add(scope, ids[i], ids[i + 1]) end
    end
    before = ids[#ids]
  end
else
  local i = 7
  while i <= #ARGV do
    local scope, ids = ARGV[i], {}
    while ARGV[i] == scope do
      ids[#ids + 1] = ARGV[i + 1]
      i = i + 2
    end
    for k, ref in ipairs(call('ZMSCORE', key('live', scope), unpack(ids))) do
      if ref then add(scope, ids[k], ref) end
    end
  end
end
return {out, users}
