-- The functions that the scripts of a partition share. KEYS[1] is the prefix of
-- all its keys. A scope is "app/user": no id has a slash in it. Times are
-- microseconds since 1970. They and all other numbers are below 2^53, so that Lua
-- has them exactly.

local P = KEYS[1]
local call = redis.call

local function num(n) return string.format('%.0f', n) end

-- key returns the name of a key of a session's life, of a scope or of an
-- operation.
local function key(name, of) return P .. name .. ':' .. of end

-- meta reads fields of a session.
local function meta(ref, ...) return call('HMGET', key('session', ref), ...) end

-- hash_bytes is the size of the state in a hash, as sessionstore.StateBytes has it.
local function hash_bytes(name)
  local n = 0
  for _, k in ipairs(call('HKEYS', name)) do n = n + #k + call('HSTRLEN', name, k) + STATE_KEY_BYTES end
  return n
end

-- own_bytes and user_bytes are the sizes of the state of a session and of a user.
-- They are counted where they are not kept, as in data of an earlier version.
local function own_bytes(ref) return tonumber(meta(ref, 'bytes')[1]) or hash_bytes(key('state', ref)) end
local function user_bytes(scope)
  return tonumber(call('GET', key('userbytes', scope))) or hash_bytes(key('user', scope))
end

-- clock returns the caller's time, or the time of this server if that is ''. So
-- all processes compare leases by one clock.
local function clock(given)
  if given ~= '' then return given end
  local t = call('TIME')
  return t[1] .. string.format('%06d', t[2])
end

-- send puts a message for an app into the outbox: the app's state and its list of
-- sessions are not in this slot. seq numbers the messages of this partition in
-- their order. It follows the clock, so that it does not go back when a replica
-- takes over that lacks the last writes: the app would take new messages for old
-- ones.
local function send(app, ...)
  local t = call('TIME')
  local seq = math.max(tonumber(call('GET', P .. 'sent') or '0') + 1, t[1] * 1e6 + t[2])
  call('SET', P .. 'sent', num(seq))
  call('SADD', P .. 'outboxes', app)
  call('RPUSH', key('outbox', app), cmsgpack.pack({seq, ...}))
end

-- drop removes the messages up to seq, which their app has, from the outbox.
local function drop(app, seq)
  while true do
    local e = call('LINDEX', key('outbox', app), 0)
    if not e then return call('SREM', P .. 'outboxes', app) end
    if cmsgpack.unpack(e)[1] > tonumber(seq) then return 0 end
    call('LPOP', key('outbox', app))
  end
end

-- NO_TRIGGER is the zero sessionstore.Trigger as text.
local NO_TRIGGER = '0 0 0 0'

-- requeue brings a scope's place in the work list up to date with its sessions.
-- Every script that changes which sessions wait, or when they are due, ends with
-- it.
local function requeue(scope)
  local since = call('ZRANGE', key('asked', scope), 0, 0, 'WITHSCORES')
  if #since == 0 then
    call('ZREM', P .. 'since', scope)
    call('ZREM', P .. 'due', scope)
    return
  end
  call('ZADD', P .. 'since', since[2], scope)
  call('ZADD', P .. 'due', call('ZRANGE', key('tries', scope), 0, 0, 'WITHSCORES')[2], scope)
end

-- member is a number in a sorted set. It is padded, so that of equal scores the
-- lower number is first.
local function member(ref) return string.format('%016.0f', ref) end

-- enqueue has a session wait since asked, and be due at due.
local function enqueue(scope, ref, asked, due)
  call('ZADD', key('asked', scope), asked, member(ref))
  call('ZADD', key('tries', scope), due, member(ref))
end

local function dequeue(scope, ref)
  call('ZREM', key('asked', scope), member(ref))
  call('ZREM', key('tries', scope), member(ref))
end

-- raise requests the events of a session up to a number, since a time. A session that
-- waits for a worker already keeps its place and its next attempt. One that was given up,
-- or had no work, begins to wait then.
local function raise(scope, ref, to, since)
  local m = meta(ref, 'requested', 'done', 'failed', 'asked', 'due')
  local failed = m[3] == '1'
  local waits = tonumber(m[1]) > tonumber(m[2]) and not failed
  local asked, due = waits and m[4] or since, waits and m[5] or '0'
  call('HSET', key('session', ref), 'requested', to, 'asked', asked, 'due', due, 'failed', 0)
  if failed then call('HSET', key('session', ref), 'attempts', 0) end
  enqueue(scope, ref, asked, due)
  requeue(scope)
end

-- unwait has no events of a session wait for its trigger.
local function unwait(ref)
  call('HDEL', key('session', ref), 'wait_to', 'wait_since', 'wait_last', 'wait_due', 'wait_op')
  call('ZREM', P .. 'triggers', member(ref))
end

-- fire requests the events of a session that wait for its trigger, since a time.
local function fire(scope, ref, since)
  local to = meta(ref, 'wait_to')[1]
  unwait(ref)
  if to then raise(scope, ref, to, since) end
end

-- The keys of a session, and those that its operations need after it is gone.
local session_keys = {'session', 'state', 'events', 'times', 'ids', 'plan'}
local operation_keys = {'changes', 'covers', 'waiting'}

-- purge removes a session that is deleted and has no work left.
local function purge(ref)
  for _, name in ipairs(session_keys) do call('UNLINK', key(name, ref)) end
  for _, name in ipairs(operation_keys) do call('PEXPIRE', key(name, ref), OPERATION_TTL) end
  call('ZREM', P .. 'gone', ref)
end

-- aside is sessionstore.Aside.
local function aside(id)
  return string.sub(id, 1, 8) == '~stream~' or string.sub(id, 1, 10) == '~contents~'
end

-- unlist takes a session out of the lists of its scope and its app.
local function unlist(scope, id, ref)
  call('ZREM', key('live', scope), id)
  if aside(id) then call('SREM', key('aside', scope), id) end
  call('ZREM', P .. 'expiring', ref)
  local app, user = string.match(scope, '^(.-)/(.*)$')
  call('ZREM', key('recent', app), user .. '/' .. id)
  send(app, '-', user, id)
end

-- hide deletes a session. Its events stay until the requested memories are made; those
-- that wait for a trigger are requested. given is the caller's time, or ''.
local function hide(scope, id, ref, given)
  unlist(scope, id, ref)
  call('HSET', key('session', ref), 'deleted', 1)
  if meta(ref, 'wait_due')[1] then fire(scope, ref, clock(given)) end
  local m = meta(ref, 'requested', 'done', 'failed', 'due')
  if tonumber(m[1]) <= tonumber(m[2]) then
    purge(ref)
  elseif m[3] == '1' then
    call('ZADD', P .. 'gone', m[4], ref)
  end
end

-- overdue tells whether a session has expired that expires at a time. given is the
-- caller's time, or ''.
local function overdue(expires, given)
  return expires and expires ~= '0' and tonumber(expires) <= tonumber(clock(given))
end

-- find returns the number of a session's present life, or a false value. It deletes a
-- session that has expired. Earlier versions had the keys of such a session expire.
local function find(scope, id, given)
  local ref = call('ZSCORE', key('live', scope), id)
  if not ref then return false end
  local m = meta(ref, 'seq', 'expires')
  if not m[1] then
    unlist(scope, id, ref)
    return false
  end
  if overdue(m[2], given) then
    hide(scope, id, ref, given)
    return false
  end
  return ref
end

-- touch notes when a session was updated, for lists in that order.
local function touch(scope, id, updated)
  local app, user = string.match(scope, '^(.-)/(.*)$')
  call('ZADD', key('recent', app), updated, user .. '/' .. id)
end

-- created returns when a session was made. Sessions of earlier versions do not say that:
-- it is the time of their first event, or else of their last change.
local function created(ref, stored, updated)
  return stored or call('ZRANGE', key('times', ref), 0, 0, 'WITHSCORES')[2] or updated
end

-- end_operation records when an operation ended; it expires OPERATION_TTL later.
local function end_operation(scope, op, at)
  call('HSET', key('operation', op), 'ended', at)
  call('PEXPIRE', key('operation', op), OPERATION_TTL)
  call('ZADD', key('ended', scope), at, op)
end

-- forget_ran takes an operation out of the list of its app if it is gone: name is
-- user/operation.
local function forget_ran(app, name)
  if call('EXISTS', key('operation', string.match(name, '[^/]*$'))) == 0 then call('ZREM', key('ran', app), name) end
end

-- persist keeps the keys of a session, which earlier versions had expire.
local function persist(ref)
  if call('PTTL', key('session', ref)) < 0 then return end
  for _, name in ipairs(session_keys) do call('PERSIST', key(name, ref)) end
  for _, name in ipairs(operation_keys) do call('PERSIST', key(name, ref)) end
end

-- renew has a session expire ttl milliseconds from now, or never if ttl is 0, unless a
-- client has chosen when it does.
local function renew(ref, now, ttl)
  persist(ref)
  local m = meta(ref, 'expires', 'chosen')
  local at = m[1] or '0'
  if m[2] ~= '1' then
    at = ttl == '0' and '0' or num(tonumber(now) + tonumber(ttl) * 1000)
    if at ~= (m[1] or '0') then call('HSET', key('session', ref), 'expires', at) end
  end
  if at ~= '0' then
    call('ZADD', P .. 'expiring', at, ref)
  elseif m[1] and m[1] ~= '0' then
    call('ZREM', P .. 'expiring', ref)
  end
end

-- operation reads an operation as a flat list; false if there is none, or if it
-- ended before expired.
local function operation(id, scope, expired)
  local o = call('HMGET', key('operation', id),
    'scope', 'ref', 'session', 'first', 'last', 'created', 'ended', 'attempts', 'request')
  if o[1] ~= scope or (o[7] ~= '0' and tonumber(o[7]) < tonumber(expired)) then return false end
  local m = meta(o[2], 'done', 'failed', 'error', 'wait_op', 'wait_due', 'rule')
  return {id, o[3], o[4], o[5], o[6], o[7], o[8], m[1] or o[5], m[2] or '0', m[3] or '', o[2], o[9] or '',
    m[4] == id and m[5] or '0', m[6] or ''}
end

-- still_claimed checks that work is still the caller's: the done position and the
-- attempts are as they were when it was claimed.
local function still_claimed(ref, done, attempts)
  local m = meta(ref, 'done', 'attempts')
  return m[1] == done and m[2] == attempts
end

