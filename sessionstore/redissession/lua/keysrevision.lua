-- Reads how often keys changed. KEYS[1] is the prefix of the keys of callers.
return redis.call('GET', KEYS[1] .. 'revision') or '0'
