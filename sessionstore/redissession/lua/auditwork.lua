-- Reads the faults of a partition's work list, leases and outboxes: what each is of,
-- and its kind.
local now, out = tonumber(clock(ARGV[1])), {}
local function fault(kind, of) if #out < 2000 then out[#out + 1] = kind; out[#out + 1] = of end end
for _, scope in ipairs(call('ZRANGE', P .. 'since', 0, 9999)) do
  local asked = call('ZRANGE', key('asked', scope), 0, -1, 'WITHSCORES')
  local tries = call('ZRANGE', key('tries', scope), 0, 0, 'WITHSCORES')
  if #asked == 0 or asked[2] ~= call('ZSCORE', P .. 'since', scope) or tries[2] ~= call('ZSCORE', P .. 'due', scope) then
    fault('work', scope)
  end
  for i = 1, #asked, 2 do
    local m = meta(num(asked[i]), 'requested', 'done', 'failed', 'scope')
    if not m[1] or tonumber(m[1]) <= tonumber(m[2]) or m[3] == '1' or m[4] ~= scope then fault('work', scope) end
  end
end
local leases = call('HGETALL', P .. 'leases')
for i = 1, #leases, 2 do
  local until_ = tonumber(string.match(leases[i + 1], '^%d+'))
  if not until_ or until_ > now + 3600 * 1e6 then fault('lease', leases[i]) end
end
for _, app in ipairs(call('SMEMBERS', P .. 'outboxes')) do
  local last = call('LINDEX', key('outbox', app), -1)
  if last then fault('outbox', num(cmsgpack.unpack(last)[1]) .. ' ' .. app) end
end
return out
