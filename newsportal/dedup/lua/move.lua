local at = math.max(tonumber(ARGV[3]), tonumber(redis.call('HGET', state, 'position')))
redis.call('HSET', state, 'position', at)
return at
