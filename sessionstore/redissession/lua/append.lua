-- Makes a session, appends events with their state, sets details, and requests memories.
local at = 0
local function arg() at = at + 1; return ARGV[at] end

local scope, app, user, id = arg(), arg(), arg(), arg()
local now, mode, keep, op_id, request, expired, ttl = clock(arg()), arg(), arg(), arg(), arg(), arg(), arg()
local delivered = arg() -- the last message that the app is known to have
local max, token = tonumber(arg()), arg() -- of a state; of the room reserved in that of the app
local reserved = arg() -- the key that has token if there is room; '' if that is known
local most = tonumber(arg()) -- sessions of a user; 0 for any number
local details = {} -- fields of the session to set, and their values
for i = 1, tonumber(arg()) do details[i] = arg() end
local rule, own, flush = arg(), arg(), arg() -- the trigger as text, or ''; see sessionstore.Append

if reserved ~= '' and call('HEXISTS', reserved, token) == 0 then return {'ROOM'} end
local hidden = mode == 'hidden' -- made beside any session of that id
local replace = mode == 'replace' -- the initial state is all that the session has of its own
if replace then mode = 'patch' end
local ref = not hidden and find(scope, id, now)
local sent = false
if op_id ~= '' and call('EXISTS', key('operation', op_id)) == 1 then return {'EXISTS'} end
if ref and mode == 'new' then return {'EXISTS'} end
if not ref and (mode == 'old' or mode == 'patch') then return {'MISSING'} end
-- Sessions aside count among themselves. Those of earlier versions count as others until the next append.
local function full()
  if most == 0 then return false end
  local beside = call('SCARD', key('aside', scope))
  return (aside(id) and beside or call('ZCARD', key('live', scope)) - beside) >= most
end
-- make_room deletes sessions aside that are done, those first that were updated longest ago. It looks at a
-- thousand, some milliseconds for which others wait.
local function make_room()
  local done = {}
  for _, other in ipairs(call('SRANDMEMBER', key('aside', scope), 1000)) do
    local of = string.sub(other, 1, 10) == '~contents~' and find(scope, other, now)
    local m = of and meta(of, 'seq', 'done', 'updated')
    if m and m[1] == m[2] then done[#done + 1] = {id = other, ref = of, updated = tonumber(m[3])} end
  end
  table.sort(done, function(a, b) return a.updated < b.updated end)
  for _, d in ipairs(done) do
    if not full() then return end
    hide(scope, d.id, d.ref, now)
  end
end
if not ref and not hidden and full() then
  -- Some may have expired.
  for _, other in ipairs(call('ZRANDMEMBER', key('live', scope), 100)) do find(scope, other, now) end
  if aside(id) then make_room() end
  if full() then return {'SESSIONS'} end
end

-- delta reads a delta from the arguments: owner, name and value of each key.
local function delta()
  local d = {}
  for _ = 1, 3 * tonumber(arg()) do d[#d + 1] = arg() end
  return d
end

-- All is read, and the sizes of the states after it are known, before anything is
-- stored: a script that fails halfway is not taken back. bytes has the sizes of the
-- states of the session and the user, and lengths those of the values set so far.
local bytes, lengths = {s = ref and own_bytes(ref) or 0, u = user_bytes(scope)}, {s = {}, u = {}}
local before = {s = bytes.s, u = bytes.u}
if replace then bytes.s = 0 end
local function count(d)
  for i = 1, #d, 3 do
    local owner, name, value = d[i], d[i + 1], d[i + 2]
    if owner ~= 'a' then
      local at = owner == 'u' and key('user', scope) or not replace and ref and key('state', ref)
      local had = lengths[owner][name]
      if not had and at and call('HEXISTS', at, name) == 1 then had = call('HSTRLEN', at, name) end
      bytes[owner] = bytes[owner] + #value - (had or -(#name + STATE_KEY_BYTES))
      lengths[owner][name] = #value
    end
  end
end

local initial = delta()
count(initial)
local events, new = {}, {}
for i = 1, tonumber(arg()) do
  local e = {id = arg(), time = arg(), rewinds = arg(), doc = arg(), delta = delta()}
  events[i] = e
  e.new = not new[e.id] and not (ref and call('HEXISTS', key('ids', ref), e.id) == 1)
  new[e.id] = true
  if e.new and keep ~= '1' then count(e.delta) end
end
for _, owner in ipairs({'s', 'u'}) do
  if bytes[owner] > max and bytes[owner] > before[owner] then
    return {'STATE', owner, num(before[owner]), num(bytes[owner])}
  end
end

if not ref then
  ref = num(call('INCR', P .. 'n'))
  call('HSET', key('session', ref), 'scope', scope, 'id', id, 'updated', now, 'seq', 0, 'requested', 0, 'done', 0,
    'asked', 0, 'due', 0, 'attempts', 0, 'failed', 0, 'error', '', 'rewinds', 0, 'deleted', hidden and 1 or 0,
    'created', now)
  if not hidden then
    call('ZADD', key('live', scope), ref, id)
    send(app, '+', user, id)
    sent = true
  end
end
if #details > 0 then call('HSET', key('session', ref), unpack(details)) end

-- apply sets the keys of a delta.
local function apply(d)
  local forApp = {}
  for i = 1, #d, 3 do
    if d[i] == 'a' then
      forApp[#forApp + 1] = d[i + 1]
      forApp[#forApp + 1] = d[i + 2]
    else
      call('HSET', d[i] == 'u' and key('user', scope) or key('state', ref), d[i + 1], d[i + 2])
    end
  end
  if #forApp > 0 then
    send(app, '=', forApp, token)
    sent = true
  end
end

-- for_app tells whether a delta has keys of the app.
local function for_app(d)
  for i = 1, #d, 3 do
    if d[i] == 'a' then return true end
  end
end

if replace then call('UNLINK', key('state', ref)) end
apply(initial)
local m = meta(ref, 'seq', 'updated', 'requested', 'done')
local seq, updated = tonumber(m[1]), mode == 'patch' and now or m[2]
local had = {}
for i, e in ipairs(events) do
  if e.new then
    seq = seq + 1
    call('XADD', key('events', ref), num(seq) .. '-0', 'd', e.doc)
    call('HSET', key('ids', ref), e.id, num(seq) .. '-0')
    call('ZADD', key('times', ref), e.time, member(seq))
    if e.rewinds == '1' then call('HSET', key('session', ref), 'rewinds', 1) end
    updated = e.time
    if keep ~= '1' then apply(e.delta) end
  else
    -- The call that stored it may have failed before the app had its state.
    if keep ~= '1' and for_app(e.delta) then sent = true end
    local was = call('HGET', key('ids', ref), e.id)
    had[#had + 1] = tostring(i)
    had[#had + 1] = call('XRANGE', key('events', ref), was, was)[1][2][2]
  end
end
call('HSET', key('session', ref), 'bytes', num(bytes.s))
if next(lengths.u) then call('SET', key('userbytes', scope), num(bytes.u)) end
call('HSET', key('session', ref), 'seq', num(seq), 'updated', updated)

-- ask stores the trigger, and returns when the events that wait came, the first and the
-- last, and when they are due: nothing if all events are requested now. It is
-- sessionstore.Waiting.Ask.
local function ask(requested)
  local w = meta(ref, 'rule', 'own', 'wait_since', 'wait_last')
  local is, since, last = w[1] or '', w[3], w[4]
  if rule ~= '' and (own == '1' or w[2] ~= '1') then
    is = rule
    if is ~= (w[1] or NO_TRIGGER) or own ~= (w[2] or '0') then
      call('HSET', key('session', ref), 'rule', rule, 'own', own)
    end
  end
  if rule == '' or flush == '1' or seq == requested then return end
  if not since then since, last = now, now end
  if seq > tonumber(m[1]) then last = now end
  local count, idle, every = string.match(is, '^(%d+) (%d+) (%d+)')
  count, idle, every = tonumber(count), tonumber(idle), tonumber(every)
  if count == 0 and idle == 0 and every == 0 or count > 0 and seq - requested >= count then return end
  local due = tonumber(last) + (idle > 0 and idle or MAX_TRIGGER_WAIT)
  if every > 0 then due = math.min(due, tonumber(since) + every) end
  if due > tonumber(now) then return since, last, num(due) end
end

local op = {}
if op_id ~= '' then
  local requested, done, first = tonumber(m[3]), tonumber(m[4]), m[4]
  local since, last, due = ask(requested)
  if rule ~= '' and flush ~= '1' then op_id = meta(ref, 'wait_op')[1] or op_id end -- it joins those that wait
  if due then
    first = m[3]
    call('HSET', key('session', ref), 'wait_to', num(seq), 'wait_since', since, 'wait_last', last, 'wait_due', due,
      'wait_op', op_id)
    call('ZADD', P .. 'triggers', due, member(ref))
  else
    unwait(ref)
    if seq > done then raise(scope, ref, num(seq), now) end
  end
  if call('HSETNX', key('operation', op_id), 'last', num(seq)) == 0 then -- it waits already
    call('HSET', key('operation', op_id), 'last', num(seq))
    call('ZADD', key('waiting', ref), num(seq), op_id)
  else
    if seq > done then
      call('ZADD', key('waiting', ref), num(seq), op_id)
      call('ZADD', key('covers', ref), first, op_id)
    end
    call('HSET', key('operation', op_id), 'scope', scope, 'ref', ref, 'session', id, 'first', first,
      'created', now, 'ended', 0, 'attempts', 0, 'request', request)
    call('ZADD', key('operations', scope), call('INCR', P .. 'n'), op_id)
    call('ZADD', key('ran', app), now, user .. '/' .. op_id)
    if seq == done then end_operation(scope, op_id, now) end
  end
  op = operation(op_id, scope, expired)

  -- With each new operation, remove two that can no longer be read, and a deleted
  -- session whose work was given up as long ago.
  for _, old in ipairs(call('ZRANGEBYSCORE', key('ended', scope), '-inf', '(' .. expired, 'LIMIT', 0, 2)) do
    local of = call('HGET', key('operation', old), 'ref')
    if of then call('ZREM', key('covers', of), old) end
    call('ZREM', key('ended', scope), old)
    call('ZREM', key('operations', scope), old)
    call('ZREM', key('ran', app), user .. '/' .. old)
    call('UNLINK', key('operation', old))
  end
  -- Those of users who ask for nothing again go from the app's list by chance: with one in ten
  -- operations, up to twenty. Operations that have not ended stay, so that it begins anywhere.
  local past = string.sub(now, -1) == '0' and call('ZCOUNT', key('ran', app), '-inf', '(' .. expired) or 0
  if past > 0 then
    local from = math.floor(tonumber(now) / 10) % past
    for _, name in ipairs(call('ZRANGE', key('ran', app), from, math.min(from + 20, past) - 1)) do
      forget_ran(app, name)
    end
  end
  for _, old in ipairs(call('ZRANGEBYSCORE', P .. 'gone', '-inf', '(' .. expired, 'LIMIT', 0, 1)) do
    for _, w in ipairs(call('ZRANGE', key('waiting', old), 0, -1)) do call('UNLINK', key('operation', w)) end
    call('UNLINK', key('waiting', old), key('covers', old), key('changes', old))
    purge(old)
  end
end
if hidden and seq == tonumber(m[4]) then
  purge(ref) -- there is nothing to do
elseif not hidden then
  if aside(id) then call('SADD', key('aside', scope), id) end
  touch(scope, id, updated)
  renew(ref, now, ttl)
end

local out = {}
if sent then
  if delivered ~= '' then drop(app, delivered) end
  out = call('LRANGE', key('outbox', app), 0, -1)
end
return {'OK', ref, updated, had, op, out, sent and call('GET', P .. 'sent') or '0'}
