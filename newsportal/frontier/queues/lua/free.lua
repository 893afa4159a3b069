-- ARGV[2…]: hosts, each with the seconds until the next one may ask it.

despite_memory()
sign_of_life()
for n = 2, #ARGV, 2 do
  if holder(ARGV[n]) == ME then let_go(ME, ARGV[n], NOW + tonumber(ARGV[n + 1])) end
end
return 0
