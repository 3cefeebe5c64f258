def double(x):
    return x * 2 % 11


def main(n):
    items = list(range(n))
    total = 0
    for x in [double(x) for x in items]:
        total = total + x
    return total
