-- Puts sessions that earlier versions have stored into the list by last update. The
-- arguments are scope and id of each.
for i = 1, #ARGV, 2 do
  local scope, id = ARGV[i], ARGV[i + 1]
  local ref = call('ZSCORE', key('live', scope), id)
  local updated = ref and meta(ref, 'updated')[1]
  if updated then touch(scope, id, updated) end
end
return #ARGV / 2
