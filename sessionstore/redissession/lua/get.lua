-- Reads a session: its state, and a page of its events in order of their
-- timestamps. ref is '' for the first page. A page behind it begins after the event
-- seq, and shows no event beyond last. room bounds the state and the events, of
-- which the app's state, read before, has appBytes; 0 is no bound.
local scope, id, count, after = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local life, last, seq, limit = ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local room, appBytes, noState = tonumber(ARGV[9]), tonumber(ARGV[10]), ARGV[11] == '1'
local ref = find(scope, id)
if not ref then return {'MISSING'} end
-- An event that is missing was evicted, or deleted by hand.
if call('ZCARD', key('times', ref)) ~= tonumber(meta(ref, 'seq')[1]) then return {'DAMAGED'} end
if life ~= '' and life ~= ref then return {'LIFE', ref} end
local state = noState and 0 or own_bytes(ref) + user_bytes(scope) + appBytes
local m = meta(ref, 'updated', 'seq')

local at = 0 -- the place of the page's first event in times
if life ~= '' then
  at = call('ZRANK', key('times', ref), member(seq)) + 1
else
  last = count == 0 and 0 or tonumber(m[2])
  if count > 0 then at = math.max(0, call('ZCARD', key('times', ref)) - count) end
  at = math.max(at, call('ZCOUNT', key('times', ref), '-inf', '(' .. after))
end
local docs, used, most, more = {}, 0, PAGE_BYTES, ''
if room > 0 then most = math.min(most, room - state) end
local places = last > 0 and call('ZRANGE', key('times', ref), at, at + 99) or {}
while #places > 0 and more == '' do
  for _, place in ipairs(places) do
    local n = tonumber(place)
    if n <= last then
      if #docs == limit then
        more = '1'
        break
      end
      local found = call('XRANGE', key('events', ref), num(n) .. '-0', num(n) .. '-0')
      if #found == 0 then return {'DAMAGED'} end
      local doc = found[1][2][2]
      if #docs == 0 and room > 0 and state + #doc > room then return {'ROOM', num(state + #doc)} end
      if #docs > 0 and used + #doc > most then
        more = '1'
        break
      end
      docs[#docs + 1] = doc
      used = used + #doc
      seq = n
    end
  end
  at = at + #places
  places = call('ZRANGE', key('times', ref), at, at + 99)
end
if room > 0 and state + used > room and #docs == 0 then return {'ROOM', num(state)} end
local own, user = {}, {}
if not noState then own, user = call('HGETALL', key('state', ref)), call('HGETALL', key('user', scope)) end
return {'OK', ref, m[1], own, user, docs, more, num(last), num(seq)}
