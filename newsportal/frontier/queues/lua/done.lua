-- ARGV[2…]: ids that I took. Answers how many of them were in my hands.

despite_memory()
sign_of_life()
local count = 0
for n = 2, #ARGV do
  local id = ARGV[n]
  local t = unlease(ME, id)
  if t then
    count = count + 1
    call('HDEL', Q .. ':tasks', id)
    if t[SOURCE] then fewer(Q .. ':sources', t[SOURCE]) end
    if t[LANE] then advance(t[LANE]) end
  else  -- I was thought dead: if nobody has it yet, it is done all the same
    t = task(id)
    if t and unwait(id, t) then
      call('HDEL', Q .. ':tasks', id)
      if t[LANE] then advance(t[LANE]) end
    end
  end
end
return count
