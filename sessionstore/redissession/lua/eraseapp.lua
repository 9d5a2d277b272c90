-- Removes the state of an app. KEYS[1] is the prefix of the app's keys.
for _, name in ipairs({'state', 'bytes', 'reserved', 'sessions', 'users', 'filled'}) do
  redis.call('UNLINK', KEYS[1] .. name)
end
return 1
