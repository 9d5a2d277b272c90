-- Reads a session: its state, and the numbers of the last events in order of
-- their timestamps.
local scope, id, count, after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local ref = find(scope, id)
if not ref then return {'MISSING'} end
-- An event that is missing was evicted, or deleted by hand.
if call('ZCARD', key('times', ref)) ~= tonumber(meta(ref, 'seq')[1]) then return {'DAMAGED'} end
local seqs = {}
if count ~= '0' then
  local from = call('ZREVRANGEBYSCORE', key('times', ref), '+inf', after, 'LIMIT', 0, count)
  for i = #from, 1, -1 do seqs[#seqs + 1] = tonumber(from[i]) end
end
local updated = meta(ref, 'updated')[1]
return {'OK', ref, updated, call('HGETALL', key('state', ref)), call('HGETALL', key('user', scope)), seqs}
