-- ARGV[2]: from when they may be had ('' is now), ARGV[3…]: ids that I took. Answers those that were in my hands.

despite_memory()
sign_of_life()
local mine_ = {}
local at = tonumber(ARGV[2])
for n = 3, #ARGV do
  local id = ARGV[n]
  local t = unlease(ME, id)
  if t then
    mine_[#mine_ + 1] = id
    if at then
      t[AT] = at
      keep(id, t)
    end
    if at and at > WALL then later(id, t) else enter(id, t) end
    if t[LANE] then advance(t[LANE]) end
  end
end
return mine_
