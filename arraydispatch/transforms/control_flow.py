"""``while_loop`` and ``host_call``: loops and host functions inside programs, where values are not concrete."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends.base import Backend, Native
from ..common import tracing
from ..common.pytrees import Structure, tree_flatten, tree_paths, tree_unflatten
from ..memory import views
from ..runtime import conversion
from .flattening import Body, Given, Input, Traced, dressed, is_array, library_of, name_of, native_of


def while_loop(
    going: Callable[[Any], Any], step: Callable[[Any], Any], state: Any, max_iter: int | Sequence[int] | None = None,
) -> Any:  # fmt: skip
    """Run ``while going(state): state = step(state)``; if values are traced, as a loop of the library.

    Parameters
    ----------
    going : callable
        Takes the state and returns one truth value.
    step : callable
        Takes the state and returns the next one: a pytree of the same structure, shapes and dtypes.
    state : pytree
        Arrays and numbers.
    max_iter : int or sequence of int, optional
        Maximum number of steps. A non-decreasing sequence sets checkpoints: the result then has a first axis with the state
        after each of these numbers of steps (the last state, if the loop has ended before).

    Returns
    -------
    pytree
        A pytree like ``state``.

    Raises
    ------
    TypeError
        If a step changes the structure, a shape or a dtype of the state in a compiled program.
    TraceError
        If PyTorch records a program (under :func:`arraydispatch.jit`) and there is no ``max_iter``: its programs unroll loops.
    ValueError
        If ``max_iter`` is negative, or checkpoints decrease.

    Notes
    -----
    If values are concrete (not traced), also inside :func:`arraydispatch.grad`, Python runs the loop, and dtypes may change between steps.
    Derivatives of a compiled loop need ``max_iter`` on JAX.
    """
    most, checkpoints = _steps(max_iter)
    leaves, structure = tree_flatten(state)
    backend = library_of(leaves)
    if _are_concrete(leaves, backend):
        run: Callable[[Any, int | None], Any] = _PythonLoop(going, step)
    else:
        run = _Program(going, step, leaves, structure, backend)
    if checkpoints is None:
        return run(state, most)
    found, taken = [], 0
    for n in checkpoints:
        state = run(state, n - taken)
        found.append(tree_flatten(state)[0])
        taken = n
    return tree_unflatten(structure, [np.stack(values) for values in zip(*found)])


def _steps(max_iter: int | Sequence[int] | None) -> tuple[int | None, list[int] | None]:
    if max_iter is None or isinstance(max_iter, int):
        if max_iter is not None and max_iter < 0:
            raise ValueError(f"max_iter of ad.while_loop is {max_iter}; it may not be negative.")
        return max_iter, None
    checkpoints = [int(n) for n in max_iter]
    if not checkpoints or checkpoints[0] < 0 or checkpoints != sorted(checkpoints):
        raise ValueError(
            f"checkpoints of ad.while_loop may not decrease, nor be negative or none; max_iter is {checkpoints}."
        )
    return None, checkpoints


def _are_concrete(leaves: Sequence[Any], backend: Backend) -> bool:
    """Whether Python can run a loop: no value that the loop may read is traced, except by a derivative, whose values are concrete."""
    if backend.native_is_ndarray:
        return True
    if any(t.staged and t.backend is backend for t in tracing.entered()):
        return False
    for x in leaves:
        native = views.native(x) if isinstance(x, Handle) else x
        held = x._kind.backend if isinstance(x, Handle) else backend
        if held.is_native(native) and not held.is_concrete(native) and not _is_taped():
            return False
    return True


def _is_taped() -> bool:
    """Whether the innermost transform in force is a derivative whose values are concrete."""
    trace = tracing.current()
    return trace is not None and not trace.staged


class _PythonLoop:
    """Loop that Python runs, because its values are concrete: ``step`` on the state while ``going`` is true of it."""

    def __init__(self, going: Callable[[Any], Any], step: Callable[[Any], Any]) -> None:
        self.going, self.step = going, step

    def __call__(self, state: Any, most: int | None) -> Any:
        taken = 0
        while taken != most and self.going(state):
            state = self.step(state)
            taken += 1
        return state


class _Program:
    """Loop that is part of a library's program: ``step`` on the state while ``going`` is true of it."""

    def __init__(
        self, going: Callable[[Any], Any], step: Callable[[Any], Any], leaves: list[Any], structure: Structure,
        backend: Backend,
    ) -> None:  # fmt: skip
        self.backend, self.structure, self.step = backend, structure, step
        for path, x in zip(tree_paths(tree_unflatten(structure, leaves), "state"), leaves):
            if not is_array(x) and not isinstance(x, int | float | complex):
                raise TypeError(f"{path} of ad.while_loop is a {type(x).__name__}; the state is of arrays and numbers.")
        self.slots = [Input.of(x) for x in leaves]
        whole = tree_flatten(((tree_unflatten(structure, leaves),), {}))[1]
        self.bodies = {fun: Body(fun, "ad.while_loop", whole, self.slots, backend, True) for fun in (going, step)}
        self.going = going

    def __call__(self, state: Any, most: int | None) -> Any:
        backend = self.backend
        with backend.within():
            natives = [native_of(x, backend) for x in tree_flatten(state)[0]]
            made = backend.transforms.loop(self._goes_on, self._next, natives, most)
        dressed_up = [dressed(x, backend, slot.scalar, slot.standard) for x, slot in zip(made, self.slots)]
        return tree_unflatten(self.structure, dressed_up)

    def _run(self, fun: Callable[[Any], Any], natives: Sequence[Native]) -> list[Native]:
        """Run a function of the state; return its result as native arrays."""
        body, backend = self.bodies[fun], self.backend
        outs, written = body(natives)
        values, made = iter(outs), []
        for output in body.outputs[0]:
            if type(output) is Traced:
                made.append(next(values))
            elif type(output) is Given:
                at = output.at
                made.append(written[body.written.index(at)] if at in body.written else natives[at])
            else:
                made.append(native_of(output.value, backend))
        return made

    def _goes_on(self, natives: Sequence[Native]) -> Native:
        made = self._run(self.going, natives)
        if len(made) != 1 or self.backend.shape_of(made[0]) != ():
            raise TypeError(f"{name_of(self.going)} of ad.while_loop must return one truth value.")
        return self.backend.prim.astype(made[0], np.dtype(bool))

    def _next(self, natives: Sequence[Native]) -> list[Native]:
        made, backend = self._run(self.step, natives), self.backend
        if self.bodies[self.step].structures[0] != self.structure:
            raise TypeError(
                f"{name_of(self.step)} of ad.while_loop must return a state with the structure of its argument."
            )
        paths = tree_paths(tree_unflatten(self.structure, list(range(len(made)))), "state")
        for path, before, after in zip(paths, natives, made):
            was, now = ((backend.dtype_of(x), backend.shape_of(x)) for x in (before, after))
            if was != now:
                raise TypeError(
                    f"{name_of(self.step)} of ad.while_loop changes {path} from {was[0]}{list(was[1])} to "
                    f"{now[0]}{list(now[1])}; in a compiled program shapes and dtypes stay: begin with those of the result."
                )
        return made


# -- the host ------------------------------------------------------------------------------------------------------------


def host_call(fun: Callable[..., Any], like: Any, *args: Any) -> Any:
    """Call ``fun(*args)`` on the host, also from inside a program.

    Parameters
    ----------
    fun : callable
        Takes read-only NumPy arrays in pytrees like ``args``, and returns a pytree like ``like``. It should depend only on
        its arguments: a program may call it any number of times.
    like : pytree
        Objects with the ``shape`` and ``dtype`` of the result of ``fun``, for instance ``np.empty((3,), float)``.
    *args : pytree
        Arrays and numbers.

    Returns
    -------
    pytree
        A pytree like ``like``, of arrays on the backend of ``args``.

    Raises
    ------
    TypeError
        If ``fun`` returns another structure, shape or dtype than ``like`` says.
    TraceError
        If a derivative depends on an argument: host functions have none.

    Notes
    -----
    Under :func:`arraydispatch.vmap` ``fun`` is called once for all examples, on arrays with a leading batch axis; the result
    must have that axis too. On the numpy backend it is called once for each example.
    """
    leaves, structure = tree_flatten(args)
    wanted, result = tree_flatten(like)
    specs = [(tuple(x.shape), np.dtype(x.dtype)) for x in wanted]
    backend = library_of(leaves)
    trace = tracing.current()
    natives: list[Native] = []
    places: list[int] = []
    for i, x in enumerate(leaves):
        if is_array(x) or isinstance(x, float | complex):
            natives.append(native_of(x, backend))
            places.append(i)
    if trace is not None and not trace.staged and any(map(backend.followed, natives)):
        raise tracing.refusal(tracing.HOST_CALL)

    def on_host(values: Sequence[np.ndarray[Any, Any]], lead: int = 0) -> list[np.ndarray[Any, Any]]:
        given = list(leaves)
        for i, value in zip(places, values):
            seen = np.asarray(value).view()  # TensorFlow passes numbers as NumPy scalars
            seen.flags.writeable = False
            given[i] = seen
        made, found = tree_flatten(fun(*tree_unflatten(structure, given)))
        if found != result:
            raise TypeError(f"{name_of(fun)} returns to ad.host_call another structure than like= has.")
        return [_as_told(x, spec, lead, fun) for x, spec in zip(made, specs)]

    def in_program(values: Sequence[np.ndarray[Any, Any]], lead: int = 0) -> list[np.ndarray[Any, Any]]:
        try:
            return on_host(values, lead)
        except Exception as error:
            tracing.failed(error)
            raise

    with backend.within():
        if all(backend.is_concrete(x) for x in natives) and not any(
            t.staged and t.backend is backend for t in tracing.entered()
        ):
            hosts = [conversion.download(backend, x, "ad.host_call") for x in natives]
            outs = [native_of(x, backend) for x in on_host(hosts)]
        else:
            outs = backend.transforms.call_host(in_program, natives, specs)
        return tree_unflatten(result, [dressed(x, backend, False) for x in outs])


def _as_told(x: Any, spec: tuple[tuple[int, ...], np.dtype[Any]], lead: int, fun: Any) -> np.ndarray[Any, Any]:
    """Return a result in the declared dtype; raise TypeError unless it has the declared shape after ``lead`` batch axes and can be cast."""
    made, (shape, dtype) = np.asarray(x), spec
    if made.shape[lead:] != shape or made.ndim != lead + len(shape) or not np.can_cast(made.dtype, dtype, "same_kind"):
        raise TypeError(
            f"{name_of(fun)} returns {made.dtype}{list(made.shape)} to ad.host_call, where like= has {dtype}{list(shape)}"
            + (" for each example, the leading axis." if lead else ".")
        )
    return np.ascontiguousarray(made, dtype).reshape(made.shape)
