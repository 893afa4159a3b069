-- The beginning of the script, which consists of common.lua, take.lua and calls.lua. Its keys are listed in redis_partition.py.
-- KEYS[1]: the waiting tasks, KEYS[2]: the seen names; ARGV[1]: the worker, as JSON; ARGV[2]: the name of the call, then its arguments.

local Q, SEEN = KEYS[1], KEYS[2]
local HOME = Q
local ctx = cjson.decode(ARGV[1])
local ME, P = ctx.me, ctx.frontier
local call = redis.call
local calls, args = {}, {}  -- functions by name; the arguments of the current call

local FORM = '4'
local READABLE = {['3'] = true, [FORM] = true}  -- in form 3 each task had its body here; later a table keeps the bodies of its tasks
local SUSPECT = 2          -- number of workers that died with a task: it is then leased alone (base.py)
local WANT = 10            -- seconds for which a request for a host is valid
local RESERVE = 2          -- seconds for which a released host is reserved for the worker that requested it
local GRACE = 10           -- seconds after an outage of Redis during which no worker is presumed dead

-- The clock: Redis' own, made monotonic. WALL may jump back, NOW does not.

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

if ctx.away then  -- Redis was unreachable, so no worker could send a heartbeat
  grace = NOW + GRACE
  redis.pcall('HSET', P .. 'clock', 'grace', grace)
end

local function worker_key(worker) return P .. 'worker:' .. worker end

local function is_alive(worker)
  local until_ = call('ZSCORE', P .. 'workers', worker)
  return until_ and tonumber(until_) > NOW
end

-- The owner of the queue

local function idle()
  if call('ZCARD', Q) > 0 or call('HLEN', Q .. ':tasks') > 0 then return false end
  for _, worker in ipairs(call('SMEMBERS', Q .. ':workers')) do
    if is_alive(worker) then return false end
  end
  return true
end

local function refusal()
  local about = call('HMGET', Q .. ':about', 'form', 'owner', 'owner_name')
  if not about[1] then
    if call('EXISTS', Q) == 1 then return 'FOREIGN ' .. Q end
    local kind = call('TYPE', SEEN).ok
    return kind ~= 'none' and kind ~= 'zset' and 'FOREIGN ' .. SEEN
  end
  if not READABLE[about[1]] then return 'FORM ' .. about[1] end
  return about[2] ~= ctx.owner and not idle() and 'OWNER ' .. (about[3] or '')
end

local wrong = refusal()
if wrong then return redis.error_reply('NEWSPORTAL ' .. wrong) end

local function claim_queue() call('HSET', Q .. ':about', 'form', FORM, 'owner', ctx.owner, 'owner_name', ctx.owner_name) end

-- At maxmemory Redis refuses commands that may allocate memory, except in scripts that have already written something. Calls that return
-- tasks, end them or send a heartbeat must not be refused.
local function begin(despite_memory)
  if despite_memory then call('DEL', P .. 'nothing') end
  redis.pcall('HSET', P .. 'clock', 'last', WALL, 'offset', offset)  -- if it fails, the next call writes it
end

local function heartbeat()
  if call('ZADD', P .. 'workers', NOW + ctx.lease, ME) == 1 then
    claim_queue()
    call('HSET', worker_key(ME), 'name', ctx.name, 'queue', Q, 'since', WALL)
    call('HSET', P .. 'machines', ME, ctx.machine)
    call('SADD', Q .. ':workers', ME)
    call('SADD', P .. 'queues', Q)
  end
  call('HSET', worker_key(ME), 'heartbeat', WALL)
end

-- Tasks. Stored under its id: its number and tries (14 hexadecimal digits), a JSON array of its fields, a newline, its body.

local function non_empty(text) return text ~= '' and text or nil end

local function unpack_task(text)
  local head = cjson.decode(string.sub(text, 15, string.find(text, '\n', 15, true) - 1))
  return {
    seq = tonumber(string.sub(text, 1, 10), 16), tries = tonumber(string.sub(text, 11, 14), 16), text = string.sub(text, 15),
    host = head[1], priority = head[2], lane = non_empty(head[3]), source = non_empty(head[4]), at = tonumber(head[5]),
  }
end

local function task(id)
  local text = call('HGET', Q .. ':tasks', id)
  return text and unpack_task(text)
end

local function pack_task(t) return string.format('%010x%04x', t.seq, t.tries) .. t.text end
local function keep(id, t) call('HSET', Q .. ':tasks', id, pack_task(t)) end

-- The order within a place: by priority (24 bits, higher first), then first come, first served.
local function rank(t)
  local priority = math.max(-8388607, math.min(8388607, t.priority))
  return string.format('%06x|%010x|', 8388608 - priority, t.seq)
end

local function place_of(host) return (string.gsub(host, '[%%|}]', { ['%'] = '%25', ['|'] = '%7C', ['}'] = '%7D' })) end
local function lane_place(lane) return '~' .. place_of(lane) end
local SUSPECTS = '!'

local function member(place, id, t) return place .. '|' .. rank(t) .. id end

local function first(queue, place, number)
  return call('ZRANGEBYLEX', queue, '[' .. place .. '|', '(' .. place .. '}', 'LIMIT', 0, number)
end

local function id_of(found) return string.match(found, '^[^|]*|%x+|%x+|(.*)$') end

local function outstanding(t, number)  -- counts are deleted at 0
  if t.source and call('HINCRBY', Q .. ':sources', t.source, number) <= 0 then call('HDEL', Q .. ':sources', t.source) end
end

local function less_waiting(host, number)
  if tonumber(call('ZINCRBY', Q .. ':hosts', -number, host)) <= 0 then call('ZREM', Q .. ':hosts', host) end
end

-- Hosts

local function holder(host) return call('HGET', P .. 'holders', host) or nil end

local function requester(host)  -- the living worker that requested a host, and the time at which its request expires
  local until_, worker = string.match(call('HGET', P .. 'wanted', host) or '', '^(%S+) (.*)$')
  if worker and (tonumber(until_) <= NOW or not is_alive(worker)) then
    call('HDEL', P .. 'wanted', host)
    return nil
  end
  return worker, tonumber(until_ or 0)
end

local function request_host(host)
  local worker = requester(host)
  if worker and worker ~= ME then return end
  call('HSET', P .. 'wanted', host, string.format('%.3f ', NOW + WANT) .. ME)
end

local function free_at(host) return tonumber(call('ZSCORE', P .. 'free', host) or 0) end

-- The order of hosts that are ready: by the priority of the first task (16 bits), then by the time since which the host is ready (32 bits).
local function urgency(found)
  local priority = 8388608 - tonumber(string.match(found, '^[^|]*|(%x+)|'), 16)
  return -math.max(-32767, math.min(32767, priority)) * 4294967296 + NOW
end

-- Lists a host with waiting tasks in a queue: as ready, as resting until a time after `soon`, or as held for another queue.
local function list_host(queue, host, soon)
  local found, owner = first(queue, place_of(host), 1)[1], holder(host)
  if not found then return end
  if owner then
    if call('HGET', worker_key(owner), 'queue') ~= queue then call('SADD', queue .. ':blocked', host) end
    return
  end
  local from, worker, until_ = free_at(host), requester(host)
  if worker then from = math.max(from, math.min(until_, NOW + RESERVE)) end
  if from > (soon or NOW) then
    call('ZREM', queue .. ':ready', host)
    call('ZADD', queue .. ':resting', from, host)
  else
    local score, before = urgency(found), call('ZSCORE', queue .. ':ready', host)
    if not before or tonumber(before) > score then call('ZADD', queue .. ':ready', score, host) end
  end
end

local function hold_host(host)
  call('HSET', P .. 'holders', host, ME)
  call('HSET', worker_key(ME) .. ':hosts', host, 0)
  if requester(host) == ME then call('HDEL', P .. 'wanted', host) end
  for _, queue in ipairs(call('SMEMBERS', P .. 'queues')) do
    local listed = call('ZREM', queue .. ':ready', host) + call('ZREM', queue .. ':resting', host)
    if listed > 0 and queue ~= Q then call('SADD', queue .. ':blocked', host) end
  end
end

local function release_host(worker, host, moment)
  moment = math.max(moment, free_at(host), NOW)  -- it may have been taken before its time, and released without a request
  call('HDEL', worker_key(worker) .. ':hosts', host)
  call('HDEL', P .. 'holders', host)
  call('ZREMRANGEBYSCORE', P .. 'free', '-inf', NOW)
  if moment > NOW then call('ZADD', P .. 'free', moment, host) end
  for _, queue in ipairs(call('SMEMBERS', P .. 'queues')) do
    call('SREM', queue .. ':blocked', host)
    list_host(queue, host)
  end
end

-- Lanes: one task of each is in flight (`Q:in_flight`). Others that come up at their hosts meanwhile wait at the place of the lane.

local function advance(lane)  -- unless one is in flight, the first task at its place returns to its host
  local best = first(Q, lane_place(lane), 1)[1]
  if not best or call('HEXISTS', Q .. ':in_flight', lane) == 1 then return end
  local id = id_of(best)
  local t = task(id)
  call('ZREM', Q, best)
  call('ZADD', Q, 0, member(place_of(t.host), id, t))
  list_host(Q, t.host)
end

-- Transitions

local function enter(id, t)  -- queue a task
  call('ZINCRBY', Q .. ':hosts', 1, t.host)
  if t.tries >= SUSPECT then
    call('ZADD', Q, 0, member(SUSPECTS, id, t))
  else
    call('ZADD', Q, 0, member(place_of(t.host), id, t))
    list_host(Q, t.host)
  end
end

local function promote()  -- queue tasks whose time has come, up to 200 per call
  for _, id in ipairs(call('ZRANGEBYSCORE', Q .. ':later', '-inf', WALL, 'LIMIT', 0, 200)) do
    call('ZREM', Q .. ':later', id)
    local t = task(id)
    if t then
      outstanding(t, 1)
      enter(id, t)
    end
  end
end

local function remove_waiting(id, t)  -- remove a task from wherever it waits; false if it does not wait
  if call('ZREM', Q .. ':later', id) == 1 then return true end
  local found = false
  for _, place in ipairs({ place_of(t.host), SUSPECTS, t.lane and lane_place(t.lane) or nil }) do
    found = found or call('ZREM', Q, member(place, id, t)) == 1
  end
  if not found then return false end
  less_waiting(t.host, 1)
  outstanding(t, -1)
  if t.lane then advance(t.lane) end
  return true
end

local function end_lease(worker, id)  -- end a worker's lease; returns the task, or nil if there was none
  if call('SREM', worker_key(worker) .. ':leased', id) == 0 then return nil end
  local t = task(id)
  if not t then return nil end
  if call('HEXISTS', worker_key(worker) .. ':hosts', t.host) == 1 then call('HINCRBY', worker_key(worker) .. ':hosts', t.host, -1) end
  if t.lane then
    if call('HGET', Q .. ':in_flight', t.lane) == id then call('HDEL', Q .. ':in_flight', t.lane) end
    advance(t.lane)
  end
  return t
end

-- Removes a worker and returns its leases to the queue. `died`: 1, or 0 for a worker that leaves: its tasks count no try.
local function bury(worker, died)
  local key = worker_key(worker)
  local about = call('HMGET', key, 'queue', 'delay', 'name')
  Q = about[1] or Q
  call('ZREM', P .. 'workers', worker)
  for _, id in ipairs(call('SMEMBERS', key .. ':leased')) do
    local t = end_lease(worker, id)
    if t then
      t.tries = t.tries + died
      keep(id, t)
      if died == 1 and t.tries >= ctx.tries then
        call('ZADD', Q .. ':aside', WALL, id)
        call('HSET', Q .. ':reasons', id, t.tries .. ' workers died with it, the last was ' .. (about[3] or worker))
        outstanding(t, -1)
      else
        enter(id, t)
      end
    end
  end
  for _, host in ipairs(call('HKEYS', key .. ':hosts')) do release_host(worker, host, NOW + (tonumber(about[2]) or 0)) end
  call('DEL', key, key .. ':leased', key .. ':hosts')
  call('HDEL', P .. 'machines', worker)
  call('SREM', Q .. ':workers', worker)
  Q = HOME
end

local function bury_dead()
  if NOW < grace then return end
  for _, worker in ipairs(call('ZRANGEBYSCORE', P .. 'workers', '-inf', NOW, 'LIMIT', 0, 5)) do
    if worker ~= ME then bury(worker, 1) end
  end
end
