-- Reads the numbers of the lives that have work or operations of a scope.
local scope, out, seen = ARGV[1], {}, {}
local function add(ref)
  if ref and not seen[ref] then
    seen[ref] = true
    out[#out + 1] = ref
  end
end
for _, m in ipairs(call('ZRANGE', key('asked', scope), 0, -1)) do add(num(tonumber(m))) end
for _, op in ipairs(call('ZRANGE', key('operations', scope), 0, -1)) do add(call('HGET', key('operation', op), 'ref')) end
return out
