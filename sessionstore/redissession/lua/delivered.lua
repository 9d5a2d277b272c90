-- Drops the entries up to seq from an outbox.
local app, seq = ARGV[1], tonumber(ARGV[2])
while true do
  local e = call('LINDEX', key('outbox', app), 0)
  if not e then
    call('SREM', P .. 'outboxes', app)
    return 1
  end
  if cmsgpack.unpack(e)[1] > seq then return 0 end
  call('LPOP', key('outbox', app))
end
