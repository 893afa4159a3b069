-- ARGV[2…]: workers that are known to be dead, since their processes are gone.

despite_memory()
tick()
for n = 2, #ARGV do
  if call('ZSCORE', P .. 'workers', ARGV[n]) then bury(ARGV[n]) end
end
return 0
