local function add(k) return function(x) return x + k end end
function main(n) local x = 0 while n ~= 0 do x = add(n % 3)(x) n = n - 1 end return x end
