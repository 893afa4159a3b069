-- ARGV[2…5]: how many, delay, ahead, the number of this turn (an answer that was lost is given again).
-- Answers a JSON of how things stand, then of each lease: id, host, priority, body, lane, source, seen, at, tries.

despite_memory()
sign_of_life()
local number, delay, ahead, turn = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
call('HSET', record(ME), 'delay', delay)
bury_dead()
promote()

local leases, given = {}, {}
local in_hand = call('SCARD', record(ME) .. ':leased')
local POLL = 0.5 -- seconds until it is worth asking again where that depends on others
local overdue = 2 -- seconds after which a host that nobody took may be had beyond one's share

local function hand_out(id, t)
  given[#given + 1] = id
  for _, value in ipairs({ id, t[HOST], tostring(t[PRIORITY]), t[BODY], t[LANE], t[SOURCE], t[NAME], t[AT] and string.format('%.17g', t[AT]), tostring(t[TRIES]) }) do
    leases[#leases + 1] = value
  end
end

-- Tasks of one place and host come into my hands. Answers how many there were.
local function lease(found)
  if #found == 0 then return 0 end
  local ids = {}
  for n, one in ipairs(found) do ids[n] = id_of(one) end
  local packed = call('HMGET', Q .. ':tasks', unpack(ids))
  call('ZREM', Q, unpack(found))
  call('SADD', record(ME) .. ':leased', unpack(ids))
  local host
  for n, id in ipairs(ids) do
    local t = cmsgpack.unpack(packed[n])
    host = t[HOST]
    if t[LANE] then call('HSET', Q .. ':lanes', t[LANE], '!' .. id) end
    hand_out(id, t)
  end
  less_waiting(host, #ids)
  call('HINCRBY', record(ME) .. ':hosts', host, #ids)
  return #ids
end

local held = {}  -- host → tasks in hand
local held_count = 0
local flat = call('HGETALL', record(ME) .. ':hosts')
for n = 1, #flat, 2 do
  held[flat[n]] = tonumber(flat[n + 1])
  held_count = held_count + 1
end

local function got(host)
  grab(host)
  held[host] = 0
  held_count = held_count + 1
end

-- May I take this host now? It is mine, or nobody's, and free soon enough, and nobody waits for it.
local function may_have(host)
  if held[host] then return true end
  if holder(host) or free_at(host) > NOW + ahead then return false end
  local worker = wished(host)
  return not worker or worker == ME
end

local yielded, yields = {}, {}
if call('HLEN', P .. 'wanted') > 0 then
  for host in pairs(held) do
    local worker = wished(host)
    if worker and worker ~= ME then
      yielded[#yielded + 1] = host
      yields[host] = true
    end
  end
end

-- Suspects: alone, and before anything else
local alone = call('HGET', record(ME), 'suspect') ~= false
local function draining()
  local since = tonumber(call('HGET', Q .. ':about', 'suspect') or NOW)
  local tester = call('HGET', Q .. ':about', 'tester')
  if NOW - since < PATIENCE then return false end
  if tester and tester ~= ME and lives(tester) then return false end
  call('HSET', Q .. ':about', 'tester', ME)
  return true
end

local function try_suspects()
  local suspects = first(Q, SUSPECTS, 10)
  if #suspects == 0 then
    call('HDEL', Q .. ':about', 'suspect', 'tester')
    return false
  end
  if in_hand > 0 then return draining() end
  for _, found in ipairs(suspects) do
    local id = id_of(found)
    local t = task(id)
    local head = t[LANE] and call('HGET', Q .. ':lanes', t[LANE])
    local busy = head and string.sub(head, 1, 1) == '!'
    if not busy and may_have(t[HOST]) and not yields[t[HOST]] then
      if head then  -- the one that waits steps back
        local other = string.sub(head, 2)
        local waiting = task(other)
        if waiting then
          call('ZREM', Q, member(line(waiting[HOST]), other, waiting))
          call('ZADD', Q, 0, member(siding(t[LANE]), other, waiting))
        end
      end
      if not held[t[HOST]] then got(t[HOST]) end
      call('HSET', record(ME), 'suspect', id)
      call('HDEL', Q .. ':about', 'suspect', 'tester')
      lease({ found })
      return true
    end
    if not busy and not held[t[HOST]] then wish(t[HOST]) end
  end
  return false
end

-- Shares
local others = {}
local all_held, share = held_count + call('ZCARD', Q .. ':ready') + call('ZCARD', Q .. ':resting'), 1 / 0
local function count_others()
  for _, worker in ipairs(call('SMEMBERS', Q .. ':workers')) do
    if worker ~= ME then
      if lives(worker) then
        local has = call('HLEN', record(worker) .. ':hosts')
        others[#others + 1] = { worker, has }
        all_held = all_held + has
      elseif not call('ZSCORE', P .. 'workers', worker) then
        call('SREM', Q .. ':workers', worker)
      end
    end
  end
  if #others > 0 then share = math.ceil(all_held / (#others + 1)) end
end

local most = delay > 0 and math.max(1, math.floor(ahead / delay + 1e-9)) or 1 / 0
local function room() return number - #given end

local function serve(host, limit)
  local quota = math.min(limit, most - held[host], room())
  if quota < 1 then return 0 end
  local number_ = lease(first(Q, line(host), quota))
  held[host] = held[host] + number_
  return number_
end

local function new_hosts()
  local found, seen = {}, {}
  for _, host in ipairs(call('SMEMBERS', record(ME) .. ':kept')) do
    call('SREM', record(ME) .. ':kept', host)
    if may_have(host) and not held[host] and waits_at(Q, host) then
      found[#found + 1] = host
      seen[host] = true
    end
  end
  for _, host in ipairs(call('ZRANGEBYSCORE', Q .. ':resting', '-inf', NOW + ahead, 'LIMIT', 0, 1000)) do
    call('ZREM', Q .. ':resting', host)
    local waiting = first(Q, line(host), 1)[1]
    if waiting then call('ZADD', Q .. ':ready', urgency(Q, waiting), host) end
  end
  local ready = call('ZRANGE', Q .. ':ready', 0, room() - 1, 'WITHSCORES')
  for n = 1, #ready, 2 do
    local host = ready[n]
    local within = held_count + #found < share or ready_since(tonumber(ready[n + 1])) < NOW - overdue
    if within and not seen[host] then
      if not waits_at(Q, host) then
        call('ZREM', Q .. ':ready', host)
      elseif may_have(host) then
        found[#found + 1] = host
      else
        call('ZREM', Q .. ':ready', host)
        awake(host)
      end
    end
  end
  return found
end

-- Hosts of mine with nothing in hand first, then new ones, then more of those that are busy.
local function fill()
  local order = {}
  for host, hand in pairs(held) do
    if not yields[host] and hand < most then order[#order + 1] = host end
  end
  table.sort(order, function(a, b) return held[a] < held[b] or (held[a] == held[b] and a < b) end)
  local idle_, busy = {}, {}
  for _, host in ipairs(order) do
    if held[host] == 0 then idle_[#idle_ + 1] = host else busy[#busy + 1] = host end
  end
  local new = new_hosts()
  local base = math.max(1, math.floor(number / math.max(1, #order + #new)))
  local more = {}  -- who has more than that
  local function some(host)
    if serve(host, base) == base then more[#more + 1] = host end
  end
  for _, host in ipairs(idle_) do some(host) end
  for _, host in ipairs(new) do
    if room() < 1 then break end
    got(host)
    some(host)
  end
  for _, host in ipairs(busy) do some(host) end
  for _, host in ipairs(more) do serve(host, room()) end
end

-- Too little for me: who has more than his share is asked for some; and hosts that another queue holds are asked for in turn.
local function ask_for_more()
  local missing = math.min(share, all_held) - held_count
  for _, other in ipairs(others) do
    local excess = other[2] - share
    if missing > 0 and excess > 0 then
      for _, host in ipairs(call('HKEYS', record(other[1]) .. ':hosts')) do
        if missing < 1 or excess < 1 then break end
        if waits_at(Q, host) then
          wish(host)
          missing, excess = missing - 1, excess - 1
        end
      end
    end
  end
end

local function ask_for_blocked()
  for _, host in ipairs(call('SRANDMEMBER', Q .. ':blocked', 4)) do
    local worker = holder(host)
    if not waits_at(Q, host) then
      call('SREM', Q .. ':blocked', host)
    elseif worker then
      wish(host)
    else
      call('SREM', Q .. ':blocked', host)
      awake(host)
    end
  end
end

local again = call('HMGET', record(ME), 'turn', 'given')
if again[1] == turn then
  for id in string.gmatch(again[2] or '', '[^\n]+') do
    if call('SISMEMBER', record(ME) .. ':leased', id) == 1 then hand_out(id, task(id)) end
  end
elseif number > 0 and not alone and not try_suspects() then
  count_others()
  fill()
  if room() > 0 then ask_for_more() end
end
ask_for_blocked()
call('HSET', record(ME), 'turn', turn, 'given', table.concat(given, '\n'))

local resting = {}
for host in pairs(held) do resting[host] = math.max(0, free_at(host) - NOW) end

local function soon(waiting, after)
  if waiting + after == 0 then return nil end
  local best = delay > 0 and math.min(delay, POLL) or POLL
  local resting_ = call('ZRANGE', Q .. ':resting', 0, 0, 'WITHSCORES')
  if number > 0 and #given >= number then best = 0 end
  if resting_[2] then best = math.min(best, math.max(0, tonumber(resting_[2]) - NOW)) end
  if waiting == 0 then best = 1 / 0 end
  local due = call('ZRANGE', Q .. ':later', 0, 0, 'WITHSCORES')
  if due[2] then best = math.min(best, math.max(0, tonumber(due[2]) - WALL)) end
  return best
end

local waiting, after = call('ZCARD', Q), call('ZCARD', Q .. ':later')
table.insert(leases, 1, cjson.encode({ waiting = waiting, later = after, soon = soon(waiting, after), held = resting, yielded = yielded }))
return leases
