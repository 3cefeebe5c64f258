function main(n) local items, mapped, sum = {}, {}, 0
for i = 0, n - 1 do items[i + 1] = i end
for i = 1, n do mapped[i] = items[i] * 2 % 11 end
for i = 1, n do sum = sum + mapped[i] end return sum end
