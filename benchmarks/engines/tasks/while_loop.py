def main(n):
    i = 0
    total = 0
    while i < n:
        total = total + i % 3
        i = i + 1
    return total
