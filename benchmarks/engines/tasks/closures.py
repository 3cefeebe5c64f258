def add(k):
    return lambda x: x + k


def main(n):
    x = 0
    while n != 0:
        x = add(n % 3)(x)
        n = n - 1
    return x
