-- Forgets a thousand of the tasks that wait, now or for later, and all names seen. Answers how many it were.

despite_memory()
tick()
call('DEL', SEEN)  -- what lies under its generation runs out by itself
local count = 0
local function drop(id)
  local t = task(id)
  call('HDEL', Q .. ':tasks', id)
  count = count + 1
  return t
end
for _, id in ipairs(call('ZRANGE', Q .. ':later', 0, 499)) do
  call('ZREM', Q .. ':later', id)
  drop(id)
end
for _, found in ipairs(call('ZRANGE', Q, 0, 499)) do
  call('ZREM', Q, found)
  local id = id_of(found)
  local t = id and drop(id)
  if t then
    less_waiting(t[HOST])
    if t[SOURCE] then fewer(Q .. ':sources', t[SOURCE]) end
    if t[LANE] then unlane(t[LANE], id) end
  end
end
return count
