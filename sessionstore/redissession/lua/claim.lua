-- Claims the session of a scope that has waited longest, and leases the scope.
local scope, owner, now, ttl = ARGV[1], ARGV[2], clock(ARGV[3]), ARGV[4]
local lease = call('HGET', P .. 'leases', scope)
if lease and tonumber(string.match(lease, '^%d+')) > tonumber(now) then return {} end
local ref, from = nil, 0
while not ref do
  local some = call('ZRANGE', key('asked', scope), from, from + 99)
  if #some == 0 then
    requeue(scope)
    return {}
  end
  for _, m in ipairs(some) do
    if call('EXISTS', key('session', num(m))) == 0 then -- its keys were deleted by hand
      dequeue(scope, num(m))
    elseif tonumber(call('ZSCORE', key('tries', scope), m)) <= tonumber(now) then
      ref = num(m)
      break
    end
  end
  from = from + 100
end
local attempts = call('HINCRBY', key('session', ref), 'attempts', 1)
local m = meta(ref, 'id', 'done', 'requested', 'rewinds', 'planned', 'error', 'rule')
call('HSET', P .. 'leases', scope, num(tonumber(now) + tonumber(ttl)) .. ' ' .. owner)
local oldest, first = '', nil
local asked, numbers = {}, {} -- operation and last event in turn, of each last event the oldest
local waiting = call('ZRANGEBYSCORE', key('waiting', ref), '-inf', m[3], 'WITHSCORES')
for i = 1, #waiting, 2 do
  local op, last = waiting[i], waiting[i + 1]
  if attempts > 1 or m[6] ~= '' or call('HGET', key('operation', op), 'attempts') == '0' then
    call('HINCRBY', key('operation', op), 'attempts', 1)
  end
  local n = tonumber(call('ZSCORE', key('operations', scope), op))
  if not first or n < first then oldest, first = op, n end
  if asked[#asked] ~= last and #asked < 2 * MAX_ASKED then
    asked[#asked + 1], asked[#asked + 2], numbers[last] = op, last, n
  elseif numbers[last] and n < numbers[last] then
    asked[#asked - 1], numbers[last] = op, n
  end
end
local request = oldest ~= '' and call('HGET', key('operation', oldest), 'request') or ''
return {ref, m[1], m[2], m[3], num(attempts), oldest, m[4], call('GET', key('plan', ref)) or '', m[5] or '0', request,
  #asked > 2 and asked or {}, m[7] or ''}
