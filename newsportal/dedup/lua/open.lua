local form = ARGV[1] .. ' ' .. ARGV[2]
if redis.call('HGET', state, 'form') == form then
  return tonumber(redis.call('HGET', state, 'position'))
end
local filters = tonumber(redis.call('HGET', state, 'filters') or 0)
for i = 0, filters - 1 do redis.call('DEL', state .. ':' .. i) end
redis.call('DEL', state)
redis.call('HSET', state, 'form', form, 'position', 0, 'filters', 1)
return 0
