"""JAX's transforms, on functions of lists of native arrays. See ``TRANSFORMS`` in ``backends/base.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, NoReturn

import jax
import jax.numpy as jnp
import numpy as np

from ...common import tracing
from ...common.errors import TraceError
from . import compiler_options, shardings, staged_reductions
from .collectives import Collectives

Array = Any
Run = Callable[[list[Array]], tuple[list[Array], list[Array]]]

REFUSALS: tuple[type[Exception], ...] = (jax.errors.JAXTypeError, jax.errors.JAXIndexError)
"""JAX's errors for a request for the value of a tracer."""


def is_refusal(error: Exception) -> bool:
    return True


def _conjugates(values: Sequence[Array]) -> list[Array]:
    """Conjugate complex cotangents: JAX pulls back without conjugation, but gradients of this package are directions of steepest ascent."""
    return [jnp.conj(x) if jnp.iscomplexobj(x) else x for x in values]


def differentiate(
    f: Run, primals: Sequence[Array], once: bool
) -> tuple[list[Array], list[Array], Callable[..., list[Array]]]:
    outs, back, extra = jax.vjp(lambda *natives: f(list(natives)), *primals, has_aux=True)

    def pull(cotangents: Sequence[Array] | None, many: bool = False) -> list[Array]:
        given = [jax.lax.full_like(x, 1) for x in outs] if cotangents is None else _conjugates(cotangents)
        try:
            return _conjugates(jax.vmap(back)(given) if many else back(given))
        except ValueError as error:
            if "Reverse-mode differentiation does not work for lax.while_loop" not in str(error):
                raise
            raise TraceError(
                f"JAX cannot differentiate a loop with an unknown number of steps, such as ad.while_loop at {_uncounted.get()}; "
                "say max_iter."
            ) from None

    return outs, extra, pull


def jit(f: Run, examples: Sequence[Array]) -> Callable[[list[Array]], tuple[list[Array], list[Array]]]:
    compiled = jax.jit(lambda *natives: f(list(natives)))
    chosen: Any = None
    told = Collectives(compiled)

    def run(natives: list[Array]) -> tuple[list[Array], list[Array]]:
        nonlocal chosen
        if shardings.meshes_in_force:
            told.note(natives)
        try:
            if any(isinstance(x, jax.core.Tracer) for x in natives):  # JAX has no derivative of the other form
                return compiled(*natives)
            if chosen is None:
                choice = staged_reductions.choice(compiled, natives, jax.jit)
                chosen = told.compiled = compiled if choice is None else choice(natives)
            return chosen(*natives)
        except jax.errors.JaxRuntimeError as error:
            found = tracing.cause(error)
            if found is error:
                raise
        raise found

    run.collectives = told  # type: ignore[attr-defined]
    return run


def abstract(f: Any, specs: Sequence[Any], device: Any) -> list[tuple[tuple[int, ...], np.dtype[Any]]]:
    made = jax.eval_shape(lambda *natives: f(list(natives)), *[jax.ShapeDtypeStruct(*spec) for spec in specs])
    return [(x.shape, x.dtype) for x in made]


def program(f: Any, specs: Sequence[Any], device: Any, spare: Sequence[int]) -> Callable[[list[Any], list[Any]], None]:
    def traced(*natives: Array) -> list[Array]:
        given = set(map(id, natives))
        made = f(list(natives))
        # JAX returns an operand that is a result as the same array, and one array for two results.
        return [jnp.copy(x) if id(x) in given or given.add(id(x)) else x for x in made]  # type: ignore[func-returns-value]

    examples = [jax.ShapeDtypeStruct(*spec) for spec in specs]
    jitted = partial(compiler_options.compiled, examples=examples, donate_argnums=tuple(spare), keep_unused=True)
    compiled = jitted(traced)
    choice = staged_reductions.choice(compiled, examples, jitted)
    called = False
    told = Collectives(compiled)

    def run(natives: list[Any], made: list[Any]) -> None:
        nonlocal called, choice, compiled
        if choice is not None:
            compiled = told.compiled = choice(natives)
            choice = None
        if shardings.meshes_in_force:
            told.note(natives)
        if spare and not called:  # the first call goes through Python, where a signal would lose operands and results
            for at in spare:
                natives[at] = jnp.copy(natives[at])
        made.extend(map(compiled, *[[x] for x in natives]))
        called = True
        if shardings.meshes_in_force:
            made[-1] = [*map(shardings.placed, made[-1])]

    def cost() -> dict[str, float]:
        found = compiled.lower(*examples).compile().cost_analysis() or {}
        return {"bytes": found.get("bytes accessed", 0.0), "operations": found.get("flops", 0.0)}

    run.cost = cost  # type: ignore[attr-defined]
    run.collectives = told  # type: ignore[attr-defined]
    return run


_uncounted: ContextVar[str] = ContextVar("arraydispatch_uncounted", default="?")
"""Line of the last loop without ``max_iter`` through which a derivative is taken."""


def loop(going: Any, step: Any, state: Sequence[Array], most: int | None) -> list[Array]:
    """Run ``step`` on the state while ``going`` is true of it, at most ``most`` times (None: no limit); return the state.

    If a derivative is taken and ``most`` is given, the loop is a scan: JAX cannot differentiate ``while`` in reverse.
    """
    differentiated = any(not t.staged for t in tracing.entered())
    if most is None and differentiated:
        _uncounted.set(tracing.user_line())
    if most is not None and differentiated:

        def once(held: list[Array], _: None) -> tuple[list[Array], None]:
            return jax.lax.cond(going(held), step, list, held), None

        return jax.lax.scan(once, list(state), None, most)[0]
    if most is None:
        return jax.lax.while_loop(going, step, list(state))
    counted = jax.lax.while_loop(
        lambda held: (held[0] < most) & going(held[1]), lambda held: (held[0] + 1, step(held[1])), (0, list(state))
    )
    return counted[1]


def call_host(f: Any, natives: Sequence[Array], specs: Sequence[Any]) -> list[Array]:
    dims = [x.ndim for x in natives]

    def run(*values: Any) -> list[Any]:
        hosts = [np.asarray(x) for x in values]
        return f(hosts, max((x.ndim - n for x, n in zip(hosts, dims)), default=0))

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def called(*natives: Array) -> list[Array]:
        return jax.pure_callback(
            run, [jax.ShapeDtypeStruct(*spec) for spec in specs], *natives, vmap_method="broadcast_all"
        )

    line = tracing.user_line()  # the line is no longer known when the program's derivative is taken

    @called.defjvp  # type: ignore[untyped-decorator]
    def _(primals: Any, tangents: Any) -> NoReturn:
        raise tracing.refusal(tracing.HOST_CALL, line)

    return called(*natives)


def with_gradient(f: Run, back: Any, natives: Sequence[Array]) -> list[Array]:
    @jax.custom_vjp  # type: ignore[untyped-decorator]
    def run(*values: Array) -> list[Array]:
        return f(list(values))[0]

    def forward(*values: Array) -> Any:
        outs = run(*values)  # not `f`: a second derivative must use the user's rule too
        return outs, (list(values), outs)

    def backward(held: Any, cotangents: Sequence[Array]) -> Any:
        grads = _conjugates(back(*held, _conjugates(cotangents)))
        return tuple(
            g if jnp.issubdtype(x.dtype, jnp.inexact) else np.zeros(x.shape, jax.dtypes.float0)
            for g, x in zip(grads, held[0])
        )

    run.defvjp(forward, backward)
    return run(*natives)


def vectorize(f: Run, natives: Sequence[Array], size: int) -> tuple[list[Array], list[Array]]:
    return jax.vmap(lambda *examples: f(list(examples)), axis_size=size)(*natives)


def number(host: np.ndarray[Any, Any], upload: Callable[[Any], Array]) -> Any:
    """Return ``host``, a number, unchanged: JAX converts it at a third of the cost of uploading it as an array."""
    return host


def signature(a: Array) -> Any:
    return (a.shape, shardings.in_force()) if shardings.meshes_in_force else a.shape


def nests(traces: Sequence[Any]) -> bool:
    return True


def parameters(module: Any) -> dict[str, Array] | None:
    """Return None: JAX has no modules that hold parameters."""
    return None


def apply(module: Any, params: Any, args: Any, kwargs: Any) -> Any:
    if not callable(getattr(module, "apply", None)):
        raise TypeError(f"a {type(module).__name__} has no apply(params, ...), by which JAX's modules take parameters")
    return module.apply(params, *args, **kwargs)


def stop_gradient(a: Array) -> Array:
    return jax.lax.stop_gradient(a)
