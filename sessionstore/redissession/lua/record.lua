-- Reads a session for an export, without its events.
local scope, id = ARGV[1], ARGV[2]
local ref = find(scope, id, ARGV[3])
if not ref then return {} end
local m = meta(ref, 'updated', 'seq', 'requested', 'done', 'failed', 'error', 'planned', 'name', 'labels',
  'created', 'expires', 'chosen', 'rule', 'own', 'wait_to', 'wait_since', 'wait_last', 'wait_due')
m[10] = created(ref, m[10], m[1])
if m[12] ~= '1' then m[11] = '0' end
return {ref, m, call('GET', key('plan', ref)) or '', call('HGETALL', key('state', ref))}
