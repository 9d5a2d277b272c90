-- Reads operations of an app by their names, user/operation, each with its name. Those that are
-- gone leave the list of the app.
local app, expired = ARGV[1], ARGV[2]
local out = {}
for i = 3, #ARGV do
  local user, id = string.match(ARGV[i], '^(.*)/([^/]*)$')
  local op = id and operation(id, app .. '/' .. user, expired)
  if op then
    out[#out + 1] = {ARGV[i], op}
  else
    forget_ran(app, ARGV[i])
  end
end
return out
