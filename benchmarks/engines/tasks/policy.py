file_tools = ["read_file", "list_files", "write_file"]


def decide(call):
    if call["name"] not in file_tools:
        return {"deny": "the tool " + call["name"] + " is not on the list"}
    path = call["args"].get("path")
    if path is None:
        return {"deny": "the call names no path"}
    if path.startswith("docs/") and ".." not in path:
        return {"allow": True}
    return {"deny": path + " is outside of docs"}
