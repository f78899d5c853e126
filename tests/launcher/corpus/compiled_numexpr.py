import numexpr
import numpy as np

x, y = np.arange(4.0), np.ones(4)


def inside(z):
    out = np.zeros(4)
    same = numexpr.evaluate("x * z + y", out=out[:]) is not None
    result = numexpr.evaluate("x + z", out=out)
    return same, result is out, out.tolist()


print(np.asarray(numexpr.evaluate("x * 2 + y")).tolist(), float(numexpr.evaluate("sum(x)")))
print(inside(y), np.asarray(numexpr.evaluate("a + b", local_dict={"a": x, "b": y})).tolist())
print(np.asarray(numexpr.re_evaluate({"a": y, "b": y})).tolist(), np.sqrt(numexpr.evaluate("where(x > 1, x, 4)")).tolist())
