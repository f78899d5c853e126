import numpy as np
import torch
def t(name, f):
    try:
        r = f()
        kind = type(r).__module__.split(".")[0], type(r).__name__
        print(name, *kind, r if isinstance(r, (str, tuple)) else np.round(np.asarray(r), 9).tolist())
    except Exception as error:
        print(name, type(error).__name__)
x = np.arange(4.0); T = torch.arange(4.0, dtype=torch.float64)
C = np.array([1.0, 2.0, 3.0, 4.0])
def a(v): return np.sin(v) + np.sum(v)
def b(v): return torch.sin(v) * np.pi + np.float64(2.0)
def c(v): return v + torch.from_numpy(C)
def d(v): return np.where(v > 1, v, 0.0) * np.arange(4)
def e(v): return np.linalg.norm(v)
def f(v): return v * C
def g(v): return isinstance(v, np.ndarray)
def h(v): return np.concatenate([v, np.ones(2)])
for be in ("eager",):
    k = lambda q: torch.compile(q, backend=be)
    for n, q in (("a", a), ("d", d), ("e", e), ("f", f), ("h", h)):
        t(be + n, lambda: k(q)(x))
    t(be + "b", lambda: k(b)(T)); t(be + "c", lambda: k(c)(T)); t(be + "g", lambda: str(k(g)(x)))
t("script", lambda: torch.jit.script(torch.nn.Linear(2, 2))(torch.zeros(1, 2)).shape.__str__())
t("vmap", lambda: torch.vmap(lambda v: v * np.pi)(T))
t("grad", lambda: torch.func.grad(lambda v: (v * torch.as_tensor(C)).sum())(T))
t("trace", lambda: torch.jit.trace(lambda v: v * np.pi, T)(T))
t("fx", lambda: str(torch.fx.symbolic_trace(lambda v: v * np.pi).code))
L = torch.zeros(3, dtype=torch.float64)
np.asarray(L)[0], np.ravel(L)[1] = 5, 6
print(L)
print(torch.asarray(C), torch.func.jacrev(lambda v: v * torch.as_tensor(C))(T), torch.func.functionalize(lambda v: v * torch.as_tensor(C))(T))
