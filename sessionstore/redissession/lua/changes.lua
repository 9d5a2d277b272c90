-- Reads a page of the changes of an operation behind so many of them, of PAGE_BYTES
-- together, and one at least. Answers how many are before the next page, 0 if there
-- is none, and the changes.
local scope, id, expired, skip = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local op = operation(id, scope, expired)
if not op then return {} end
local changes = key('changes', op[11])
local begin = call('ZCOUNT', changes, '-inf', op[3])
local all = call('ZCOUNT', changes, '(' .. op[3], op[4])
local docs, used = {}, 0
local STEP = 50 -- changes that are read at a time
while skip + #docs < all do
  local from = skip + #docs
  local some = call('ZRANGE', changes, begin + from, begin + math.min(from + STEP, all) - 1)
  if #some == 0 then break end
  for _, doc in ipairs(some) do
    used = used + #doc - 16
    if #docs > 0 and (used > PAGE_BYTES or #docs == MAX_PAGE_CHANGES) then return {skip + #docs, docs} end
    docs[#docs + 1] = string.sub(doc, 17)
  end
end
return {0, docs}
