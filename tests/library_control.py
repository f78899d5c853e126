"""A library that is watched, or broken on purpose, from below: at its own dispatcher.

Nothing here reads arraydispatch's own counters. "Broken" means that every floating sum of two arrays is one thousandth too
large, and that every entry of every matrix product is one half.
"""

from __future__ import annotations

import importlib
from collections import Counter
from typing import Any

FACTOR = 1.001
ENTRY = 0.5

Broken = frozenset[str]
elements: Counter[str] = Counter()
"""How many elements each operation of torch has made."""


def torch_mode(broken: Broken) -> Any:
    """A mode below every torch function: counts the elements that each made, and breaks what is asked."""
    torch = importlib.import_module("torch")
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watch(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            name = func.overloadpacket.__name__
            if isinstance(result, torch.Tensor):
                elements[name] += result.numel()
                if result.dtype.is_floating_point:
                    if "add" in broken and name in {"add", "add_", "addmm"}:
                        result.mul_(FACTOR)
                    if "matmul" in broken and name in {"mm", "bmm", "mv", "dot", "addmm", "baddbmm"}:
                        result.fill_(ENTRY)
            return result

    return Watch()


def import_compiler() -> None:
    """Have torch import what its compiler and its modes need, which takes it two seconds, and try what a C++ compiler knows."""
    torch = importlib.import_module("torch")
    for name in "compile_fx codegen.cpp codegen.cpp_wrapper_cpu fx_passes.joint_graph fx_passes.post_grad".split():
        importlib.import_module(f"torch._inductor.{name}")
    importlib.import_module("torch._inductor.cpu_vec_isa").valid_vec_isa_list()
    with torch_mode(frozenset()):
        torch.ones(1).neg()
    elements.clear()


def break_jax(broken: Broken) -> None:
    """Replace the rules by which JAX hands ``add`` and ``dot_general`` to its compiler."""
    jax = importlib.import_module("jax")
    lax = jax.lax
    mlir = importlib.import_module("jax.interpreters.mlir")
    primitives = importlib.import_module("jax.extend.core").primitives

    def add(x: Any, y: Any) -> Any:
        total = lax.sub(x, lax.neg(y))
        return total * FACTOR if jax.numpy.issubdtype(total.dtype, jax.numpy.floating) else total

    def dot_general(ctx: Any, x: Any, y: Any, **_: Any) -> Any:
        out = ctx.avals_out[0]
        fill = mlir.lower_fun(lambda *_: lax.full(out.shape, ENTRY, out.dtype), multiple_results=False)
        return fill(ctx, x, y)

    if "add" in broken:
        mlir.register_lowering(primitives.add_p, mlir.lower_fun(add, multiple_results=False))
    if "matmul" in broken:
        for platform in (None, "cpu"):
            mlir.register_lowering(primitives.dot_general_p, dot_general, platform=platform)


def break_tensorflow(broken: Broken) -> None:
    """Replace the one function through which TensorFlow's eager operations are executed."""
    tf = importlib.import_module("tensorflow")
    module = importlib.import_module("tensorflow.python.pywrap_tfe")
    fast, slow = module.TFE_Py_FastPathExecute, module.TFE_Py_Execute

    def spoil(name: str, result: Any) -> Any:
        one = result[0] if isinstance(result, list) and len(result) == 1 else result
        if getattr(getattr(one, "dtype", None), "is_floating", False):
            if "add" in broken and name in {"Add", "AddV2"}:
                one = tf.multiply(one, tf.constant(FACTOR, one.dtype))
            elif "matmul" in broken and name in {"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum"}:
                one = tf.fill(tf.shape(one), tf.constant(ENTRY, one.dtype))
        return [one] if isinstance(result, list) and len(result) == 1 else one

    def fast_path(context: Any, name: str, *rest: Any) -> Any:
        return spoil(name, fast(context, name, *rest))

    def execute(context: Any, device: Any, name: str, *rest: Any) -> Any:
        return spoil(name, slow(context, device, name, *rest))

    module.TFE_Py_FastPathExecute, module.TFE_Py_Execute = fast_path, execute


def break_numpy(broken: Broken) -> None:
    """NumPy's ufuncs are what dispatch itself is keyed by, so here the backend's kernels are replaced."""
    import numpy as np

    from arraydispatch.backends import loader

    backend = loader.load("numpy")
    real_add, real_matmul = backend.UFUNCS[np.add], backend.prim.matmul

    def add(a: Any, b: Any, *rest: Any, **named: Any) -> Any:
        total = real_add(a, b, *rest, **named)
        return np.multiply(total, FACTOR, **named) if np.asarray(total).dtype.kind == "f" else total

    def matmul(a: Any, b: Any) -> Any:
        return np.full_like(real_matmul(a, b), ENTRY)

    if "add" in broken:
        backend.UFUNCS[np.add] = add
    if "matmul" in broken:
        backend.prim.matmul = matmul  # type: ignore[attr-defined]


_BREAK = {"jax": break_jax, "tensorflow": break_tensorflow, "numpy": break_numpy}


def begin(backend: str, broken: Broken) -> None:
    """Watch the library, if it is torch, and break ``add`` or ``matmul`` of it, until the process ends."""
    if backend == "torch":
        torch_mode(broken).__enter__()
    else:
        _BREAK[backend](broken)
