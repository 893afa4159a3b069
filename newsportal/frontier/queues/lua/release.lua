-- ARGV[2]: a job that is done, or given up.

despite_memory()
sign_of_life()
local jobs = P .. 'jobs:' .. ctx.owner
if string.match(call('HGET', jobs, ARGV[2]) or '', '^%S+ (.*)$') == ME then call('HDEL', jobs, ARGV[2]) end
call('SREM', record(ME) .. ':jobs', ARGV[2])
return 0
