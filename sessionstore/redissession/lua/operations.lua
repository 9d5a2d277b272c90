-- Reads a page of a scope's operations with numbers below before, newest first.
local scope, before, count, expired = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local out = {}
while #out < count do
  local ids = call('ZREVRANGEBYSCORE', key('operations', scope), '(' .. before, '-inf', 'WITHSCORES',
    'LIMIT', 0, count - #out)
  if #ids == 0 then break end
  for i = 1, #ids, 2 do
    local op = operation(ids[i], scope, expired)
    if op then out[#out + 1] = {ids[i + 1], op} end
  end
  before = ids[#ids]
end
return out
