-- Answers of each worker of all queues: how it is called within, its name, its machine.

local found = {}
for _, worker in ipairs(call('ZRANGE', P .. 'workers', 0, -1)) do
  local about = call('HMGET', record(worker), 'name', 'machine')
  for _, value in ipairs({ worker, about[1] or '', about[2] or '' }) do found[#found + 1] = value end
end
return found
