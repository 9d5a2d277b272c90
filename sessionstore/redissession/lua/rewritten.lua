-- Puts a stream in the place of another one, with what was added to that meanwhile.
-- KEYS are the two, and ARGV has the number of the last entry that the new one has.
for _, e in ipairs(redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], '+')) do
  redis.call('XADD', KEYS[2], e[1], unpack(e[2]))
end
redis.call('RENAME', KEYS[2], KEYS[1])
return redis.call('PERSIST', KEYS[1])
