-- Erases up to a number of lives and operations of a user, or those of one session id,
-- and once none is left of a user what else there is of it. Answers how many sessions
-- and events went, the number and the session id of each life, whether more is left, and
-- what the app has to know. A dry run reads the lists from a place on, counts, and changes
-- nothing; the place is -1 if it is none.
local scope, app, user, only, most, now = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[6]
local dry, from = tonumber(ARGV[7]) >= 0, math.max(tonumber(ARGV[7]), 0)
local sessions, events, lives, seen = 0, 0, {}, {}

-- elsewhere tells whether a dry run of a user counts a life where it is in another list,
-- maybe on another page. Each counts with the first of these: the live sessions, those
-- that wait, and, as given up after a deletion, the first operation that waits for it.
local function elsewhere(ref, op)
  if not dry or only ~= '' then return false end
  local id = meta(ref, 'id')[1]
  if not id or call('ZSCORE', key('live', scope), id) == ref then return true end
  return op and (call('ZSCORE', key('asked', scope), member(ref)) or call('ZRANGE', key('waiting', ref), 0, 0)[1] ~= op)
end

local function erase(ref)
  if seen[ref] then return end
  seen[ref] = true
  local m = meta(ref, 'id', 'deleted', 'expires')
  if m[1] then
    if m[2] ~= '1' and not overdue(m[3], now) then sessions = sessions + 1 end
    events = events + call('XLEN', key('events', ref))
  end
  if dry then return end
  if m[1] then
    lives[#lives + 1] = ref
    lives[#lives + 1] = m[1]
    if call('ZSCORE', key('live', scope), m[1]) == ref then
      unlist(scope, m[1], ref)
    end
  end
  for _, name in ipairs(session_keys) do call('UNLINK', key(name, ref)) end
  for _, name in ipairs(operation_keys) do call('UNLINK', key(name, ref)) end
  dequeue(scope, ref)
  unwait(ref)
  call('ZREM', P .. 'gone', ref)
  call('ZREM', P .. 'expiring', ref)
end

local function ref_of(member) return num(tonumber(member)) end

if only ~= '' then
  local ref = find(scope, only, now)
  if ref then erase(ref) end
  for _, m in ipairs(call('ZRANGE', key('asked', scope), 0, -1)) do
    if meta(ref_of(m), 'id')[1] == only then erase(ref_of(m)) end
  end
else
  local live = call('ZRANGE', key('live', scope), from, from + most - 1, 'WITHSCORES')
  for i = 1, #live, 2 do
    erase(live[i + 1])
    if not dry and call('ZSCORE', key('live', scope), live[i]) then -- it has expired
      unlist(scope, live[i], live[i + 1])
    end
  end
  for _, m in ipairs(call('ZRANGE', key('asked', scope), from, from + most - 1)) do
    if not elsewhere(ref_of(m)) then erase(ref_of(m)) end
  end
end
local ops = call('ZRANGE', key('operations', scope), from, only == '' and from + most - 1 or -1)
for _, op in ipairs(ops) do
  local is = call('HMGET', key('operation', op), 'ref', 'session')
  if only == '' or is[2] == only then
    if is[1] and not elsewhere(is[1], op) then erase(is[1]) end
    if not dry then
      call('UNLINK', key('operation', op))
      call('ZREM', key('operations', scope), op)
      call('ZREM', key('ran', app), user .. '/' .. op)
      call('ZREM', key('ended', scope), op)
    end
  end
end
if dry then
  local more = 0
  for _, list in ipairs({'live', 'asked', 'operations'}) do
    if only == '' and call('ZCARD', key(list, scope)) > from + most then more = 1 end
  end
  return {sessions, events, lives, more}
end
call('HDEL', P .. 'leases', scope)
requeue(scope)

local more = 0
if only == '' then
  if call('EXISTS', key('live', scope), key('asked', scope), key('operations', scope)) > 0 then
    more = 1
  else
    for _, name in ipairs({'user', 'userbytes', 'ended', 'tries'}) do call('UNLINK', key(name, scope)) end
    send(app, '~', user)
  end
end
return {sessions, events, lives, more}
