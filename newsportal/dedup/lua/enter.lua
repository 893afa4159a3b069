local before, counted = {}, tonumber(redis.call('HGET', state, 'n' .. last) or 0)
local capacity, bits, hashes = shape(last)
for name = 3, #ARGV, 2 do
  local a, b, here = tonumber(ARGV[name]), tonumber(ARGV[name + 1]), 0
  for i = 0, last - 1 do
    local _, m, k_i = shape(i)
    here = 1
    for j = 0, k_i - 1 do
      if redis.call('GETBIT', state .. ':' .. i, (a + j * b) % m) == 0 then here = 0 break end
    end
    if here == 1 then break end
  end
  if here == 0 then
    here = 1
    for j = 0, hashes - 1 do
      if redis.call('SETBIT', state .. ':' .. last, (a + j * b) % bits, 1) == 0 then here = 0 end
    end
    if here == 0 then
      counted = counted + 1
      if counted >= capacity then
        redis.call('HSET', state, 'n' .. last, counted, 'filters', last + 2)
        last, counted = last + 1, 0
        capacity, bits, hashes = shape(last)
      end
    end
  end
  before[#before + 1] = here
end
redis.call('HSET', state, 'n' .. last, counted)
return table.concat(before)
