-- Arguments: number of tasks, delay, ahead. Returns the state as JSON, then of each lease its id and the stored form of the task.
function calls.take()
  local number, delay, ahead = tonumber(args[1]), tonumber(args[2]), tonumber(args[3])
  call('HSET', worker_key(ME), 'delay', delay)
  bury_dead()
  promote()

  local POLL = 0.5 -- seconds until the next poll where the outcome depends on other workers
  local OVERDUE = 2 -- seconds after which a free host may be taken beyond one's share
  local most = delay > 0 and math.max(1, math.floor(ahead / delay + 1e-9)) or 1 / 0
  local leases, count = {}, 0
  local my_leases = call('SCARD', worker_key(ME) .. ':leased') + ctx.elsewhere
  local drains = false
  local function places_left() return number - count end

  local held, held_count = {}, 0  -- host → number of leases
  local flat = call('HGETALL', worker_key(ME) .. ':hosts')
  for n = 1, #flat, 2 do
    held[flat[n]] = tonumber(flat[n + 1])
    held_count = held_count + 1
  end

  local yielded, yields = {}, {}
  if call('HLEN', P .. 'wanted') > 0 then
    for host in pairs(held) do
      local worker = requester(host)
      if worker and worker ~= ME then
        yielded[#yielded + 1] = host
        yields[host] = true
      end
    end
  end

  -- Leases tasks of one place and host, except those whose lane has another in flight. Returns the number of leases.
  local function lease(found)
    if #found == 0 then return 0 end
    local ids, got, host = {}, {}, nil
    for n, entry in ipairs(found) do ids[n] = id_of(entry) end
    local texts = call('HMGET', Q .. ':tasks', unpack(ids))
    call('ZREM', Q, unpack(found))
    for n, id in ipairs(ids) do
      local t = unpack_task(texts[n])
      host = t.host
      if t.lane and call('HSETNX', Q .. ':in_flight', t.lane, id) == 0 then
        call('ZADD', Q, 0, member(lane_place(t.lane), id, t))
      else
        got[#got + 1] = id
        leases[#leases + 1] = id
        leases[#leases + 1] = texts[n]
      end
    end
    if #got == 0 then return 0 end
    call('SADD', worker_key(ME) .. ':leased', unpack(got))
    less_waiting(host, #got)
    call('HINCRBY', worker_key(ME) .. ':hosts', host, #got)
    count = count + #got
    return #got
  end

  local function serve(host, limit)
    local quota, got = math.min(limit, most - held[host], places_left()), 0
    while got < quota do
      local found = first(Q, place_of(host), quota - got)
      local is_full = #found == quota - got
      got = got + lease(found)
      if not is_full then break end
    end
    held[host] = held[host] + got
    return got
  end

  local function take_host(host)
    hold_host(host)
    held[host] = 0
    held_count = held_count + 1
  end

  -- Returns whether I may take this host: it is mine, or it is free in time and no other worker requested it.
  local function may_have(host)
    if held[host] then return true end
    if holder(host) or free_at(host) > NOW + ahead then return false end
    return (requester(host) or ME) == ME
  end

  local function waits_at(host) return #first(Q, place_of(host), 1) > 0 end

  -- Suspects: alone, and before other tasks; a worker with leases takes nothing more until they are done

  local function drain()  -- unless another worker drains
    local tester = call('HGET', Q .. ':about', 'tester')
    if tester and tester ~= ME and is_alive(tester) then return false end
    call('HSET', Q .. ':about', 'tester', ME)
    return true
  end

  local function try_suspects()
    for _, found in ipairs(first(Q, SUSPECTS, 10)) do
      local id = id_of(found)
      local t = task(id)
      if not (t.lane and call('HEXISTS', Q .. ':in_flight', t.lane) == 1) then
        if may_have(t.host) and not yields[t.host] then
          drains = my_leases > 0 and drain()
          if my_leases > 0 then return drains end
          if not held[t.host] then take_host(t.host) end
          call('HDEL', Q .. ':about', 'tester')
          lease({ found })
          return true
        end
        if not held[t.host] then request_host(t.host) end
      end
    end
    return false
  end

  -- Shares

  local others, share = {}, 1 / 0
  local all_held = held_count + call('ZCARD', Q .. ':ready') + call('ZCARD', Q .. ':resting')
  local function count_others()
    for _, worker in ipairs(call('SMEMBERS', Q .. ':workers')) do
      if worker ~= ME and is_alive(worker) then
        local owned = call('HLEN', worker_key(worker) .. ':hosts')
        others[#others + 1] = { worker, owned }
        all_held = all_held + owned
      end
    end
    if #others > 0 then share = math.ceil(all_held / (#others + 1)) end
  end

  local function new_hosts()
    local found = {}
    for _, host in ipairs(call('ZRANGEBYSCORE', Q .. ':resting', '-inf', NOW + ahead, 'LIMIT', 0, 1000)) do
      call('ZREM', Q .. ':resting', host)
      list_host(Q, host, NOW + ahead)
    end
    local ready = call('ZRANGE', Q .. ':ready', 0, places_left() - 1, 'WITHSCORES')
    for n = 1, #ready, 2 do
      local host = ready[n]
      local since = tonumber(ready[n + 1]) % 4294967296  -- see urgency
      if held_count + #found < share or since < NOW - OVERDUE then
        if waits_at(host) and may_have(host) then
          found[#found + 1] = host
        else
          call('ZREM', Q .. ':ready', host)
          list_host(Q, host)
        end
      end
    end
    return found
  end

  -- Leases from my hosts without leases first, then from new hosts, then from those with leases.
  local function fill()
    local own = {}
    for host, leased in pairs(held) do
      if not yields[host] and leased < most then own[#own + 1] = host end
    end
    table.sort(own, function(a, b) return held[a] < held[b] or (held[a] == held[b] and a < b) end)
    local new = new_hosts()
    local base = math.max(1, math.floor(number / math.max(1, #own + #new)))
    local more, busy = {}, {}
    local function serve_base(host)
      if serve(host, base) == base then more[#more + 1] = host end
    end
    for _, host in ipairs(own) do
      if held[host] == 0 then serve_base(host) else busy[#busy + 1] = host end
    end
    for _, host in ipairs(new) do
      if places_left() < 1 then break end
      take_host(host)
      serve_base(host)
      if held[host] == 0 then  -- all of its tasks moved to lanes
        release_host(ME, host, NOW)
        held[host] = nil
        held_count = held_count - 1
      end
    end
    for _, host in ipairs(busy) do serve_base(host) end
    for _, host in ipairs(more) do serve(host, places_left()) end
  end

  -- I have too few hosts: request some from workers with more than their share.
  local function ask_for_more()
    local missing = math.min(share, all_held) - held_count
    for _, other in ipairs(others) do
      local excess = other[2] - share
      if missing > 0 and excess > 0 then
        for _, host in ipairs(call('HKEYS', worker_key(other[1]) .. ':hosts')) do
          if missing > 0 and excess > 0 and waits_at(host) then
            request_host(host)
            missing, excess = missing - 1, excess - 1
          end
        end
      end
    end
  end

  if number > 0 and not try_suspects() then
    count_others()
    fill()
    if places_left() > 0 then ask_for_more() end
  end

  for _, host in ipairs(call('SRANDMEMBER', Q .. ':blocked', 4)) do  -- request hosts held for other queues, a few per call
    local waits = waits_at(host)
    if waits and holder(host) then
      request_host(host)
    else
      call('SREM', Q .. ':blocked', host)
      if waits then list_host(Q, host) end
    end
  end

  local resting = {}
  for host in pairs(held) do resting[host] = math.max(0, free_at(host) - NOW) end

  local function first_score(key, now)  -- seconds until the first time in a sorted set
    local found = call('ZRANGE', key, 0, 0, 'WITHSCORES')
    return found[2] and math.max(0, tonumber(found[2]) - now) or 1 / 0
  end

  local waiting = call('ZCARD', Q)
  local soon = first_score(Q .. ':later', WALL)
  if waiting > 0 then
    local poll = delay > 0 and math.min(delay, POLL) or POLL
    if number > 0 and count >= number then poll = 0 end
    soon = math.min(soon, poll, first_score(Q .. ':resting', NOW))
  end
  table.insert(leases, 1, cjson.encode({ waiting = waiting, soon = soon < 1 / 0 and soon or nil, held = resting, yielded = yielded, draining = drains }))
  return leases
end
