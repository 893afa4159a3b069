-- ARGV[2…]: ids that I took. Answers those that were in my hands.

despite_memory()
sign_of_life()
local mine_ = {}
for n = 2, #ARGV do
  local id = ARGV[n]
  local t = unlease(ME, id)
  if t then
    mine_[#mine_ + 1] = id
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
return mine_
