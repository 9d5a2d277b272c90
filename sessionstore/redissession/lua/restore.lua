-- Gives an imported session its state and positions; see Restore.
local at = 0
local function arg() at = at + 1; return ARGV[at] end
local scope, id, events, updated, requested, done = arg(), arg(), arg(), arg(), arg(), arg()
local failed, cause, plan, planned, now, ttl = arg(), arg(), arg(), arg(), clock(arg()), arg()
local merge = arg() == '1'
local details = {} -- fields of the session to set, and their values
for i = 1, tonumber(arg()) do details[i] = arg() end
local rule, own, wait_to, wait_since, wait_last, wait_due = arg(), arg(), arg(), arg(), arg(), arg()
local ref = find(scope, id, now)
if not ref then return 'MISSING' end
local m = meta(ref, 'seq', 'requested', 'done', 'rule', 'own', 'updated', 'created', 'name')
if tonumber(m[1]) > tonumber(events) and not merge then return 'OK' end
if tonumber(m[1]) < tonumber(events) then return tonumber(m[1]) end
if merge then -- only what the session lacks
  while at < #ARGV do call('HSETNX', key('state', ref), arg(), arg()) end
  if tonumber(updated) < tonumber(m[6]) then updated = m[6] end
  call('HSET', key('session', ref), 'updated', updated, 'bytes', num(hash_bytes(key('state', ref))))
  for i = 1, #details, 2 do
    local name, value = details[i], details[i + 1]
    if name == 'created' and tonumber(value) < tonumber(created(ref, m[7], m[6])) or
      name == 'name' and (m[8] or '') == '' then
      call('HSET', key('session', ref), name, value)
    end
  end
  touch(scope, id, updated)
  renew(ref, now, ttl)
  if tonumber(requested) > 0 and tonumber(m[1]) > tonumber(m[2]) then
    unwait(ref)
    raise(scope, ref, m[1], now)
  end
  return 'OK'
end
failed = failed == '1' and 1 or 0
while at < #ARGV do call('HSET', key('state', ref), arg(), arg()) end
call('HSET', key('session', ref), 'updated', updated, 'bytes', num(hash_bytes(key('state', ref))))
if #details > 0 then call('HSET', key('session', ref), unpack(details)) end
touch(scope, id, updated)
renew(ref, now, ttl)
if (m[4] or NO_TRIGGER) == NO_TRIGGER and m[5] ~= '1' and rule ~= '' then
  call('HSET', key('session', ref), 'rule', rule, 'own', own)
  if tonumber(wait_to) > tonumber(m[2]) then
    call('HSET', key('session', ref), 'wait_to', wait_to, 'wait_since', wait_since, 'wait_last', wait_last,
      'wait_due', wait_due)
    call('ZADD', P .. 'triggers', wait_due, member(ref))
  end
end
local back = tonumber(done) < tonumber(m[3]) or tonumber(requested) < tonumber(m[2])
if back or (done == m[3] and requested == m[2]) then return 'OK' end
call('HSET', key('session', ref), 'requested', requested, 'done', done, 'failed', failed, 'error', cause,
  'attempts', 0, 'due', 0, 'asked', now)
call('UNLINK', key('plan', ref))
call('HDEL', key('session', ref), 'planned')
if plan ~= '' then
  call('SET', key('plan', ref), plan)
  call('HSET', key('session', ref), 'planned', planned)
end
dequeue(scope, ref)
if tonumber(requested) > tonumber(done) and failed == 0 then enqueue(scope, ref, now, 0) end
requeue(scope)
return 'OK'
