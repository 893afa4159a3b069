-- ARGV[2]: how many hosts. Answers how the queue stands, as JSON.

local function worker_of(worker)
  local about = call('HMGET', record(worker), 'name', 'since', 'beat', 'doing')
  return {
    name = about[1] or worker,
    since = tonumber(about[2]) or 0,
    beat = tonumber(about[3]) or 0,
    doing = about[4] or '{}',
    leased = call('SCARD', record(worker) .. ':leased'),
    hosts = call('HKEYS', record(worker) .. ':hosts'),
  }
end

local workers, leased = {}, 0
for _, worker in ipairs(call('SMEMBERS', Q .. ':workers')) do
  if call('ZSCORE', P .. 'workers', worker) then
    local told = worker_of(worker)
    leased = leased + told.leased
    workers[#workers + 1] = told
  end
end

local hosts, number = {}, tonumber(ARGV[2])
local function tell(host, waiting)
  local held = holder(host)
  hosts[#hosts + 1] = {
    host = host,
    waiting = tonumber(waiting),
    holder = held and (call('HGET', record(held), 'name') or held) or nil,
    free_in = math.max(0, free_at(host) - NOW),
  }
end
local told = {}
local most = number > 0 and call('ZREVRANGE', Q .. ':hosts', 0, number - 1, 'WITHSCORES') or {}
for n = 1, #most, 2 do
  tell(most[n], most[n + 1])
  told[most[n]] = true
end
for _, worker in ipairs(workers) do
  for _, host in ipairs(worker.hosts) do
    if #hosts < number and not told[host] then tell(host, 0) end
  end
end
return cjson.encode({
  waiting = call('ZCARD', Q),
  later = call('ZCARD', Q .. ':later'),
  leased = leased,
  aside = call('ZCARD', Q .. ':aside'),
  workers = workers,
  hosts = hosts,
})
