function main(n) local x = 0.0 while n ~= 0 do x = x * 0.5 + 1.25 n = n - 1 end
if x > 2.4 then return 1 else return 0 end end
