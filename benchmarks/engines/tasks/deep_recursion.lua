function main(n) if n == 0 then return 0 else return 1 + main(n - 1) end end
