-- What every script begins with. The keys are told in shared_scripts.py.
-- KEYS[1]: the waiting tasks, KEYS[2]: the names seen; ARGV[1]: who asks, as JSON.

local Q, SEEN = KEYS[1], KEYS[2]
local HOME = Q
local ctx = cjson.decode(ARGV[1])
local ME = ctx.me
local P = ctx.frontier
local call, pcall_ = redis.call, redis.pcall

local FORM = '1'
local SUSPECT = 2          -- workers died with it: handed out alone (base.py)
local WANT = 10            -- seconds for which a wish for a host counts
local RESERVE = 2          -- seconds for which a freed host is kept for who wished it
local GRACE = 10           -- seconds in which nobody is taken for dead after Redis was away
local PATIENCE = 10        -- seconds after which a worker stops taking others, so that a suspect gets its turn
local HOST, PRIORITY, SEQ, TRIES, BODY, LANE, SOURCE, NAME, AT = 1, 2, 3, 4, 5, 6, 7, 8, 9

-- The clock: Redis' own, made to go forward alone. `wall` may jump back, `now` does not.

local WALL = ctx.now
if not WALL then
  local time = call('TIME')
  WALL = tonumber(time[1]) + tonumber(time[2]) / 1e6
end
local clock = call('HMGET', P .. 'clock', 'last', 'offset', 'grace')
local offset = tonumber(clock[2]) or 0
if WALL < (tonumber(clock[1]) or 0) then offset = offset + tonumber(clock[1]) - WALL end
local NOW = WALL + offset
local grace = tonumber(clock[3]) or 0

local function tick() pcall_('HSET', P .. 'clock', 'last', WALL, 'offset', offset) end  -- at maxmemory it fails, and the next one writes it

if ctx.away then  -- Redis was, so nobody could give a sign of life
  grace = NOW + GRACE
  pcall_('HSET', P .. 'clock', 'grace', grace)
end

-- Redis refuses what may take memory at maxmemory, but for scripts that have written something before. Who gives tasks back, ends them
-- or says that he lives must not be refused: he begins with this.
local function despite_memory() call('DEL', P .. 'nothing') end

-- Whose queue it is

local function idle()
  if call('ZCARD', Q) > 0 or call('HLEN', Q .. ':tasks') > 0 then return false end
  for _, worker in ipairs(call('SMEMBERS', Q .. ':workers')) do
    local until_ = call('ZSCORE', P .. 'workers', worker)
    if until_ and tonumber(until_) > NOW then return false end
  end
  return true
end

local function refusal()
  local about = call('HMGET', Q .. ':about', 'form', 'owner', 'told')
  if not about[1] then
    if call('EXISTS', Q) == 1 then return 'NEWSPORTAL FOREIGN ' .. Q end
    local kind = call('TYPE', SEEN).ok
    if kind ~= 'none' and kind ~= 'hash' then return 'NEWSPORTAL FOREIGN ' .. SEEN end
    return nil
  end
  if about[1] ~= FORM then return 'NEWSPORTAL FORM ' .. about[1] end
  if about[2] ~= ctx.owner and not idle() then return 'NEWSPORTAL OWNER ' .. (about[3] or '') end
  return nil
end

local wrong = refusal()
if wrong then return redis.error_reply(wrong) end

local function mine()  -- the mark of who owns the queue
  call('HSET', Q .. ':about', 'form', FORM, 'owner', ctx.owner, 'told', ctx.told)
end

local function record(worker) return P .. 'worker:' .. worker end

local function lives(worker)
  local until_ = call('ZSCORE', P .. 'workers', worker)
  return until_ and tonumber(until_) > NOW
end

local function sign_of_life()
  tick()
  if call('ZADD', P .. 'workers', NOW + ctx.lease, ME) == 1 then
    mine()
    call('HSET', record(ME), 'name', ctx.name, 'machine', ctx.machine, 'queue', Q, 'owner', ctx.owner, 'since', WALL, 'tries', ctx.tries)
    call('SADD', Q .. ':workers', ME)
    call('SADD', P .. 'queues', Q)
  end
  call('HSET', record(ME), 'beat', WALL)
end

-- Tasks

local function task(id)
  local packed = call('HGET', Q .. ':tasks', id)
  return packed and cmsgpack.unpack(packed)
end

local function keep(id, t) call('HSET', Q .. ':tasks', id, cmsgpack.pack(t)) end

-- The order within a place: the higher priority first (24 bits), then who came first.
local function rank(t)
  local priority = math.max(-8388607, math.min(8388607, t[PRIORITY]))
  return string.format('%06x|%010x|', 8388608 - priority, t[SEQ])
end

local function plain(name) return (string.gsub(name, '[%%|}]', { ['%'] = '%25', ['|'] = '%7C', ['}'] = '%7D' })) end
local function line(host) return plain(host) end
local function siding(lane) return '~' .. plain(lane) end
local SUSPECTS = '!'

local function member(place, id, t) return place .. '|' .. rank(t) .. id end

local function first(queue, place, number)
  return call('ZRANGEBYLEX', queue, '[' .. place .. '|', '(' .. place .. '}', 'LIMIT', 0, number)
end

local function waits_at(queue, host) return #first(queue, line(host), 1) > 0 end

local function id_of(found) return string.match(found, '^[^|]*|%x+|%x+|(.*)$') end

-- Hosts

local function holder(host) return call('HGET', P .. 'holders', host) or nil end

-- Who waits for a host, if it is not me, and for how long he is waited for.
local function wished(host)
  local mark = call('HGET', P .. 'wanted', host)
  if not mark then return nil end
  local until_, worker = string.match(mark, '^(%S+) (.*)$')
  if tonumber(until_) <= NOW or not lives(worker) then
    call('HDEL', P .. 'wanted', host)
    return nil
  end
  return worker, tonumber(until_)
end

local function wish(host)
  local worker = wished(host)
  if worker and worker ~= ME then return end
  call('HSET', P .. 'wanted', host, string.format('%.3f ', NOW + WANT) .. ME)
end

local function free_at(host) return tonumber(call('ZSCORE', P .. 'free', host) or 0) end

-- How soon a host is taken of those that are ready: by the priority of its first task (16 bits), then by how long it is ready (32 bits).
local function urgency(queue, found)
  local priority = 8388608 - tonumber(string.match(found, '^[^|]*|(%x+)|'), 16)
  return -math.max(-32767, math.min(32767, priority)) * 4294967296 + NOW
end

local function ready_since(score) return score % 4294967296 end

-- A host that nobody holds has tasks: it is ready, or rests until a moment.
local function offer(queue, host, from, found)
  if from > NOW then
    call('ZREM', queue .. ':ready', host)
    call('ZADD', queue .. ':resting', from, host)
    return
  end
  local score, before = urgency(queue, found), call('ZSCORE', queue .. ':ready', host)
  if not before or tonumber(before) > score then call('ZADD', queue .. ':ready', score, host) end
end

local function kept_until(host, from)  -- for whom it is kept, and until when nobody else may have it
  local worker, until_ = wished(host)
  return worker, worker and math.max(from, math.min(until_, from + RESERVE)) or from
end

-- A host has got tasks that may be had: it joins those that are to be had, or (held for another queue) those that are blocked.
local function awake(host)
  local held = holder(host)
  if held then
    if call('HGET', record(held), 'queue') ~= Q then call('SADD', Q .. ':blocked', host) end
    return
  end
  local found = first(Q, line(host), 1)[1]
  if not found then return end
  local _, from = kept_until(host, math.max(NOW, free_at(host)))
  offer(Q, host, from, found)
end

local function grab(host)
  call('HSET', P .. 'holders', host, ME)
  call('HSET', record(ME) .. ':hosts', host, 0)
  call('SREM', record(ME) .. ':kept', host)
  if wished(host) == ME then call('HDEL', P .. 'wanted', host) end
  for _, queue in ipairs(call('SMEMBERS', P .. 'queues')) do
    local was = call('ZREM', queue .. ':ready', host) + call('ZREM', queue .. ':resting', host)
    if was > 0 and queue ~= Q then call('SADD', queue .. ':blocked', host) end
  end
end

local function let_go(worker, host, moment)
  moment = math.max(moment, free_at(host))  -- it may have been taken before it could be asked, and let go unasked
  call('HDEL', record(worker) .. ':hosts', host)
  call('HDEL', P .. 'holders', host)
  call('ZREMRANGEBYSCORE', P .. 'free', '-inf', NOW)
  if moment > NOW then call('ZADD', P .. 'free', moment, host) end
  local waits, from = kept_until(host, math.max(NOW, moment))
  if waits == worker then from = math.max(NOW, moment) elseif waits then call('SADD', record(waits) .. ':kept', host) end
  for _, queue in ipairs(call('SMEMBERS', P .. 'queues')) do
    call('SREM', queue .. ':blocked', host)
    local found = first(queue, line(host), 1)[1]
    if found then offer(queue, host, from, found) end
  end
end

-- Lanes: of each, the best task waits at its host or is in flight ('!'), the others stand aside in the lane's siding.

local function advance(lane)
  local head = call('HGET', Q .. ':lanes', lane)
  if head and string.sub(head, 1, 1) == '!' then return end
  local best = first(Q, siding(lane), 1)[1]
  if not best then return end
  local id = id_of(best)
  local t = task(id)
  if head then
    local other = string.sub(head, 2)
    local waiting = task(other)
    if waiting and rank(waiting) <= rank(t) then return end
    if waiting then
      call('ZREM', Q, member(line(waiting[HOST]), other, waiting))
      call('ZADD', Q, 0, member(siding(lane), other, waiting))
    end
  end
  call('ZREM', Q, best)
  call('ZADD', Q, 0, member(line(t[HOST]), id, t))
  call('HSET', Q .. ':lanes', lane, '=' .. id)
  awake(t[HOST])
end

local function unlane(lane, id)  -- the task is no more what its lane waits for
  local head = call('HGET', Q .. ':lanes', lane)
  if head and string.sub(head, 2) == id then call('HDEL', Q .. ':lanes', lane) end
end

-- A task begins to wait.
local function enter(id, t)
  call('ZINCRBY', Q .. ':hosts', 1, t[HOST])
  if t[TRIES] >= SUSPECT then
    call('ZADD', Q, 0, member(SUSPECTS, id, t))
    call('HSETNX', Q .. ':about', 'suspect', NOW)
  elseif t[LANE] then
    call('ZADD', Q, 0, member(siding(t[LANE]), id, t))
    advance(t[LANE])
  else
    call('ZADD', Q, 0, member(line(t[HOST]), id, t))
    awake(t[HOST])
  end
end

local function fewer(key, field, number)
  local left = call('HINCRBY', key, field, -(number or 1))
  if left <= 0 then call('HDEL', key, field) end
end

local function less_waiting(host, number)
  if tonumber(call('ZINCRBY', Q .. ':hosts', -(number or 1), host)) <= 0 then call('ZREM', Q .. ':hosts', host) end
end

local function later(id, t)
  call('ZADD', Q .. ':later', t[AT], id)
  if t[SOURCE] then fewer(Q .. ':sources', t[SOURCE]) end
end

-- Tasks whose moment has come wait from now on; so many at a time.
local function promote()
  for _, id in ipairs(call('ZRANGEBYSCORE', Q .. ':later', '-inf', WALL, 'LIMIT', 0, 200)) do
    call('ZREM', Q .. ':later', id)
    local t = task(id)
    if t then
      if t[SOURCE] then call('HINCRBY', Q .. ':sources', t[SOURCE], 1) end
      enter(id, t)
    end
  end
end

local function set_aside(id, t, reason)
  keep(id, t)
  call('ZADD', Q .. ':aside', WALL, id)
  call('HSET', Q .. ':reasons', id, reason)
  if t[SOURCE] then fewer(Q .. ':sources', t[SOURCE]) end
end

-- A task that waits, wherever, waits no more. False if it does not wait.
local function unwait(id, t)
  if call('ZREM', Q .. ':later', id) == 1 then return true end
  local found = false
  for _, place in ipairs({ line(t[HOST]), SUSPECTS, t[LANE] and siding(t[LANE]) or nil }) do
    found = found or call('ZREM', Q, member(place, id, t)) == 1
  end
  if not found then return false end
  less_waiting(t[HOST])
  if t[SOURCE] then fewer(Q .. ':sources', t[SOURCE]) end
  if t[LANE] then unlane(t[LANE], id) end
  return true
end

-- A task leaves its worker's hands. Answers it, or nil if he had it not.
local function unlease(worker, id)
  if call('SREM', record(worker) .. ':leased', id) == 0 then return nil end
  local t = task(id)
  if not t then return nil end
  if call('HEXISTS', record(worker) .. ':hosts', t[HOST]) == 1 then
    call('HINCRBY', record(worker) .. ':hosts', t[HOST], -1)
  end
  if t[LANE] then unlane(t[LANE], id) end
  if t[TRIES] >= SUSPECT then call('HDEL', record(worker), 'suspect') end
  return t
end

local function jobs_gone(worker, owner)
  for _, job in ipairs(call('SMEMBERS', record(worker) .. ':jobs')) do
    if string.match(call('HGET', P .. 'jobs:' .. owner, job) or '', '^%S+ (.*)$') == worker then
      call('HDEL', P .. 'jobs:' .. owner, job)
    end
  end
end

local function forget(worker)
  local key = record(worker)
  call('DEL', key, key .. ':leased', key .. ':hosts', key .. ':jobs', key .. ':kept')
  call('SREM', Q .. ':workers', worker)
  call('ZREM', P .. 'workers', worker)
end

-- A worker is dead: what he had goes back, with one try counted.
local function bury(worker)
  local about = call('HMGET', record(worker), 'queue', 'tries', 'delay', 'owner', 'name')
  Q = about[1] or Q
  call('ZREM', P .. 'workers', worker)
  for _, id in ipairs(call('SMEMBERS', record(worker) .. ':leased')) do
    local t = unlease(worker, id)
    if t then
      t[TRIES] = t[TRIES] + 1
      if t[TRIES] >= (tonumber(about[2]) or 6) then
        set_aside(id, t, t[TRIES] .. ' workers died with it, the last was ' .. (about[5] or worker))
      else
        keep(id, t)
        enter(id, t)
      end
      if t[LANE] then advance(t[LANE]) end
    end
  end
  for _, host in ipairs(call('HKEYS', record(worker) .. ':hosts')) do let_go(worker, host, NOW + (tonumber(about[3]) or 0)) end
  jobs_gone(worker, about[4] or '')
  forget(worker)
  Q = HOME
end

local function bury_dead()
  if NOW < grace then return end
  for _, worker in ipairs(call('ZRANGEBYSCORE', P .. 'workers', '-inf', NOW, 'LIMIT', 0, 5)) do
    if worker ~= ME then bury(worker) end
  end
end
