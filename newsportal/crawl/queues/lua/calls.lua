-- All calls of a queue except take.

-- Arguments: 'now' to release tasks that wait for a time, or ''; then of each task its id, the hash of its seen name ('' for none), and
-- its stored form. Returns the ids that were queued.
function calls.push()
  claim_queue()
  local now = table.remove(args, 1) == 'now'
  local seq = call('HINCRBY', Q .. ':about', 'seq', #args / 3) - #args / 3
  local queued, waiting, hosts = {}, {}, {}  -- written once per call
  call('ZREMRANGEBYSCORE', SEEN, '-inf', NOW - ctx.forget)
  for n = 1, #args, 3 do
    local id, seen = args[n], args[n + 1]
    if now and call('ZREM', Q .. ':later', id) == 1 then
      local t = task(id)
      outstanding(t, 1)
      enter(id, t)
    elseif call('HEXISTS', Q .. ':tasks', id) == 0 and (seen == '' or call('ZADD', SEEN, 'NX', NOW, seen) == 1) then
      local t = unpack_task(string.format('%010x%04x', seq + (n - 1) / 3, 0) .. args[n + 2])
      keep(id, t)
      if t.at and t.at > WALL then
        call('ZADD', Q .. ':later', t.at, id)
      else
        outstanding(t, 1)
        waiting[#waiting + 1] = 0
        waiting[#waiting + 1] = member(place_of(t.host), id, t)
        hosts[t.host] = (hosts[t.host] or 0) + 1
      end
      queued[#queued + 1] = id
    end
  end
  call('EXPIRE', SEEN, math.ceil(ctx.forget) + 60)
  if #waiting > 0 then call('ZADD', Q, unpack(waiting)) end
  for host, number in pairs(hosts) do
    call('ZINCRBY', Q .. ':hosts', number, host)
    list_host(Q, host)
  end
  return queued
end

-- Arguments: 'done', or the earliest time to lease the tasks again ('' for now); then ids of my leases.
function calls.finish()
  local outcome = table.remove(args, 1)
  local at = tonumber(outcome)
  for _, id in ipairs(args) do
    local t = end_lease(ME, id)
    if outcome == 'done' then
      if t then
        outstanding(t, -1)
      else  -- I was presumed dead: unless another worker has it, it is done all the same
        t = task(id)
        t = t and remove_waiting(id, t) and t
      end
      if t then call('HDEL', Q .. ':tasks', id) end
    elseif t and at and at > WALL then
      call('ZADD', Q .. ':later', at, id)
      outstanding(t, -1)
    elseif t then
      enter(id, t)
    end
  end
  return 0
end

-- Argument: my activity as JSON ('' for unchanged). Returns the ids of my leases.
function calls.heartbeat()
  if args[1] ~= '' then call('HSET', worker_key(ME), 'activity', args[1]) end
  bury_dead()
  return call('SMEMBERS', worker_key(ME) .. ':leased')
end

-- Argument: a host. Returns the seconds until the next request to it, nil if another worker holds it.
function calls.hold()
  bury_dead()
  local host = args[1]
  local owner = holder(host)
  if owner and owner ~= ME and not is_alive(owner) and NOW >= grace then
    bury(owner, 1)
    owner = holder(host)
  end
  local user = owner or requester(host)
  if user and user ~= ME then
    request_host(host)
    return false
  end
  if not owner then hold_host(host) end
  return string.format('%.6f', math.max(0, free_at(host) - NOW))
end

-- Arguments: hosts to release, each with the seconds until the next request.
function calls.free()
  for n = 1, #args, 2 do
    if holder(args[n]) == ME then release_host(ME, args[n], NOW + tonumber(args[n + 1])) end
  end
  return 0
end

-- Arguments: a job, and the seconds to claim it ('' releases it). Returns 1 if it is mine.
function calls.claim()
  local job, seconds, jobs = args[1], tonumber(args[2]), P .. 'jobs:' .. ctx.owner
  local until_, worker = string.match(call('HGET', jobs, job) or '', '^(%S+) (.*)$')
  if worker and worker ~= ME and tonumber(until_) > NOW and is_alive(worker) then return 0 end
  if seconds then
    call('HSET', jobs, job, string.format('%.3f ', NOW + seconds) .. ME)
  else
    call('HDEL', jobs, job)
  end
  return 1
end

-- Arguments: 1 and workers whose processes have ended, or 0 and me, to leave.
function calls.bury()
  local died = tonumber(table.remove(args, 1))
  for _, worker in ipairs(args) do
    if call('ZSCORE', P .. 'workers', worker) then bury(worker, died) end
  end
  return 0
end

-- Arguments: 'again' or 'drop', then ids of tasks that were set aside (none: the first thousand). Returns their number.
function calls.settle()
  local action, count = table.remove(args, 1), 0
  for _, id in ipairs(args[1] and args or call('ZRANGE', Q .. ':aside', 0, 999)) do
    if call('ZREM', Q .. ':aside', id) == 1 then
      count = count + 1
      call('HDEL', Q .. ':reasons', id)
      local t = task(id)
      if t and action == 'again' then
        t.tries = 0
        keep(id, t)
        outstanding(t, 1)
        enter(id, t)
      else
        call('HDEL', Q .. ':tasks', id)
      end
    end
  end
  return count
end

-- Deletes up to a thousand waiting tasks, half of them for later, and all seen names. Returns the number of tasks.
function calls.clear()
  call('DEL', SEEN)
  local ids = call('ZRANGE', Q .. ':later', 0, 499)
  for _, found in ipairs(call('ZRANGE', Q, 0, 499)) do ids[#ids + 1] = id_of(found) end
  for _, id in ipairs(ids) do
    remove_waiting(id, task(id))
    call('HDEL', Q .. ':tasks', id)
  end
  return #ids
end

-- Argument: the number of hosts. Returns the state of the queue as JSON.
function calls.state()
  local number, workers, leased, hosts, listed = tonumber(args[1]), {}, 0, {}, {}
  local function list(host, waiting)
    if #hosts >= number or listed[host] then return end
    local owner = holder(host)
    listed[host] = true
    hosts[#hosts + 1] = {
      host = host,
      waiting = tonumber(waiting),
      holder = owner and (call('HGET', worker_key(owner), 'name') or owner) or nil,
      next_request_in = math.max(0, free_at(host) - NOW),
    }
  end
  local most = number > 0 and call('ZREVRANGE', Q .. ':hosts', 0, number - 1, 'WITHSCORES') or {}
  for n = 1, #most, 2 do list(most[n], most[n + 1]) end
  for _, worker in ipairs(call('SMEMBERS', Q .. ':workers')) do
    if call('ZSCORE', P .. 'workers', worker) then
      local about = call('HMGET', worker_key(worker), 'name', 'since', 'heartbeat', 'activity')
      local locked, lease_count = call('HKEYS', worker_key(worker) .. ':hosts'), call('SCARD', worker_key(worker) .. ':leased')
      leased = leased + lease_count
      workers[#workers + 1] = { worker, about[1] or worker, tonumber(about[2]) or 0, tonumber(about[3]) or 0, lease_count, locked, about[4] or '{}' }
      for _, host in ipairs(locked) do list(host, 0) end
    end
  end
  local counts = { waiting = call('ZCARD', Q), later = call('ZCARD', Q .. ':later'), leased = leased, aside = call('ZCARD', Q .. ':aside') }
  return cjson.encode({ counts = counts, workers = workers, hosts = hosts })
end

-- Arguments: of each call its name, the number of its arguments, and these. Makes the calls in turn and returns their results.
function calls.exchange()
  local words, answers, at = args, {}, 1
  while at <= #words do
    local name, number = words[at], tonumber(words[at + 1])
    args = {}
    for n = 1, number do args[n] = words[at + 1 + n] end
    answers[#answers + 1] = calls[name]()
    at = at + 2 + number
  end
  return answers
end

local name = ARGV[2]
for n = 3, #ARGV do args[n - 2] = ARGV[n] end
if name ~= 'state' then begin((name == 'exchange' and args[1] or name) ~= 'push') end
if not ({ bury = true, settle = true, clear = true, state = true })[name] then heartbeat() end
return calls[name]()
