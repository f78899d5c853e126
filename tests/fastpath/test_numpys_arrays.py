"""NumPy's own arrays, which a script gets from code that is not dispatched, meet arrays of ours on the thin path."""

from __future__ import annotations

from pathlib import Path

from tests.launched import Zygotes, prints_as_plainly

SCRIPT = '''
import warnings
warnings.simplefilter("error")
import numpy as np
from scipy import sparse

def numpys(x):
    """Return a copy that SciPy made, in NumPy's own array."""
    flat = np.asarray(x).ravel()
    n = flat.size
    return sparse.csr_array((flat, (np.zeros(n, int), np.arange(n))), shape=(1, n)).data.reshape(np.shape(x))

def tell(x):
    if isinstance(x, (tuple, list)):
        return type(x).__name__, [tell(part) for part in x]
    if not isinstance(x, np.ndarray):
        return type(x).__name__, x
    return x.shape, x.dtype.str, x.flags.writeable, x.tolist()

def inplace(target, value, op="__iadd__"):
    made = getattr(target, op)(value)
    return made is target, made

x, i, m, A = np.arange(4.0), np.array([3, 0, 1, 1]), np.arange(4) % 2 > 0, np.arange(4.0).reshape(2, 2) + 1
v, j, V = numpys(x + 0.5), numpys(i + 1) - 1, numpys(A * 2)
f, z, b, u = numpys(x.astype("f4") + 1), numpys(x + 1j), v > 1, numpys(np.array([1, 2, 3, 4], "u1"))
big = np.array([1.0, 2.0], ">f8")
long, day, text = np.array([1, 2], np.longdouble), np.array(["2024-01-01"], "M8[D]"), np.array(["a", "b"])
mixed = np.array([1, "a", None, 2.5], object)
half, swapped, words, whole, many = v.astype("f2"), v.astype(">f8"), v.astype("U4"), v.astype(object), np.zeros(1000)
o, w = np.zeros(4), numpys(np.ones(4))
for line in """
x + v
v + x
x - f
f - x
x @ v
v @ x
A @ V
V @ A
A * v[:2]
v[:2] / A
x == v
v < x
x ** j
u + x
u + i
u << i
z * x
x * z
big + x[:2]
x[:2] + big
x[:2] * long
long + x[:2]
x + v[:3]
v[:3] + x
x & v
mixed * x
x[:1] + day
v @ A.repeat(2, 0).repeat(2, 1)
x ** j
np.arctan2(v, x), np.hypot(x, v), np.float64(2) * v, v[0] * x
np.matmul(V, A, out=A) is A, A
half + x, half + i, x + half, swapped + x, x + swapped
words == x
whole + x
v[:0] @ x[:0], v[:, None] + x, v[:1].reshape(()) + x, (v - x).base
v @ x[:3]
v.reshape(2, 2) + x
(many + v[:1]).sum(), (v[:1] + many)[-3:], np.broadcast_to(v[:1], 1000)[:4] + x
A @ sparse.csr_array(A).data[:2]
inplace(x, j), inplace(i, j), inplace(j, i), inplace(x, swapped)
inplace(i, v)
inplace(x, words)
np.add(x, v)
np.add(v, x)
np.add(v, v)
np.add(v, 1)
np.add(2.5, v)
np.add(v, np.float32(1))
np.divide(u, 2)
np.add(u, 300)
np.maximum(f, x)
np.sin(v), np.sin(f), np.isnan(z), np.abs(z), np.negative(u)
np.modf(v)
np.divmod(v, 2)
np.divmod(x, v)
np.sin(V[0, 0]), np.sin(v[1:2].reshape(()))
np.sqrt(text)
np.add(text, x)
np.sin(big), np.sin(long), np.isnat(day)
np.matmul(V, x[:2])
np.add.reduce(v), np.add.accumulate(v), np.add.outer(v, x), np.add.reduce(V, axis=1)
np.add.at(o, j, v), o
np.add.at(w, i, x), w
inplace(x, v)
inplace(v, x)
inplace(v, 2)
inplace(x, z)
inplace(u, x)
inplace(A, V, "__imul__")
np.add(x, v, out=o) is o, o
np.add(x, x, out=w) is w, w
np.add(v, v, w) is w, w
np.sin(x, out=w) is w, w
np.sin(v, out=o) is o, o
np.add(v, x, v) is v, v
np.add(v[1:], x[1:], v[:-1]), v
np.add(x, z, out=w)
np.add(x, A, out=w)
np.modf(x, out=(w, o)), w, o
np.dot(x, v), np.dot(V, A), x.dot(v), v.dot(x)
np.where(b, x, v), np.where(m, v, f), np.where(v > 1)
np.concatenate((x, v)), np.stack([v, x]), np.hstack([v, v])
np.array(v), np.array(v) is v, np.array([x, v]), np.array([v, v]), np.array(v, "f4"), np.array(u, float)
np.asarray(v, "f4"), np.asarray(v, complex)
np.copy(v), np.zeros_like(v), np.ones_like(u), np.full_like(f, 3), np.empty_like(V).shape
x[j], x[b], A[j[1:3], j[1:3]]
v[i], v[m], V[i[1:3]]
np.copyto(o, v), o
np.copyto(w, x), w
np.put(o, j, v), o
np.sum(v), np.sum(u), np.max(f), np.mean(V, axis=0), np.std(v), np.any(b), np.argmax(u), np.sum(V, axis=1, keepdims=True)
np.sort(v), np.argsort(v), np.unique(j), np.unique(j, return_counts=True), np.bincount(j), np.bincount(j, weights=x)
np.interp(x, v, v), np.searchsorted(v, x), np.searchsorted(x, v), np.digitize(v, x)
np.diff(v), np.cumsum(u), np.diff(v, prepend=x[:1]), np.clip(v, 0, 1), np.clip(v, x, 3), np.clip(x, 0, v)
np.average(x, weights=v), np.sum(x, where=b), np.round(v, 1), np.append(x, v), np.outer(x, v), np.kron(A, V)
np.linalg.norm(v), np.linalg.solve(V, x[:2]), np.linalg.inv(V), np.linalg.eigh(V + V.T), np.linalg.slogdet(V)
np.einsum("ij,j", V, x[:2]), np.tensordot(V, A, 1), np.trace(V), np.histogram(v, 3), np.allclose(x, v), np.array_equal(v, v)
np.linspace(v[0], v[1], 3), np.linspace(v[:2], x[:2], 2), np.full(2, v[:2]), np.nan_to_num(v)
np.real_if_close(v) is v, np.trim_zeros(v), np.atleast_1d(v) is v, np.squeeze(v[:1]), np.real(v) is v
np.reshape(v, (2, 2)), np.ravel(V), np.transpose(V), np.broadcast_to(v, (2, 4)), np.split(v, 2), np.diagonal(V)
np.shares_memory(np.reshape(v, (2, 2)), v), np.shares_memory(np.ravel(V), V), np.shares_memory(np.transpose(V), V)
np.sort(text), np.unique(text), np.concatenate([text, text]), np.max(day), np.diff(day), np.sum(long)
np.sort(mixed[:1]), np.sum([v, v], axis=0), np.mean([x, v]), np.max([v[0], x[1]])
np.dot(v, v[:3])
np.concatenate([v, V])
np.sum(v, axis=3)
np.median(v), np.percentile(v, 50), np.median(v, overwrite_input=True)
""".strip().splitlines():
    x[:], i[:], m[:], A[:] = range(4), [3, 0, 1, 1], [0, 1, 0, 1], [[1, 2], [3, 4]]
    v[:], j[:], V[:], u[:], o[:], w[:] = [0.5, 1.5, 2.5, 3.5], [3, 0, 1, 1], [[2, 4], [6, 8]], [1, 2, 3, 4], 9, 1
    try:
        made = eval(line)
    except Exception as error:
        made = type(error).__name__, str(error)
    print(line, tell(made), x[:2].tolist(), o[:1].tolist(), v.tolist(), w.tolist())

v.flags.writeable = False
for line in ("np.add(x, x, out=v)", "inplace(v, x)", "np.add.at(v, i, 1)", "np.copyto(v, x)"):
    try:
        print(eval(line))
    except Exception as error:
        print(line, type(error).__name__, error)
V[:] = 3
late = A * V  # what is pending reads its memory
np.add(A, A, out=V)
print(late.tolist(), V.tolist())
made = np.sin(V)
V[0] = 99
print(made.tolist())
'''


def test_numpys_arrays_meet_ours(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    prints_as_plainly(zygotes, backend, SCRIPT, tmp_path, (), ("--execution", "fused", "--min-size", "1"))


COUNTED = '''
import numpy as np
from scipy import sparse
from arraydispatch import fastpath

x, v = np.arange(4.0), sparse.csr_array(np.arange(1.0, 5.0)[None]).data
for line in """
x + v
v + x
x @ v
np.add(x, v)
np.add(v, v)
np.sin(v)
np.dot(v, x)
np.sum(v)
np.where(x > 1, v, x)
np.concatenate((x, v))
np.array(v)
x.dot(v)
np.add.reduce(v)
np.zeros_like(v)
np.multiply(x, v, out=x)
np.multiply(x, x, out=v)
v.__iadd__(x)
x.__iadd__(v)
""".strip().splitlines():
    eval(line)  # the first call may make what the next ones use
    before = fastpath.calls()
    eval(line)
    print(line, fastpath.calls() - before >= 1)
'''


def test_such_calls_take_the_thin_path(zygotes: Zygotes, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(COUNTED)
    ours = zygotes.of("numpy").run("script.py", cwd=tmp_path)
    assert ours.code == 0, ours.stderr
    assert "False" not in ours.stdout, ours.stdout
