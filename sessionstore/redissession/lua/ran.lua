-- Puts the operations of scopes, which earlier versions have stored, into the lists of their apps.
for _, scope in ipairs(ARGV) do
  local app, user = string.match(scope, '^(.-)/(.*)$')
  for _, op in ipairs(call('ZRANGE', key('operations', scope), 0, -1)) do
    local created = call('HGET', key('operation', op), 'created')
    if created then call('ZADD', key('ran', app), created, user .. '/' .. op) end
  end
end
return 1
