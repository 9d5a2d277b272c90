-- Reads events of a session id by their ids, in all of its lives: the number of the life,
-- that of the event, and the event.
local scope, only, now, out, seen = ARGV[1], ARGV[2], ARGV[3], {}, {}

local function look(ref)
  if seen[ref] then return end
  seen[ref] = true
  for i = 4, #ARGV do
    local n = call('HGET', key('ids', ref), ARGV[i])
    local e = n and call('XRANGE', key('events', ref), n, n)[1]
    if e then
      out[#out + 1] = ref
      out[#out + 1] = n
      out[#out + 1] = e[2][2]
    end
  end
end

local ref = find(scope, only, now)
if ref then look(ref) end
for _, m in ipairs(call('ZRANGE', key('asked', scope), 0, -1)) do
  local waits = num(tonumber(m))
  if meta(waits, 'id')[1] == only then look(waits) end
end
for _, op in ipairs(call('ZRANGE', key('operations', scope), 0, -1)) do
  local is = call('HMGET', key('operation', op), 'ref', 'session')
  if is[1] and is[2] == only then look(is[1]) end
end
return out
