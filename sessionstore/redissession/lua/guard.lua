-- What every script does before and after its own work: it compares the mark of
-- these keys with what the caller has seen of it, and counts a write. KEYS[1] is
-- the prefix of the keys. The last argument is what the caller has seen: when the
-- mark was made, its count, the caller's name, and the count after the caller's
-- last write.
--
-- The mark is a hash: made, when its first write was stored; n, the number of
-- writes; of each process by name, n after its last write, and when that was; and
-- lost, once writes that were acknowledged are gone: when that was noticed, the
-- last number given before, and made and n as they were. Once that is accepted,
-- accepted has that made.
local MARK = KEYS[1] .. 'mark'
-- A key that is there if anything was ever written: of a partition, of an app.
local FIRST = KEYS[1] .. (string.find(KEYS[1], '^memoryd:{%d+}:$') and 'n' or 'state')
local WRITER_TTL = 3600 * 1e6 -- microseconds; longer than a process remembers its own writes
local MANY_WRITERS = 8        -- from then on, those of the past are removed

local function now_micros()
  local t = redis.call('TIME')
  return t[1] .. string.format('%06d', t[2])
end

local guard = {wrote = 0}

-- adopt marks data that has no mark: builds before marks have written it. Its loss is
-- noticed like that of any other.
function guard.adopt()
  if redis.call('EXISTS', FIRST) == 0 then return end
  guard.made, guard.n = now_micros(), '1'
  redis.call('HSET', MARK, 'made', guard.made, 'n', guard.n)
end

-- open compares. If writes are gone it records that, and has all numbers that are
-- given from now on be higher than those given before: what is lost may have had
-- them.
function guard.open()
  local made, n, owner, own = string.match(table.remove(ARGV), '^(%d*) (%d+) (%S+) (%d+)$')
  local is = redis.call('HMGET', MARK, 'made', 'n', owner, 'lost', 'accepted')
  guard.made, guard.n, guard.owner, guard.lost = is[1], is[2] or '0', owner, is[4] or ''
  if n == '0' then -- the caller has seen no write
    if not guard.made then guard.adopt() end
    return
  end
  local known = string.match(guard.lost, '^%d+ %d+ (%d*)')
  -- Another process has recorded it, or it is accepted already.
  if made ~= guard.made and (made == known or made == is[5]) then return end
  local mine = tonumber(string.match(is[3] or '0', '^%d+'))
  if made == guard.made and tonumber(guard.n) >= tonumber(n) and mine >= tonumber(own) then return end
  local at = now_micros()
  local last = redis.call('GET', KEYS[1] .. 'n') or '0'
  guard.lost = at .. ' ' .. last .. ' ' .. made .. ' ' .. n
  guard.made, guard.n = at, '0'
  redis.call('HSET', MARK, 'made', at, 'n', 0, 'lost', guard.lost)
  if tonumber(last) < tonumber(at) then redis.call('SET', KEYS[1] .. 'n', at) end
end

-- count counts a write of the caller.
function guard.count()
  local at = now_micros()
  if not guard.made then
    guard.made = at
    redis.call('HSET', MARK, 'made', at)
  end
  guard.n, guard.wrote = string.format('%.0f', redis.call('HINCRBY', MARK, 'n', 1)), 1
  redis.call('HSET', MARK, guard.owner, guard.n .. ' ' .. at)
  if redis.call('HLEN', MARK) <= MANY_WRITERS + 4 then return end
  local all = redis.call('HGETALL', MARK)
  for i = 1, #all, 2 do
    local when = string.match(all[i + 1], '^%d+ (%d+)$')
    if all[i] ~= 'lost' and when and tonumber(at) - tonumber(when) > WRITER_TTL then
      redis.call('HDEL', MARK, all[i])
    end
  end
end

guard.open()
