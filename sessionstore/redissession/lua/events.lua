-- Reads up to count events of a session with numbers above after, of WALK_BYTES
-- together, and one at least.
local ref, after, count = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local docs, used = {}, 0
while #docs < count do
  local id = num(after + 1 + #docs) .. '-0'
  local found = call('XRANGE', key('events', ref), id, id)
  if #found == 0 then break end
  local doc = found[1][2][2]
  used = used + #doc
  if #docs > 0 and used > WALK_BYTES then break end
  docs[#docs + 1] = doc
end
return docs
