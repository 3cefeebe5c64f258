def main(n):
    return n if n < 2 else main(n - 1) + main(n - 2)
