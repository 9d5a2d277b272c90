-- Has callers show keys from now on. KEYS[1] is the prefix of the keys of callers.
redis.call('SETNX', KEYS[1] .. 'revision', '1')
return {'OK'}
