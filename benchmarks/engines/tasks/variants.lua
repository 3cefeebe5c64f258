local function tree(n) if n == 0 then return {"Num", 1} end
return {"Add", tree(n - 1), {"Neg", {"Mul", tree(n - 1), {"Num", 2}}}} end
local function eval(x) local tag = x[1] if tag == "Num" then return x[2] end
if tag == "Add" then return eval(x[2]) + eval(x[3]) end
if tag == "Mul" then return eval(x[2]) * eval(x[3]) end return 0 - eval(x[2]) end
function main(n) return eval(tree(n)) end
