-- Reads up to count events of a session with numbers above after, of WALK_BYTES
-- together, and one at least. Each time it reads up to twice as many as before, so that
-- not much is read for which there is no room.
local ref, after, count = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local docs, used, many = {}, 0, 1
while #docs < count do
  local from = after + 1 + #docs
  local to = from + math.min(many, count - #docs) - 1
  local found = call('XRANGE', key('events', ref), num(from) .. '-0', num(to) .. '-0')
  for i, e in ipairs(found) do
    if e[1] ~= num(from + i - 1) .. '-0' then return docs end
    used = used + #e[2][2]
    if #docs > 0 and used > WALK_BYTES then return docs end
    docs[#docs + 1] = e[2][2]
  end
  if #found < to - from + 1 then break end
  many = math.min(2 * many, 128)
end
return docs
