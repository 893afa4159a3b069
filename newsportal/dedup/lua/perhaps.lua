local found = {}
for name = 3, #ARGV, 2 do
  local a, b, here = tonumber(ARGV[name]), tonumber(ARGV[name + 1]), 0
  for i = last, 0, -1 do
    local _, bits, hashes = shape(i)
    here = 1
    for j = 0, hashes - 1 do
      if redis.call('GETBIT', state .. ':' .. i, (a + j * b) % bits) == 0 then here = 0 break end
    end
    if here == 1 then break end
  end
  found[#found + 1] = here
end
return table.concat(found)
