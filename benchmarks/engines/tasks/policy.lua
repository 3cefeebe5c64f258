local file_tools = {read_file = true, list_files = true, write_file = true}
function decide(call)
  if not file_tools[call.name] then return {deny = "the tool " .. call.name .. " is not on the list"} end
  local path = call.args.path
  if path == nil then return {deny = "the call names no path"} end
  if string.sub(path, 1, 5) == "docs/" and not string.find(path, "..", 1, true) then return {allow = true} end
  return {deny = path .. " is outside of docs"}
end
