local function loop(k, sum) if k == 0 then return sum else return loop(k - 1, sum + k % 7) end end
function main(n) return loop(n, 0) end
