-- ARGV[2]: a host. Answers the seconds until it may be asked, nil if another has it.

despite_memory()
sign_of_life()
bury_dead()
local host = ARGV[2]
local held = holder(host)
if held and held ~= ME and not lives(held) and NOW >= grace then
  bury(held)
  held = holder(host)
end
local waits = not held and wished(host)
if (held and held ~= ME) or (waits and waits ~= ME) then
  wish(host)
  return false
end
if not held then grab(host) end
return string.format('%.6f', math.max(0, free_at(host) - NOW))
