-- Removes the state and the configuration of an app. KEYS[1] is the prefix of the app's keys.
for _, name in ipairs({'state', 'bytes', 'reserved', 'sessions', 'users', 'filled', 'config', 'ids'}) do
  redis.call('UNLINK', KEYS[1] .. name)
end
return 1
