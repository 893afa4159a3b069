-- I end well: nothing is counted against the tasks that I give back. Hosts that I did not free rest as long as my delay is.

despite_memory()
tick()
for _, id in ipairs(call('SMEMBERS', record(ME) .. ':leased')) do
  local t = unlease(ME, id)
  if t then
    enter(id, t)
    if t[LANE] then advance(t[LANE]) end
  end
end
local delay = tonumber(call('HGET', record(ME), 'delay') or 0)
for _, host in ipairs(call('HKEYS', record(ME) .. ':hosts')) do let_go(ME, host, NOW + delay) end
jobs_gone(ME, ctx.owner)
forget(ME)
return 0
