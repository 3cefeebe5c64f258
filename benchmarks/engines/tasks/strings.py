def main(n):
    text = ""
    while n != 0:
        text = text + "ab"
        n = n - 1
    return len(text)
