-- ARGV[2…]: ids that I took. Answers those that were in my hands.

despite_memory()
sign_of_life()
local mine_, sources, hosts, lanes = {}, {}, {}, {}  -- counted here, told once a script
local ids = {}
for n = 2, #ARGV do ids[n - 1] = ARGV[n] end
local packed = call('HMGET', Q .. ':tasks', unpack(ids))
for n, id in ipairs(ids) do
  local t = packed[n] and cmsgpack.unpack(packed[n])
  if call('SREM', record(ME) .. ':leased', id) == 1 then
    mine_[#mine_ + 1] = id
    if t then
      hosts[t[HOST]] = (hosts[t[HOST]] or 0) + 1
      if t[SOURCE] then sources[t[SOURCE]] = (sources[t[SOURCE]] or 0) + 1 end
      if t[TRIES] >= SUSPECT then call('HDEL', record(ME), 'suspect') end
      if t[LANE] then
        unlane(t[LANE], id)
        lanes[t[LANE]] = true
      end
    end
  elseif t and unwait(id, t) then  -- I was thought dead: if nobody has it yet, it is done all the same
    call('HDEL', Q .. ':tasks', id)
    if t[LANE] then lanes[t[LANE]] = true end
  end
end
if #mine_ > 0 then call('HDEL', Q .. ':tasks', unpack(mine_)) end
for source, number in pairs(sources) do fewer(Q .. ':sources', source, number) end
for host, number in pairs(hosts) do
  if call('HEXISTS', record(ME) .. ':hosts', host) == 1 then call('HINCRBY', record(ME) .. ':hosts', host, -number) end
end
for lane in pairs(lanes) do advance(lane) end
return mine_
