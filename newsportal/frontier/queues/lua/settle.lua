-- What becomes of tasks that were set aside. ARGV[2]: 'again' or 'drop', ARGV[3…]: ids, or none: the first thousand.
-- Answers how many there were.

despite_memory()
tick()
local ids = {}
for n = 3, #ARGV do ids[#ids + 1] = ARGV[n] end
if #ids == 0 then ids = call('ZRANGE', Q .. ':aside', 0, 999) end
local count = 0
for _, id in ipairs(ids) do
  if call('ZREM', Q .. ':aside', id) == 1 then
    count = count + 1
    call('HDEL', Q .. ':reasons', id)
    local t = task(id)
    if t and ARGV[2] == 'again' then
      t[TRIES] = 0
      keep(id, t)
      if t[SOURCE] then call('HINCRBY', Q .. ':sources', t[SOURCE], 1) end
      enter(id, t)
    else
      call('HDEL', Q .. ':tasks', id)
    end
  end
end
return count
