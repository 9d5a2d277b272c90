-- Reads an operation and the changes of its events.
local scope, id, expired = ARGV[1], ARGV[2], ARGV[3]
local op = operation(id, scope, expired)
if not op then return {} end
local docs = call('ZRANGEBYSCORE', key('changes', op[11]), '(' .. op[3], op[4])
for i, doc in ipairs(docs) do docs[i] = string.sub(doc, 17) end
return {op, docs}
