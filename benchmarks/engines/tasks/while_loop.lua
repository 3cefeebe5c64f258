function main(n) local i, sum = 0, 0 while i < n do sum = sum + i % 3 i = i + 1 end return sum end
