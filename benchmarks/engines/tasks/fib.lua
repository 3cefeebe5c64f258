function main(n) if n < 2 then return n else return main(n - 1) + main(n - 2) end end
