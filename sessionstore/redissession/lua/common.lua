-- What the scripts of a partition share. KEYS[1] is the prefix of all its keys;
-- a scope is "app/user", and no id has a slash in it. Times are microseconds
-- since 1970, as every number here below 2^53.

local P = KEYS[1]
local call = redis.call

local function num(n) return string.format('%.0f', n) end

-- key names the keys of a session's life, of a scope, or of the partition.
local function key(name, of) return P .. name .. ':' .. of end

local function meta(ref, ...) return call('HMGET', key('session', ref), ...) end

-- now is the caller's clock, or else this server's: one clock for all leases,
-- however many processes there are.
local function clock(given)
  if given ~= '' then return given end
  local t = call('TIME')
  return t[1] .. string.format('%06d', t[2])
end

-- send puts an entry for another partition into the outbox: an app's state and
-- its list of sessions are not in this slot. seq tells the entries of this
-- partition apart, and their order. It follows the clock, so that it does not
-- go back when a replica that lacks the last writes takes over: the app would
-- take new entries for old ones.
local function send(app, ...)
  local t = call('TIME')
  local seq = math.max(tonumber(call('GET', P .. 'sent') or '0') + 1, t[1] * 1e6 + t[2])
  call('SET', P .. 'sent', num(seq))
  call('SADD', P .. 'outboxes', app)
  call('RPUSH', key('outbox', app), cmsgpack.pack({seq, ...}))
end

-- drop takes the messages up to seq, which their app has, out of the outbox.
local function drop(app, seq)
  while true do
    local e = call('LINDEX', key('outbox', app), 0)
    if not e then return call('SREM', P .. 'outboxes', app) end
    if cmsgpack.unpack(e)[1] > tonumber(seq) then return 0 end
    call('LPOP', key('outbox', app))
  end
end

-- find gives the life of a session that its id names now, and forgets one that
-- has expired.
local function find(scope, id)
  local ref = call('ZSCORE', key('live', scope), id)
  if ref and call('EXISTS', key('session', ref)) == 0 then
    call('ZREM', key('live', scope), id)
    local app, user = string.match(scope, '^(.-)/(.*)$')
    send(app, '-', user, id)
    return false
  end
  return ref
end

-- What there is of a session, and what its operations still tell of it later.
local lives = {'session', 'state', 'events', 'times', 'ids', 'plan'}
local traces = {'changes', 'covers', 'waiting'}

local function purge(ref)
  for _, name in ipairs(lives) do call('UNLINK', key(name, ref)) end
  for _, name in ipairs(traces) do call('PEXPIRE', key(name, ref), OPERATION_TTL) end
  call('ZREM', P .. 'gone', ref)
end

-- ended notes when an operation has, by which it is forgotten.
local function ended(scope, op, at)
  call('HSET', key('operation', op), 'ended', at)
  call('PEXPIRE', key('operation', op), OPERATION_TTL)
  call('ZADD', key('ended', scope), at, op)
end

-- rest has a session expire ttl milliseconds from now, if nothing waits for it,
-- or else stay. A ttl of 0 is for ever.
local function rest(ref, ttl)
  if ttl == '0' and call('PTTL', key('session', ref)) < 0 then return end
  local m = meta(ref, 'requested', 'done')
  local stays = ttl == '0' or tonumber(m[1]) > tonumber(m[2])
  local function each(names, ms)
    for _, name in ipairs(names) do
      if stays then
        call('PERSIST', key(name, ref))
      else
        call('PEXPIRE', key(name, ref), ms)
      end
    end
  end
  each(lives, ttl)
  each(traces, math.max(tonumber(ttl), OPERATION_TTL))
end

-- requeue brings a scope's place in the work list up to date with its
-- sessions. All that changes what waits, or when it is due, ends with it.
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

-- Refs are padded, so that of those asked for at one time the older is first.
local function member(ref) return string.format('%016.0f', ref) end

local function enqueue(scope, ref, asked, due)
  call('ZADD', key('asked', scope), asked, member(ref))
  call('ZADD', key('tries', scope), due, member(ref))
end

local function dequeue(scope, ref)
  call('ZREM', key('asked', scope), member(ref))
  call('ZREM', key('tries', scope), member(ref))
end

-- operation reads one as a flat list; false if there is none that can be read.
local function operation(id, scope, over)
  local o = call('HMGET', key('operation', id), 'scope', 'ref', 'session', 'first', 'last', 'created', 'ended', 'attempts', 'request')
  if o[1] ~= scope or (o[7] ~= '0' and tonumber(o[7]) < tonumber(over)) then return false end
  local m = meta(o[2], 'done', 'failed', 'error')
  return {id, o[3], o[4], o[5], o[6], o[7], o[8], m[1] or o[5], m[2] or '0', m[3] or '', o[2], o[9] or ''}
end

-- mine checks that a piece of work is still the caller's: ref's done mark and
-- attempts are what they were when it was claimed.
local function mine(ref, done, attempts)
  local m = meta(ref, 'done', 'attempts')
  return m[1] == done and m[2] == attempts
end

