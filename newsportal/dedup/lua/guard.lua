-- A Redis that was emptied, or was given other settings, has no such filter any more: the answer is nil.
if redis.call('HGET', state, 'form') ~= ARGV[1] .. ' ' .. ARGV[2] then return false end
local last = tonumber(redis.call('HGET', state, 'filters')) - 1
