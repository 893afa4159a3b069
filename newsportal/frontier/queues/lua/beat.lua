-- ARGV[2]: what I do, as JSON ('' is as before). Answers the ids that I have.

despite_memory()
sign_of_life()
if ARGV[2] ~= '' then call('HSET', record(ME), 'doing', ARGV[2]) end
bury_dead()
return call('SMEMBERS', record(ME) .. ':leased')
