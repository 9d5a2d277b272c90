-- Reads keys, newest first. KEYS[1] is the prefix of the keys of callers; the arguments
-- are the name of the list, behind which of its entries to begin ('' for its start), and
-- how many there are at most.
local K, from, out = KEYS[1], ARGV[2], {}
local begin = from == '' and '+' or '(' .. from
for _, entry in ipairs(redis.call('ZREVRANGEBYLEX', K .. ARGV[1], begin, '-', 'LIMIT', 0, ARGV[3])) do
  out[#out + 1] = redis.call('HGETALL', K .. 'key:' .. string.match(entry, '^%d+ (.*)$'))
end
return out
