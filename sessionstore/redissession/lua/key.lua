-- Reads a key. KEYS[1] is the prefix of the keys of callers, the argument the id.
return redis.call('HGETALL', KEYS[1] .. 'key:' .. ARGV[1])
