-- Reads a session for an export, without its events.
local scope, id = ARGV[1], ARGV[2]
local ref = find(scope, id)
if not ref then return {} end
local m = meta(ref, 'updated', 'seq', 'requested', 'done', 'failed', 'error', 'planned')
return {ref, m, call('GET', key('plan', ref)) or '', call('HGETALL', key('state', ref))}
