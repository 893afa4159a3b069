-- ARGV[2]: a job, ARGV[3]: for how many seconds. Answers 1 if it is mine.

sign_of_life()
bury_dead()
local jobs = P .. 'jobs:' .. ctx.owner
local until_, worker = string.match(call('HGET', jobs, ARGV[2]) or '', '^(%S+) (.*)$')
if worker and worker ~= ME and tonumber(until_) > NOW and lives(worker) then return 0 end
call('HSET', jobs, ARGV[2], string.format('%.3f ', NOW + tonumber(ARGV[3])) .. ME)
call('SADD', record(ME) .. ':jobs', ARGV[2])
return 1
