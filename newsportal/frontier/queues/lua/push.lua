-- ARGV[2…]: ten of each task: id, host, priority, body, lane, source, the bucket and the print of its seen name, that name, at ('' is none, 'now': waits for it no more).
-- Answers the ids that were taken in.

sign_of_life()
mine()

local FIELDS = 10
local count = (#ARGV - 1) / FIELDS
local seq = call('HINCRBY', Q .. ':about', 'seq', count) - count
local taken = {}
local sources, hosts, plainly = {}, {}, {}  -- counted here, told once a script

local function generation()  -- of the names seen: who deletes their key forgets them all
  local found = call('HGET', SEEN, 'generation')
  if not found then
    found = call('HINCRBY', Q .. ':about', 'generation', 1)
    call('HSET', SEEN, 'generation', found)
  end
  return found
end

-- Prints of six bytes, each with four bytes of its moment, oldest first. True if the name was entered less than `forget` seconds ago.
local RECORD = 10
local function was_seen(bucket, print)
  local key = SEEN .. ':' .. generation() .. ':' .. bucket
  local records = call('GET', key) or ''
  local from = 1
  while from < #records and struct.unpack('>I4', records, from + 6) <= NOW - ctx.forget do from = from + RECORD end
  local at = from
  while true do
    at = string.find(records, print, at, true)
    if not at then break end
    if (at - 1) % RECORD == 0 then return true end
    at = at + 1
  end
  call('SET', key, string.sub(records, from) .. print .. struct.pack('>I4', math.ceil(NOW)), 'EX', math.ceil(ctx.forget) + 60)
  return false
end

local function some(text) return text ~= '' and text or false end

for n = 0, count - 1 do
  local a = 2 + n * FIELDS
  local id, host, bucket = ARGV[a], ARGV[a + 1], ARGV[a + 6]
  if ARGV[a + 9] == 'now' and call('ZREM', Q .. ':later', id) == 1 then  -- its moment has come earlier
    local t = task(id)
    if t then
      t[AT] = false
      keep(id, t)
      if t[SOURCE] then sources[t[SOURCE]] = (sources[t[SOURCE]] or 0) + 1 end
      enter(id, t)
    end
  elseif call('HEXISTS', Q .. ':tasks', id) == 0 and not (bucket ~= '' and was_seen(bucket, ARGV[a + 7])) then
    local at = tonumber(ARGV[a + 9])
    local t = { host, tonumber(ARGV[a + 2]), seq + n, 0, ARGV[a + 3], some(ARGV[a + 4]), some(ARGV[a + 5]), some(ARGV[a + 8]), at or false }
    keep(id, t)
    if at and at > WALL then
      call('ZADD', Q .. ':later', at, id)
    else
      if t[SOURCE] then sources[t[SOURCE]] = (sources[t[SOURCE]] or 0) + 1 end
      if t[LANE] then
        enter(id, t)
      else
        plainly[#plainly + 1] = 0
        plainly[#plainly + 1] = member(line(host), id, t)
        hosts[host] = (hosts[host] or 0) + 1
      end
    end
    taken[#taken + 1] = id
  end
end
for source, number in pairs(sources) do call('HINCRBY', Q .. ':sources', source, number) end
if #plainly > 0 then call('ZADD', Q, unpack(plainly)) end
for host, number in pairs(hosts) do
  call('ZINCRBY', Q .. ':hosts', number, host)
  awake(host)
end
return taken
