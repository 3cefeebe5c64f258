def main(n):
    total = 0
    while n != 0:
        total = total + n % 7
        n = n - 1
    return total
