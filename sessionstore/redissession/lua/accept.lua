-- Accepts a loss, and returns whether there was one. A process that still remembers
-- the lost writes does not record them as lost again.
if guard.lost == '' then return 0 end
local made = string.match(guard.lost, '^%d+ %d+ (%d+)')
redis.call('HDEL', MARK, 'lost')
if made then redis.call('HSET', MARK, 'accepted', made) end
guard.lost = ''
return 1
