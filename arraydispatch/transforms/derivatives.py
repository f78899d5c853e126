"""``grad``, ``value_and_grad``, ``jacobian``, ``hessian``: derivatives by the library that holds the arguments."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from .._core.handles import Handle
from ..backends.base import Backend, Native
from ..common.pytrees import Structure, flatten_call, leaves_of, parts_of, tree_leaves, tree_paths, tree_unflatten
from .flattening import Body, Given, Input, Traced, dressed, is_array, library_of, name_of

Argnums = int | Sequence[int]


def grad(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the gradient of a function written with NumPy.

    Parameters
    ----------
    fun : callable
        Takes pytrees of arrays and returns one real number: a scalar or a 0-d array.
    argnums : int or sequence of int
        Positional arguments to differentiate with respect to: pytrees of floating or complex arrays.
    has_aux : bool
        Whether ``fun`` returns a pair; only the first part is differentiated.
    holomorphic : bool
        Whether ``fun`` is a holomorphic function of complex numbers; the result is then its complex derivative.

    Returns
    -------
    callable
        A function of the same arguments. It returns the gradient, a pytree like the argument; for a sequence of ``argnums`` a
        tuple of them; with ``has_aux`` the pair (gradient, auxiliary data).

    Raises
    ------
    TypeError
        Raised by the callable if an argument is not of a floating dtype, if the result is not one real number, or if NumPy
        holds all arguments and is the default backend.
    TraceError
        Raised by the callable if a value is read in a way that would cut the derivative, or if ``fun`` writes a differentiated
        value to an array from outside.

    Notes
    -----
    The gradient for a complex argument ``z = x + iy`` is ``dL/dx + i dL/dy`` on every library: the direction in which ``L``
    grows fastest, so ``z - rate * gradient`` descends. (``jax.grad`` returns the conjugate.)

    Values are known while ``fun`` runs, so it may branch on them (``if x.sum() > 0``), but not compute with a number that
    was read from an array (``float(x[0])``).
    """
    asked = _Asked(fun, argnums, has_aux, holomorphic)

    @_like(fun)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, found = _value_and_grad(_Derivative("ad.grad", asked, args, kwargs), False)
        return (found, value[1]) if has_aux else found

    return gradient


def value_and_grad(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the value and the gradient of a function in one run.

    Parameters
    ----------
    fun, argnums, has_aux, holomorphic
        See :func:`grad`.

    Returns
    -------
    callable
        A function of the same arguments. It returns the pair (value, gradient); with ``has_aux`` the value is the result of
        ``fun``, the pair (value, auxiliary data).

    Raises
    ------
    TypeError, TraceError
        Raised by the callable; see :func:`grad`.
    """
    asked = _Asked(fun, argnums, has_aux, holomorphic)

    @_like(fun)
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        return _value_and_grad(_Derivative("ad.value_and_grad", asked, args, kwargs), True)

    return value_and_gradient


def jacobian(
    fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian, all first derivatives, of a function written with NumPy.

    Parameters
    ----------
    fun : callable
        Takes and returns pytrees of arrays; the results are floating.
    argnums, has_aux, holomorphic
        See :func:`grad`.

    Returns
    -------
    callable
        A function of the same arguments. It returns a pytree like the result, with each of its arrays replaced by a pytree like
        the argument, whose arrays have the shape ``result.shape + argument.shape``; with ``has_aux`` the pair (jacobian,
        auxiliary data).

    Raises
    ------
    TypeError
        Raised by the callable as for :func:`grad`, and if an argument and a result are complex without ``holomorphic=True``.
    TraceError
        Raised by the callable; see :func:`grad`.

    Notes
    -----
    For a complex argument of a real function each row is a gradient as :func:`grad` defines it; for a real argument of a
    complex function the result is ``d result / d argument``.
    """
    asked = _Asked(fun, argnums, has_aux, holomorphic)

    @_like(fun)
    def jacobian_of(*args: Any, **kwargs: Any) -> Any:
        return _jacobian("ad.jacobian", asked, args, kwargs)

    return jacobian_of


def hessian(fun: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return a function that computes the Hessian, all second derivatives, of a function written with NumPy.

    Parameters
    ----------
    fun : callable
        Takes pytrees of arrays and returns one real number.
    argnums, has_aux
        See :func:`grad`.

    Returns
    -------
    callable
        A function of the same arguments. It returns a pytree like the argument, with each of its arrays replaced by a pytree
        like the argument, whose arrays have the two shapes concatenated; for a sequence of ``argnums`` tuples of tuples; with
        ``has_aux`` the pair (hessian, auxiliary data). For a batch of Hessians: ``ad.vmap(ad.hessian(f))``.

    Raises
    ------
    TypeError, TraceError
        Raised by the callable as for :func:`grad`; TypeError also for complex arguments.
    """
    asked = _Asked(grad(fun, argnums, has_aux), argnums, has_aux)

    @_like(fun)
    def hessian_of(*args: Any, **kwargs: Any) -> Any:
        for i in asked.places:
            for leaf in tree_leaves(args[i]) if i < len(args) else ():
                if _dtype_of(leaf).kind == "c":
                    raise TypeError(
                        f"ad.hessian of {name_of(fun)} needs real arguments; take real and imaginary parts apart."
                    )
        return _jacobian("ad.hessian", asked, args, kwargs)

    return hessian_of


# -- one call ------------------------------------------------------------------------------------------------------------


def _places(argnums: Argnums) -> tuple[int, ...]:
    try:
        places = tuple(map(operator.index, argnums if isinstance(argnums, Sequence) else [argnums]))
    except TypeError:
        places = ()
    if not places or isinstance(argnums, bool):
        raise TypeError(f"argnums is an int or a sequence of ints, not {argnums!r}.")
    return places


def _like(fun: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that gives a transformed function the name and the documentation of ``fun``."""
    return functools.wraps(fun, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())


class _Asked:
    """The user's request: arguments with respect to which a function is differentiated."""

    def __init__(
        self, fun: Callable[..., Any], argnums: Argnums, has_aux: bool = False, holomorphic: bool = False
    ) -> None:
        self.fun = fun
        self.places = _places(argnums)
        self.several = isinstance(argnums, Sequence)
        self.parts = 1 + has_aux
        self.holomorphic = holomorphic
        self.known: dict[Any, _Arguments] = {}
        """Facts about the calls so far: structure of the arguments, with types and kinds of their leaves -> :class:`_Arguments`."""


class _Arguments(NamedTuple):
    """Facts derived from the structure of a call's arguments and the kinds of their arrays."""

    backend: Backend
    structure: Structure
    chosen: list[list[int]]
    """Leaves of each argument to differentiate with respect to."""
    structures: list[Structure]
    """Structures of these arguments."""
    every: list[int]
    """All leaves to differentiate with respect to."""
    inputs: dict[int, Input]
    """All leaves that are arrays inside the function."""


_MANY = 256
"""Maximum number of :class:`_Arguments` kept for one function."""


class _Derivative:
    """Call of a differentiated function, with arguments and keyword arguments. ``what``: the transform, for errors."""

    def __init__(self, what: str, asked: _Asked, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.what, self.asked, self.fun, self.holomorphic = what, asked, asked.fun, asked.holomorphic
        self.leaves, structure = flatten_call(args, kwargs)
        kinds: list[Any] = [structure]
        for x in self.leaves:
            kinds += (type(x), x._kind) if isinstance(x, Handle) else (type(x),)
        key = tuple(kinds)
        try:
            known, lasting = asked.known.get(key), True
        except TypeError:  # static fields of a dataclass that cannot be hashed
            known, lasting = None, False
        if known is None:
            known = self._looked_at(structure, args)
            if lasting and self._lasting(known):
                if len(asked.known) >= _MANY:
                    asked.known.clear()
                asked.known[key] = known
        self.known, self.backend, self.every = known, known.backend, known.every
        slots = list(self.leaves)
        for i, slot in known.inputs.items():
            slots[i] = slot
        self.body = Body(
            self.fun, what, structure, slots, self.backend, False, asked.parts, self.every, [*known.inputs]
        )
        self.natives = dict(zip(known.inputs, self.body.natives_of(self.leaves)))
        self.primals = [self.natives[i] for i in self.every]

    def _looked_at(self, structure: Structure, args: tuple[Any, ...]) -> _Arguments:
        places = tuple(i + len(args) if i < 0 else i for i in self.asked.places)
        for i in places:
            if not 0 <= i < len(args):
                raise TypeError(
                    f"{self.what} of {self.name} differentiates with respect to positional argument {i}; it was called with {len(args)}."
                )
        parts_of_args = parts_of(parts_of(structure)[0])
        ends = [*itertools.accumulate(map(leaves_of, parts_of_args))]
        chosen = [[*range(ends[i] - leaves_of(parts_of_args[i]), ends[i])] for i in places]
        every = sorted({i for group in chosen for i in group})
        self._check_dtypes(every, args)
        backend = library_of([self.leaves[i] for i in every] + self.leaves)
        inputs: dict[int, Input] = {}
        for i, leaf in enumerate(self.leaves):
            if isinstance(leaf, Handle):
                if leaf._kind.backend.home is backend or i in every:
                    inputs[i] = Input.of(leaf)
            elif i in every or backend.is_native(leaf) or self._is_one_of(leaf, every):
                inputs[i] = Input.of(leaf)
        return _Arguments(backend, structure, chosen, [parts_of_args[i] for i in places], every, inputs)

    def _is_one_of(self, leaf: Any, every: list[int]) -> bool:
        """Whether ``leaf`` is an ndarray that shares memory with a differentiated array, one of the leaves ``every``. That array would not
        see writes to the ndarray.
        """
        return isinstance(leaf, np.ndarray) and any(
            isinstance(self.leaves[k], np.ndarray) and np.may_share_memory(leaf, self.leaves[k]) for k in every
        )

    def _lasting(self, known: _Arguments) -> bool:
        """Whether the facts ``known`` hold for all calls with arrays of these kinds, because neither a default backend nor a value decided
        them.
        """
        return all(
            self.leaves[i]._kind.backend.home is known.backend
            if isinstance(self.leaves[i], Handle)
            else i not in known.every
            for i in range(len(self.leaves))
        ) and any(isinstance(self.leaves[i], Handle) for i in known.every)

    @property
    def name(self) -> str:
        """Name of the function in messages."""
        return name_of(self.fun)

    def _check_dtypes(self, every: list[int], args: tuple[Any, ...]) -> None:
        def path(at: int) -> str:
            return [path for i, x in enumerate(args) for path in tree_paths(x, f"argument {i}")][at]

        for i in every:
            leaf = self.leaves[i]
            if isinstance(leaf, Handle) and leaf._kind.dtype.kind == "f" and not self.holomorphic:
                continue
            if not is_array(leaf) and not isinstance(leaf, int | float | complex):
                raise TypeError(
                    f"{self.what} of {self.name} differentiates with respect to arrays and numbers; {path(i)} is a "
                    f"{type(leaf).__name__}: leave it out of the argument, or choose others with argnums."
                )
            dtype = _dtype_of(leaf)
            if dtype.kind in "biu":
                raise TypeError(
                    f"{self.what} of {self.name} differentiates with respect to real or complex numbers; {path(i)} is of dtype "
                    f"{dtype}: convert it with astype(float), or choose other arguments with argnums."
                )
            if self.holomorphic and dtype.kind != "c":
                raise TypeError(
                    f"{self.what} of {self.name} with holomorphic=True needs complex arguments; {path(i)} is of dtype "
                    f"{dtype}."
                )

    def forward(self, once: bool) -> tuple[list[Native], list[Native], Callable[..., list[Native]]]:
        """Run the function; return its results, its extra outputs (auxiliary data and writes), and its pullback. ``once``: the pullback will
        be called only once.
        """
        if self.body.inputs == self.every:
            return self.backend.transforms.differentiate(self.body, self.primals, once)

        def run(primals: list[Native]) -> tuple[list[Native], list[Native]]:
            return self.body([*(self.natives | dict(zip(self.every, primals))).values()])

        return self.backend.transforms.differentiate(run, self.primals, once)

    def results(self, outs: Sequence[Native], extra: Sequence[Native], main: bool = True) -> tuple[Any, ...]:
        """Return the parts of the function's result, from the native arrays ``outs`` (of the main part, None unless ``main``) and ``extra``
        (of auxiliary data); copy the function's writes, also in ``extra``, to the caller's arguments.
        """
        made: list[Any] = [self.body.rebuilt(0, iter(outs), self.leaves) if main else None]
        rest = iter(extra)
        if self.body.parts > 1:
            made.append(self.body.rebuilt(1, rest, self.leaves))
        if self.body.written:
            self.body.write_back(rest, self.leaves)
        return tuple(made)

    def zeros(self) -> list[Native]:
        """Return the gradients of a constant result: zeros."""
        prim, backend = self.backend.prim, self.backend
        return [prim.full(backend.shape_of(x), 0, backend.dtype_of(x), backend.device_of(x)) for x in self.primals]

    def conjugated(self, grads: list[Native]) -> list[Native]:
        """Convert the gradients of a holomorphic function to its derivative."""
        conjugate = self.backend.UFUNCS[np.conjugate]
        return [conjugate(g) for g in grads]

    def as_arguments(self, grads: Sequence[Native]) -> Any:
        """Return gradients as pytrees like the arguments, with arrays or scalars like their leaves: one pytree, or a tuple."""
        made, trees = {}, []
        for i, g in zip(self.every, grads):
            like = self.body.slots[i]
            made[i] = dressed(g, self.backend, like.scalar and not self.backend.shape_of(g), like.standard)
        for structure, group in zip(self.known.structures, self.known.chosen):
            trees.append(tree_unflatten(structure, [made[i] for i in group]))
        return tuple(trees) if self.asked.several else trees[0]


def _dtype_of(leaf: Any) -> np.dtype[Any]:
    if isinstance(leaf, Handle):
        return leaf._kind.dtype
    if isinstance(leaf, np.ndarray | np.generic):
        return leaf.dtype
    if isinstance(leaf, int | float | complex):
        return np.asarray(leaf).dtype
    return library_of([leaf]).dtype_of(leaf)


def _value_and_grad(run: _Derivative, wanted: bool) -> tuple[Any, Any]:
    """Run the function of the call ``run``; return the value (None if not wanted; with ``has_aux`` the pair of value and auxiliary data) and
    the gradient.
    """
    with (run.backend.scope or nullcontext)():
        outs, extra, pull = run.forward(True)
        _check_one_number(run, outs)
        grads = pull(None) if outs else run.zeros()
        made = run.results(outs, extra, wanted)
        return made if run.body.parts > 1 else made[0], run.as_arguments(
            run.conjugated(grads) if run.holomorphic else grads
        )


def _check_one_number(run: _Derivative, outs: list[Native]) -> None:
    """Raise if ``outs``, the result of the function of the call ``run``, is not one number of the right kind."""
    main = run.body.outputs[0]
    if len(main) != 1:
        raise TypeError(
            f"{run.what} needs a function that returns one number; {run.name} returned {len(main)} values: return their "
            "sum, use has_aux=True for what is not differentiated, or ad.jacobian."
        )
    if outs:
        shape, dtype = run.backend.shape_of(outs[0]), run.backend.dtype_of(outs[0])
    else:
        value = main[0].value if hasattr(main[0], "value") else run.leaves[run.body.inputs[main[0].at]]
        shape, dtype = np.shape(value), np.asarray(value).dtype
    if shape != ():
        raise TypeError(
            f"{run.what} needs a function that returns one number; {run.name} returned an array of shape {shape}: "
            "sum it, or use ad.jacobian."
        )
    if (dtype.kind == "c") is not run.holomorphic or dtype.kind in "biuOSU":
        wanted = "complex" if run.holomorphic else "real"
        raise TypeError(
            f"{run.what} needs a function that returns one {wanted} number; {run.name} returned one of dtype {dtype}"
            + ("." if run.holomorphic else ": take its real part or its absolute value.")
        )


# -- jacobians -------------------------------------------------------------------------------------------------------------


def _jacobian(what: str, asked: _Asked, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    run = _Derivative(what, asked, args, kwargs)
    backend = run.backend
    with backend.within():
        outs, extra, pull = run.forward(False)
        _check_results(run, outs)
        rows: Iterator[list[Native]] = iter(_rows(run, outs, pull))
        made: list[Any] = []
        for output in run.body.outputs[0]:
            if type(output) is Traced or (type(output) is Given and output.counts):
                made.append(run.as_arguments(next(rows)))
            else:
                shape = np.shape(run.leaves[run.body.inputs[output.at]] if type(output) is Given else output.value)
                made.append(run.as_arguments(_no_rows(run, shape)))
        _, *rest = run.results(outs, extra)
        found = tree_unflatten(run.body.structures[0], made)
        return (found, rest[0]) if rest else found


def _check_results(run: _Derivative, outs: list[Native]) -> None:
    backend = run.backend
    complex_arguments = any(backend.dtype_of(x).kind == "c" for x in run.primals)
    for y in outs:
        dtype = backend.dtype_of(y)
        if dtype.kind in "biu":
            raise TypeError(
                f"{run.what} of {run.name} differentiates floating results; one is of dtype {dtype}: leave it out with "
                "has_aux=True."
            )
        if dtype.kind == "c" and complex_arguments and not run.holomorphic:
            raise TypeError(
                f"{run.what} of {run.name} has complex arguments and a complex result: say holomorphic=True if the function "
                "is, or take real and imaginary parts apart."
            )
        if run.holomorphic and dtype.kind != "c":
            raise TypeError(f"{run.what} of {run.name} with holomorphic=True has a result of dtype {dtype}.")


def _rows(run: _Derivative, outs: list[Native], pull: Callable[..., list[Native]]) -> list[list[Native]]:
    """Return the derivatives for each result and each argument's leaf, of shape ``result.shape + leaf.shape``.

    All rows are pulled back together, because a library traces and compiles the whole pullback each time.
    """
    if not outs:
        return []
    backend, prim = run.backend, run.backend.traced.prim
    shapes = [backend.shape_of(y) for y in outs]
    blocks: list[tuple[int, complex]] = []
    for k, y in enumerate(outs):
        # For a complex result of real arguments, the cotangent 1 gives the real part and i the imaginary one.
        is_pair = backend.dtype_of(y).kind == "c" and not run.holomorphic
        blocks += [(k, unit) for unit in ((1, 1j) if is_pair else (1,))]
    ends = list(itertools.accumulate(math.prod(shapes[k]) for k, _ in blocks))
    parts: list[list[list[Native]]] = [[] for _ in outs]
    pulled = pull(_cotangents(backend, outs, blocks, ends), True)
    for (k, _), start, stop in zip(blocks, [0, *ends], ends):
        parts[k].append([_between(backend, g, start, stop) for g in pulled])
    found = []
    for k, shape in enumerate(shapes):
        grads = parts[k][0] if len(parts[k]) == 1 else [prim.complex(g, h) for g, h in zip(*parts[k])]
        if run.holomorphic:
            grads = run.conjugated(grads)
        found.append([prim.reshape(g, shape + backend.shape_of(x)) for g, x in zip(grads, run.primals)])
    return found


def _cotangents(
    backend: Backend, outs: list[Native], blocks: list[tuple[int, complex]], ends: list[int]
) -> list[Native]:
    """Return one row for each element of each block, along a new first axis: 1 (or i) at that element, zeros elsewhere."""
    made = []
    for j, y in enumerate(outs):
        shape, dtype = backend.shape_of(y), backend.dtype_of(y)
        rows = np.zeros((ends[-1], math.prod(shape)), dtype)
        for (k, unit), start, stop in zip(blocks, [0, *ends], ends):
            if k == j:
                np.fill_diagonal(rows[start:stop], unit)
        made.append(backend.from_numpy(rows.reshape(ends[-1], *shape), backend.device_of(y)))
    return made


def _between(backend: Backend, rows: Native, start: int, stop: int) -> Native:
    """Return the rows from ``start`` to ``stop``."""
    count, *shape = backend.shape_of(rows)
    if stop - start == count:
        return rows
    return backend.traced.prim.slice(rows, (slice(start, stop, 1), *(slice(0, n, 1) for n in shape)))


def _no_rows(run: _Derivative, shape: tuple[int, ...]) -> list[Native]:
    """Return the derivatives of a constant result of this shape: zeros for each differentiated leaf."""
    backend = run.backend
    return [
        backend.prim.full(shape + backend.shape_of(x), 0, backend.dtype_of(x), backend.device_of(x))
        for x in run.primals
    ]
