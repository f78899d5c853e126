"""``jit``: compilation of a function by the library that holds its arguments, once for each combination of shapes and dtypes."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

from .._core.handles import Handle
from ..array.scalar import Scalar
from ..backends.base import Backend, Native
from ..backends.kinds import Kind
from ..common import tracing
from ..common.members import row_of
from ..common.process_state import process
from ..common.pytrees import Structure, exact, flatten_call, tree_leaves, tree_map
from ..common.user_warnings import warn
from ..memory import views
from ..runtime import conversion, dtypes, settings
from .call_cache import Met, again, kind_of_call
from .flattening import Body, Input, Same, finished, library_of, name_of, native_of

P = ParamSpec("P")
R = TypeVar("R")

_MANY = 64
"""Number of traces of one function at which a warning is issued."""


@overload
def jit(
    fun: Callable[P, R], *, static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = ()
) -> Callable[P, R]: ...
@overload
def jit(
    fun: None = None, *, static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
) -> Callable[..., Any]:
    """Compile a function by the library that holds its arguments: trace it once for each combination of shapes, dtypes and static values.

    Later calls with such arguments run the traced program.

    Parameters
    ----------
    fun : callable
        Takes and returns pytrees of arrays. Without it, a decorator with the options is returned.
    static_argnums : int or sequence of int
        Positional arguments whose values are part of the program. They must be hashable; each new value causes a new trace.
    static_argnames : str or sequence of str
        Names of such arguments. A parameter given in either way is static whether it is passed by position or by name.

    Returns
    -------
    callable
        A function of the same arguments. Writes of ``fun`` to its arguments reach the caller's arrays; if it returns an argument, the
        caller gets its own array.

    Raises
    ------
    TraceError
        Raised by the callable if a value is needed while tracing (``if x > 0``, ``float(x)``, a call that runs on the host, a
        result whose shape depends on values), if a traced value is written to an array from outside the function, or if one of
        two arguments that share memory is written.
    ValueError
        Raised by the callable for a static argument that cannot be hashed.

    Notes
    -----
    Arrays of any kind (NumPy's are moved to the library), NumPy scalars, and Python floats and complex numbers are traced. Python
    numbers stay weak, that is, they take the dtype of the arrays they are combined with. Python ints and bools, strings and all other
    objects are static. Values computed from NumPy arrays that are not arguments are computed once, while tracing, and
    are constants of the program; so are random numbers drawn inside. On the numpy backend ``fun`` runs unchanged.
    """
    if fun is None:
        return functools.partial(jit, static_argnums=static_argnums, static_argnames=static_argnames)
    jitted = _Jitted(fun, static_argnums, static_argnames)

    @functools.wraps(fun, updated=())
    def compiled(*args: Any, **kwargs: Any) -> Any:
        return jitted(args, kwargs)

    compiled.jitted = jitted  # type: ignore[attr-defined]
    return compiled


class _Static:
    """A static argument in a pytree: a leaf that is compared by value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


class _Jitted:
    """A function that ``jit`` compiles, with its static arguments and the programs made so far."""

    def __init__(
        self, fun: Callable[..., Any], static_argnums: int | Sequence[int], static_argnames: str | Sequence[str]
    ) -> None:
        self.fun = fun
        self.places, self.names = _static(fun, static_argnums, static_argnames)
        self.programs: dict[Any, tuple[Body, Callable[[list[Native]], Any]]] = {}
        self.met: dict[Any, Met] = {}
        self.lock = threading.RLock()

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        plain = not kwargs and not self.places and not self.names and not process.traces
        if plain and (made := again(self.met, args)) is not None:
            return made[0]
        if self.places or self.names:
            given = tuple(_Static(x) if i in self.places else x for i, x in enumerate(args))
            named = {key: _Static(x) if key in self.names else x for key, x in kwargs.items()}
            leaves, structure = flatten_call(given, named)
        else:
            leaves, structure = flatten_call(args, kwargs)
        backend = library_of(leaves)
        if backend.native_is_ndarray or not backend.transforms.nests(tracing.entered()):
            return self.fun(*args, **kwargs)
        with backend.within():
            made, found = self._run(leaves, structure, backend, args, kwargs)
        if plain and found is not None and all(x._kind.backend is backend for x in args if isinstance(x, Handle)):
            key = kind_of_call(args, [])
            if key is not None:
                self.met[key] = Met(*found, args)
        return made

    def _run(
        self, leaves: list[Any], structure: Structure, backend: Backend, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, tuple[Body, Any] | None]:
        """Return the function's result, and (body, program) if the program ran, else None."""
        key, natives, same = self._key(leaves, structure, backend)
        found = self.programs.get(key)
        if found is None:
            found = self._compiled(key, leaves, structure, backend, natives, same)
        body, program = found
        made = program(natives)
        if made is None:
            return self.fun(*args, **kwargs), None
        outs, extra = made
        return finished(body, outs, extra, leaves), found

    def _key(
        self, leaves: list[Any], structure: Structure, backend: Backend
    ) -> tuple[Any, list[Native], dict[int, int]]:
        """Return the key of the program, the native arguments, and the leaves that repeat the array of an earlier leaf."""
        parts: list[Any] = []
        natives: list[Native] = []
        seen: dict[int, int] = {}
        same: dict[int, int] = {}
        signature = backend.transforms.signature
        for i, leaf in enumerate(leaves):
            cls = type(leaf)
            if isinstance(leaf, Handle):
                first = seen.setdefault(id(leaf), i)
                if first != i:
                    same[i] = first
                    parts.append(first)
                    continue
                held = leaf._kind.backend
                whole = held.home is backend and not held.defers
                value = leaf.native if whole else native_of(leaf, backend)  # type: ignore[attr-defined]
                parts.append((cls is Scalar, leaf._kind, signature(value)))
                natives.append(value)
            elif cls is float or cls is complex:
                host = np.asarray(leaf, conversion.precise(np.dtype(cls)))
                natives.append(backend.transforms.number(host, lambda host: native_of(host, backend)))
                parts.append(cls)
            elif isinstance(leaf, np.ndarray | np.generic) or backend.is_native(leaf):
                first = seen.setdefault(id(leaf), i)
                if first != i:
                    same[i] = first
                    parts.append(first)
                    continue
                value = native_of(leaf, backend)
                natives.append(value)
                parts.append((cls, backend.dtype_of(value), signature(value)))
            else:
                parts.append(self._fixed(leaf))
        return (backend, structure, settings.current_rules(), *parts), natives, same

    def _fixed(self, leaf: Any) -> Any:
        value = leaf.value if isinstance(leaf, _Static) else leaf
        told = exact(value)
        try:
            hash(told)
        except TypeError:
            said = "a static argument" if isinstance(leaf, _Static) else "an argument that is no array"
            raise ValueError(
                f"{said} of {name_of(self.fun)} under ad.jit must be hashable; a {type(value).__name__} is not."
            ) from None
        return told

    def _compiled(
        self, key: Any, leaves: list[Any], structure: Structure, backend: Backend, natives: list[Native],
        same: dict[int, int],
    ) -> Any:  # fmt: skip
        with self.lock:
            found = self.programs.get(key)
            if found is not None:
                return found
            slots: list[Any] = []
            for i, leaf in enumerate(leaves):
                if i in same:
                    slots.append(Same(same[i]))
                elif type(leaf) is float or type(leaf) is complex:
                    slots.append(Input(False, True, weak))
                elif isinstance(leaf, Handle | np.ndarray | np.generic) or backend.is_native(leaf):
                    slots.append(Input.of(leaf))
                else:
                    slots.append(leaf.value if isinstance(leaf, _Static) else leaf)
            body = Body(self.fun, "ad.jit", structure, slots, backend, True)
            program = backend.transforms.jit(body, natives)
            found = self.programs[key] = body, program
            if len(self.programs) == _MANY:
                warn(
                    f"{body.name} was traced {_MANY} times by ad.jit, last for {_said(leaves)}: pass changing numbers "
                    "as floats or arrays, not ints, and use few different shapes.",
                    UserWarning,
                )
            return found


def _said(leaves: list[Any]) -> str:
    def one(x: Any) -> str:
        x = x.value if isinstance(x, _Static) else x
        return f"{x.dtype}{list(x.shape)}" if isinstance(x, Handle | np.ndarray) else repr(x)  # type: ignore[union-attr]

    return ", ".join(map(one, leaves[:8]))


def _static(
    fun: Callable[..., Any], static_argnums: int | Sequence[int], static_argnames: str | Sequence[str]
) -> tuple[frozenset[int], frozenset[str]]:
    """Return positions and names of the static parameters; a parameter given in either way is in both. Raise ValueError for unknown
    parameters.
    """
    places = {static_argnums} if isinstance(static_argnums, int) else set(static_argnums)
    names = {static_argnames} if isinstance(static_argnames, str) else set(static_argnames)
    if not places and not names:
        return frozenset(), frozenset()
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):
        return frozenset(places), frozenset(names)
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    many = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    for i in places:
        if not many and not -len(positional) <= i < len(positional):
            raise ValueError(f"{name_of(fun)} has no positional argument {i} that could be static.")
    places = {i + len(positional) if i < 0 else i for i in places}
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        unknown = names - {p.name for p in parameters}
        if unknown:
            raise ValueError(f"{name_of(fun)} has no argument {min(unknown)!r} that could be static.")
    return (
        frozenset(places | {i for i, name in enumerate(positional) if name in names}),
        frozenset(names | {positional[i] for i in places if i < len(positional)}),
    )


# -- Python numbers -------------------------------------------------------------------------------------------------------

_PYTHON: dict[str, type] = {"f": float, "c": complex, "i": int}


def _type_of(x: Any) -> Any:
    """Return the type by which NumPy resolves a loop: a dtype, or the class of a Python number."""
    if isinstance(x, Weak):
        return _PYTHON[x._kind.dtype.kind]
    if isinstance(x, Handle):
        return x._kind.dtype
    if type(x) in (int, float, complex):
        return type(x)
    return np.asarray(x).dtype


def _is_python(x: Any) -> bool:
    return isinstance(x, Weak) or type(x) in (bool, int, float, complex)


def _operator(word: str, reflected: bool = False) -> Callable[..., Any]:
    """Make a binary operator; for two Python numbers it returns a Python number."""
    ufunc = row_of(word).func

    def operator(self: Weak, other: Any, *_modulo: Any) -> Any:
        inputs = (other, self) if reflected else (self, other)
        if _is_python(other):
            return _weak(ufunc(*(x.strong() if isinstance(x, Weak) else x for x in inputs)))
        return ufunc(*inputs)

    return operator


def _unary(word: str) -> Callable[..., Any]:
    ufunc = row_of(word).func
    return lambda self: _weak(ufunc(self.strong()))


def _weak(x: Any) -> Any:
    """Return a device scalar of a float, complex or signed integer dtype as a :class:`Weak`; other objects unchanged."""
    if type(x) is Scalar and x._kind.dtype.kind in _PYTHON:
        return Weak._holding(views.native(x), x._kind)
    return x


class Weak(Scalar):
    """A traced Python number.

    With other Python numbers it computes as Python does, in 64 bits; with arrays it takes their dtype.
    """

    __slots__ = ()

    def strong(self, dtype: np.dtype[Any] | None = None) -> Any:
        """Return a traced scalar of this dtype; if None, of NumPy's default dtype for the number."""
        kind = self._kind
        if dtype is None or dtype == kind.dtype:
            return Scalar._holding(self._v, kind)
        backend = kind.backend
        with backend.within():
            return Scalar._holding(backend.prim.astype(self._v, dtype), backend.kind(dtype))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        found: list[Any] = [None] * len(inputs)
        if method == "__call__" and not all(map(_is_python, inputs)):
            found = _loop(ufunc, inputs)
        strong = [x.strong(dtype) if isinstance(x, Weak) else x for x, dtype in zip(inputs, found)]
        return getattr(ufunc, method)(*strong, **tree_map(_plain, kwargs))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        others = [x._kind.dtype for x in tree_leaves((args, kwargs)) if isinstance(x, Handle) and type(x) is not Weak]
        hosts = [x.dtype for x in tree_leaves((args, kwargs)) if isinstance(x, np.ndarray | np.generic)]

        def given(x: Any) -> Any:
            return x.strong(_among(others + hosts, x)) if isinstance(x, Weak) else x

        return func(*tree_map(given, args), **tree_map(given, kwargs))

    __add__, __radd__ = _operator("add"), _operator("add", True)
    __sub__, __rsub__ = _operator("sub"), _operator("sub", True)
    __mul__, __rmul__ = _operator("mul"), _operator("mul", True)
    __truediv__, __rtruediv__ = _operator("truediv"), _operator("truediv", True)
    __floordiv__, __rfloordiv__ = _operator("floordiv"), _operator("floordiv", True)
    __mod__, __rmod__ = _operator("mod"), _operator("mod", True)
    __pow__, __rpow__ = _operator("pow"), _operator("pow", True)
    __lt__, __le__, __gt__, __ge__ = map(_operator, ("lt", "le", "gt", "ge"))
    __neg__, __pos__, __abs__ = map(_unary, ("neg", "pos", "abs"))

    def __hash__(self) -> int:  # type: ignore[override]
        return super().__hash__()


def _plain(x: Any) -> Any:
    return x.strong() if isinstance(x, Weak) else x


def _loop(ufunc: np.ufunc, inputs: tuple[Any, ...]) -> list[Any]:
    """Return the dtype of each operand in the loop that NumPy chooses; None where it is not known."""
    types = [_type_of(x) for x in inputs]
    try:
        return list(ufunc.resolve_dtypes((*types, *(None,) * ufunc.nout))[: ufunc.nin])
    except TypeError:
        # NumPy lacks a dtype (bfloat16), or has no loop; then the call itself raises a better error.
        return [_among([t for t in types if isinstance(t, np.dtype)], x) for x in inputs]


def _among(found: list[np.dtype[Any]], x: Any) -> np.dtype[Any] | None:
    """Return the dtype of ``x``, a traced Python number, among arrays of the dtypes ``found``; None for other operands, or if NumPy has no
    common dtype.
    """
    if not found or not isinstance(x, Weak):
        return None
    if any(map(dtypes.is_bfloat16, found)):
        return next(filter(dtypes.is_bfloat16, found))
    try:
        return np.result_type(*found, _PYTHON[x._kind.dtype.kind](0))
    except TypeError:
        return None


def weak(value: Native, kind: Kind) -> Any:
    """Wrap the native value of a traced Python number."""
    return Weak._holding(value, kind)
