-- Records when keys were last used. KEYS[1] is the prefix of the keys of callers; the
-- arguments are ids and times.
for i = 1, #ARGV, 2 do
  local k = KEYS[1] .. 'key:' .. ARGV[i]
  local used = redis.call('HGET', k, 'used')
  if used and tonumber(used) < tonumber(ARGV[i + 1]) then redis.call('HSET', k, 'used', ARGV[i + 1]) end
end
return {'OK'}
