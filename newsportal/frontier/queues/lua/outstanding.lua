-- ARGV[2]: a source. Answers how many of its tasks wait or are in hand.

return tonumber(call('HGET', Q .. ':sources', ARGV[2]) or 0)
