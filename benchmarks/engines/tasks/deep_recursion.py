def main(n):
    return 0 if n == 0 else 1 + main(n - 1)
