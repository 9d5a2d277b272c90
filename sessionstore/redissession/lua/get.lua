-- Reads a session: its state, and a page of its events in order of their
-- timestamps. ref is '' for the first page. A page behind it begins after the event
-- seq, and shows no event beyond last. room bounds the state and the events, of
-- which the app's state has appBytes; 0 is no bound. The last field of the answer is
-- the size of both without the app's state.
-- ARGV[12] is the caller's time.
local scope, id, count, after = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local life, last, seq, limit = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local room, appBytes, noState = tonumber(ARGV[9]), tonumber(ARGV[10]), ARGV[11] == '1'
local ref = find(scope, id, ARGV[12])
if not ref then return {'MISSING'} end
local m = meta(ref, 'updated', 'seq', 'bytes', 'name', 'labels', 'created', 'expires')
local times, stream = key('times', ref), key('events', ref)
local stored = call('ZCARD', times)
-- An event that is missing was evicted, or deleted by hand.
if stored ~= tonumber(m[2]) then return {'DAMAGED'} end
if life ~= '' and life ~= ref then return {'LIFE', ref} end
local own = noState and 0 or (tonumber(m[3]) or own_bytes(ref)) + user_bytes(scope)
local state = own + appBytes

local at = 0 -- the place of the page's first event in times
if life ~= '' then
  at = call('ZRANK', times, member(seq)) + 1
else
  last = count == 0 and 0 or stored
  if count > 0 then at = math.max(0, stored - count) end
  if count ~= 0 then at = math.max(at, call('ZCOUNT', times, '-inf', '(' .. after)) end
end
local docs, used, most, more = {}, 0, PAGE_BYTES, ''
if room > 0 then most = math.min(most, room - state) end

-- Events are read in runs of consecutive numbers. Each time it is up to twice as many,
-- so that not much is read for which the page has no room.
local many = 1
while last > 0 and more == '' do
  local places = call('ZRANGE', times, at, at + many - 1)
  if #places == 0 then break end
  local numbers = {}
  for _, place in ipairs(places) do
    local n = tonumber(place)
    if n <= last then numbers[#numbers + 1] = n end
  end
  local i = 1
  while i <= #numbers and more == '' do
    if #docs == limit then
      more = '1'
      break
    end
    local j = i
    while numbers[j + 1] == numbers[j] + 1 and j - i + 1 < limit - #docs do j = j + 1 end
    local found = call('XRANGE', stream, num(numbers[i]) .. '-0', num(numbers[j]) .. '-0')
    local whole = #found == j - i + 1
    for k = i, j do
      local e = found[k - i + 1]
      if not whole and (not e or e[1] ~= num(numbers[k]) .. '-0') then return {'DAMAGED'} end
      local doc = e[2][2]
      if #docs == 0 and room > 0 and state + #doc > room then return {'ROOM', num(state + #doc)} end
      if #docs > 0 and used + #doc > most then
        more = '1'
        break
      end
      docs[#docs + 1] = doc
      used = used + #doc
      seq = numbers[k]
    end
    i = j + 1
  end
  at = at + #places
  many = math.min(2 * many, 128)
end
if room > 0 and state + used > room and #docs == 0 then return {'ROOM', num(state)} end
local mine, users = {}, {}
if not noState then mine, users = call('HGETALL', key('state', ref)), call('HGETALL', key('user', scope)) end
return {'OK', ref, m[1], mine, users, docs, more, num(last), num(seq), num(own + used),
  m[4] or '', m[5] or '', created(ref, m[6], m[1]), m[7] or '0'}
