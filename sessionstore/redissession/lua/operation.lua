-- Reads an operation, and the changes of its events unless changes is ''.
local scope, id, expired, changes = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local op = operation(id, scope, expired)
if not op then return {} end
if changes == '' then return {op, {}} end
local docs = call('ZRANGEBYSCORE', key('changes', op[11]), '(' .. op[3], op[4])
for i, doc in ipairs(docs) do docs[i] = string.sub(doc, 17) end
return {op, docs}
