-- Reads the state of an app.
return redis.call('HGETALL', KEYS[1] .. 'state')
