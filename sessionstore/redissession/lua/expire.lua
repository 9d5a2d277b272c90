-- Deletes sessions of a partition that have expired, up to a number of them. Answers how
-- many it has deleted, and the apps that have to know.
local now, limit = clock(ARGV[1]), tonumber(ARGV[2])
local n, apps, seen = 0, {}, {}
for _, ref in ipairs(call('ZRANGEBYSCORE', P .. 'expiring', '-inf', now, 'LIMIT', 0, limit)) do
  local m = meta(ref, 'scope', 'id')
  if not m[1] then -- its keys were deleted by hand
    call('ZREM', P .. 'expiring', ref)
  else
    hide(m[1], m[2], ref, now)
    local app = string.match(m[1], '^[^/]*')
    if not seen[app] then apps[#apps + 1] = app end
    seen[app] = true
  end
  n = n + 1
end
return {n, apps}
