-- ARGV[2]: how many at most. Answers of each task that was set aside: its lease (see take.lua), the reason, since when.

local found = {}
local ids = call('ZRANGE', Q .. ':aside', 0, tonumber(ARGV[2]) - 1, 'WITHSCORES')
for n = 1, #ids, 2 do
  local id = ids[n]
  local t = task(id)
  if t then
    for _, value in ipairs({ id, t[HOST], tostring(t[PRIORITY]), t[BODY], t[LANE], t[SOURCE], t[NAME], t[AT] and string.format('%.17g', t[AT]), tostring(t[TRIES]) }) do
      found[#found + 1] = value
    end
    found[#found + 1] = call('HGET', Q .. ':reasons', id)
    found[#found + 1] = ids[n + 1]
  end
end
return found
