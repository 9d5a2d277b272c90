-- Reads names, user/id, of an app: those of sessions in the order of their last updates, or
-- those of operations in the order of their making, with that time. It reads up to a number
-- of them behind a place, newest first or oldest first, of one user or of all. It answers
-- with the place up to which it has looked, '' if that is the end: of a user it looks at
-- LOOKED names at most, as those of others are among them.
local app, user, ascending, count = ARGV[1], ARGV[2], ARGV[3] == '1', tonumber(ARGV[4])
local at, name = ARGV[5], ARGV[6] -- the place; at is '' for the start
local kind = ARGV[7] -- 'recent' or 'ran'
local LOOKED = 5000
local set, out, looked = key(kind, app), {}, 0
local how, from, to = 'ZREVRANGEBYSCORE', at ~= '' and at or '+inf', '-inf'
if ascending then how, from, to = 'ZRANGEBYSCORE', at ~= '' and at or '-inf', '+inf' end

-- Names of the score at come again, up to the place itself.
local skip = 0
if at ~= '' then
  local rank = call(ascending and 'ZRANK' or 'ZREVRANK', set, name)
  if rank and tonumber(call('ZSCORE', set, name)) == tonumber(at) then
    local before = ascending and call('ZCOUNT', set, '-inf', '(' .. at) or call('ZCOUNT', set, '(' .. at, '+inf')
    skip = rank - before + 1
  end
end
while #out < 2 * count and looked < LOOKED do
  local some = call(how, set, from, to, 'WITHSCORES', 'LIMIT', skip, 100)
  if #some == 0 then return {out, '', ''} end
  for i = 1, #some, 2 do
    local n, score = some[i], some[i + 1]
    local behind = at == '' or score ~= at or (ascending and n > name) or (not ascending and n < name)
    if behind then
      if user == '' or string.sub(n, 1, #user + 1) == user .. '/' then
        out[#out + 1] = n
        out[#out + 1] = score
      end
      if #out == 2 * count then return {out, score, n} end
    end
    looked = looked + 1
    if looked == LOOKED then return {out, score, n} end
  end
  skip = skip + #some / 2
end
return {out, '', ''}
