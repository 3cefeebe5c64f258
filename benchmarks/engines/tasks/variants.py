def tree(n):
    if n == 0:
        return ("Num", 1)
    return ("Add", tree(n - 1), ("Neg", ("Mul", tree(n - 1), ("Num", 2))))


def evaluate(x):
    tag = x[0]
    if tag == "Num":
        return x[1]
    if tag == "Add":
        return evaluate(x[1]) + evaluate(x[2])
    if tag == "Mul":
        return evaluate(x[1]) * evaluate(x[2])
    return 0 - evaluate(x[1])


def main(n):
    return evaluate(tree(n))
