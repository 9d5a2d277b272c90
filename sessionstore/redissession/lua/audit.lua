-- Reads all that an audit compares of a session, but for its events.
local ref = ARGV[1]
local m = meta(ref, 'scope', 'id', 'seq', 'requested', 'done', 'failed', 'deleted', 'asked', 'due', 'planned',
  'rule', 'own', 'wait_to', 'wait_since', 'wait_last', 'wait_due')
if not m[1] then return {} end
local scope = m[1]
local ops = {}
for _, op in ipairs(call('ZRANGE', key('waiting', ref), 0, 999)) do
  local o = call('HMGET', key('operation', op), 'ref', 'first', 'last', 'ended')
  ops[#ops + 1] = {op, o[1] or '', o[2] or '', o[3] or '', o[4] or ''}
end
local counts = {call('XLEN', key('events', ref)), call('ZCARD', key('times', ref)), call('HLEN', key('ids', ref))}
local work = {call('ZSCORE', key('asked', scope), member(ref)) or '', call('ZSCORE', key('tries', scope), member(ref)) or '',
  call('ZSCORE', P .. 'since', scope) or '', call('ZSCORE', P .. 'due', scope) or ''}
return {m, counts, work, call('ZSCORE', key('live', scope), m[2]) or '', call('EXISTS', key('plan', ref)), ops,
  call('SISMEMBER', P .. 'outboxes', string.match(scope, '^(.-)/')),
  call('ZSCORE', P .. 'triggers', member(ref)) or ''}
