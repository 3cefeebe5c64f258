def main(n):
    x = 0.0
    while n != 0:
        x = x * 0.5 + 1.25
        n = n - 1
    return 1 if x > 2.4 else 0
