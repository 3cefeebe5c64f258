def main(n):
    r = {"id": "a", "count": 0, "tags": "x"}
    while n != 0:
        r = {**r, "count": r["count"] + 1}
        n = n - 1
    return r["count"]
