import json

text = '{"id":"c1","args":{"path":"docs/a.md","lines":[1,2,3.5,true,null]}}'


def main(n):
    while n != 0:
        json.dumps(json.loads(text), separators=(",", ":"))
        n = n - 1
    return len(json.dumps(json.loads(text), separators=(",", ":")))
