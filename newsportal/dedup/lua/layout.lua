-- Capacity, bits and hashes of filter i, as `shape` of bloom_redis.py has them.
local state, n, k = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local function shape(i)
  local hashes = k + i
  local capacity = n * 2 ^ i
  local bits = math.ceil(capacity * hashes / math.log(2))
  if bits > 4294967296 then
    bits = 4294967296
    capacity = math.floor(bits * math.log(2) / hashes)
  end
  return capacity, bits, hashes
end
