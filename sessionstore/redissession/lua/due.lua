-- Fires the triggers that are due, up to 100 of them. Then it reads the scopes that have
-- work that is due and are not leased, the longest waiting first and up to limit of each
-- app, so that an app with many of them does not hide another; how many scopes and
-- triggers wait; the apps with messages in an outbox; and the leased scopes. It looks at
-- the 500 scopes that wait longest, and at more until it has one.
local now, limit = clock(ARGV[1]), tonumber(ARGV[2])
local due = call('ZRANGEBYSCORE', P .. 'triggers', '-inf', now, 'WITHSCORES', 'LIMIT', 0, 100)
for i = 1, #due, 2 do
  local ref = num(tonumber(due[i]))
  local scope = meta(ref, 'scope')[1]
  if scope then
    fire(scope, ref, due[i + 1])
  else -- its keys were deleted by hand
    call('ZREM', P .. 'triggers', due[i])
  end
end
local out, from, of = {}, 0, {}
while from < 500 or #out == 0 do
  local some = call('ZRANGE', P .. 'since', from, from + 99, 'WITHSCORES')
  if #some == 0 then break end
  for i = 1, #some, 2 do
    local app = string.match(some[i], '^[^/]*')
    if (of[app] or 0) < limit then
      local until_ = call('HGET', P .. 'leases', some[i])
      local leased = until_ and tonumber(string.match(until_, '^%d+')) > tonumber(now)
      if not leased and tonumber(call('ZSCORE', P .. 'due', some[i])) <= tonumber(now) then
        out[#out + 1] = some[i]
        out[#out + 1] = some[i + 1]
        of[app] = (of[app] or 0) + 1
      end
    end
  end
  from = from + 100
end
local taken = {}
local leases = call('HGETALL', P .. 'leases')
for i = 1, #leases, 2 do
  if tonumber(string.match(leases[i + 1], '^%d+')) > tonumber(now) then taken[#taken + 1] = leases[i] end
end
return {out, call('ZCARD', P .. 'since') + call('ZCARD', P .. 'triggers'), call('SMEMBERS', P .. 'outboxes'), taken}
