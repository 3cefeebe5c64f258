function main(n) local r = {id = "a", count = 0, tags = "x"}
while n ~= 0 do r = {id = r.id, count = r.count + 1, tags = r.tags} n = n - 1 end return r.count end
