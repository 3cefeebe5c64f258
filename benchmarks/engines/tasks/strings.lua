function main(n) local text = "" while n ~= 0 do text = text .. "ab" n = n - 1 end return #text end
