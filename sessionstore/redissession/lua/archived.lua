-- Reads what there is of a session beside its events.
local scope, id = ARGV[1], ARGV[2]
local ref = find(scope, id)
if not ref then return {} end
return {ref, meta(ref, 'updated', 'seq', 'requested', 'done', 'failed', 'error', 'planned'), call('GET', key('plan', ref)) or '', call('HGETALL', key('state', ref))}
