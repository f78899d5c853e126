import numpy as np
import jax, jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
def t(name, f):
    try:
        r = f()
        kind = type(r).__module__.split(".")[0], type(r).__name__
        print(name, *kind, r if isinstance(r, (str, tuple)) else np.round(np.asarray(r), 9).tolist())
    except Exception as error:
        print(name, type(error).__name__)
x = np.arange(4.0)
C = np.array([1.0, 2.0, 3.0, 4.0])
@jax.jit
def a(v): return jnp.sin(v) + C
@jax.jit
def b(v): return v.at[0].set(5.0)
@jax.jit
def c(v): return v * np.pi + np.float64(2) + np.array([1.0])
@jax.jit
def d(v): return jnp.sum(v) / np.sqrt(2.0)
@jax.jit
def e(v): return np.sin(v)
@jax.jit
def f(v): return v + np.arange(4)
@jax.jit
def g(v, n=np.zeros(2)): return v[:2] + n
@jax.jit
def h(v): return v.astype(np.float32) + jnp.zeros(4, dtype=np.float32) + jnp.asarray(C, dtype=np.float32)
@jax.jit
def i(v): return jnp.where(v > 1, v, np.inf) * np.eye(4)
@jax.jit
def j(v):
    return isinstance(v, np.ndarray), jnp.dot(C, v)
for n, q in (("a", a), ("b", b), ("c", c), ("d", d), ("e", e), ("f", f), ("g", g), ("h", h), ("i", i)):
    t(n, lambda: q(x)); t(n + " jnp", lambda: q(jnp.asarray(x)))
t("j", lambda: str(j(x)[1]))
t("grad", lambda: jax.grad(lambda v: jnp.sum(v ** 2))(x))
t("grad arr", lambda: jax.grad(lambda v: jnp.sum(jnp.array(np.ones(4)) * v))(x))
t("vmap", lambda: jax.vmap(lambda v: v + 1)(x))
t("vmap C", lambda: jax.vmap(lambda v: v * C)(x))
t("scan", lambda: jax.lax.scan(lambda s, v: (s + v, s), 0.0, x)[1])
t("scan2", lambda: jax.lax.scan(lambda s, v: (s + C, v), C, x)[0])
t("fori", lambda: jax.lax.fori_loop(0, 3, lambda k, v: v + C, x))
t("cond", lambda: jax.lax.cond(True, lambda v: v + C, lambda v: v, x))
t("tree", lambda: str(jax.tree_util.tree_leaves({"a": x, "b": [C]})))
t("treemap", lambda: jax.tree_util.tree_map(lambda v: v * 2, {"a": x})["a"])
t("jit static", lambda: jax.jit(lambda v, k: v + k, static_argnums=1)(x, 3))
t("dev put", lambda: jax.device_put(x))
t("jnp fn", lambda: jnp.sin(x))
t("jnp stack", lambda: jnp.stack([x, x]))
t("jnp add", lambda: jnp.ones(4) + x)
t("jnp add r", lambda: x + jnp.ones(4))
t("np on jax", lambda: np.sin(jnp.ones(4)))
t("make_jaxpr", lambda: str(jax.make_jaxpr(lambda v: v + C)(x)))
t("eval_shape", lambda: str(jax.eval_shape(lambda v: v + C, x)))
t("value_and_grad", lambda: jax.value_and_grad(lambda p: jnp.mean((p * x - C) ** 2))(2.0)[0])
class M:
    w = np.ones(4)
t("method", lambda: jax.jit(lambda v: v * M.w)(x))
J = jnp.arange(4.0)
t("index", lambda: jnp.stack([J[np.array([0, 2])], J[np.arange(4) > 1], J.at[np.array([0, 1])].set(np.ones(2))[:2]]))
t("hessian", lambda: jax.hessian(lambda v: jnp.sum(jnp.sin(v) * np.arange(3)))(np.ones(3)))
t("np of both", lambda: np.add(J, x) + np.concatenate([J[:1], x[1:]]) + np.where(J > 1, x, np.dot(J, x)) + np.array([J, x])[1])
