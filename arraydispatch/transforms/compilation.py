"""``jit``: compilation of a function by the library that holds its arguments, once for each kind of call."""

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
from ..common import tracing
from ..common.process_state import process
from ..common.pytrees import Structure, exact, flatten_call
from ..common.user_warnings import warn
from ..runtime import conversion, settings
from .call_cache import Met, again, kind_of_call
from .flattening import Body, Input, Same, finished, library_of, name_of, native_of
from .weak_scalars import weak

P = ParamSpec("P")
R = TypeVar("R")

_MANY = 64
"""Number of traces of one function at which the user is warned."""


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
    """Compile a function by the library that holds its arguments: trace it once for each kind of call, then run it as one program.

    Parameters
    ----------
    fun : callable
        Takes and returns pytrees of arrays. Without it, a decorator with the options is returned.
    static_argnums : int or sequence of int
        Positional arguments whose value is part of the program. They are hashable, and each new value is traced anew.
    static_argnames : str or sequence of str
        The same by name. A parameter given in either way is static however it is passed.

    Returns
    -------
    callable
        A function of the same arguments. Writes of ``fun`` to its arguments reach the caller's; an argument that it returns
        is the caller's own.

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
    Arrays of any kind (NumPy's are moved to the library), NumPy scalars, and Python floats and complex numbers are traced; the
    latter two stay weak, that is, they take the dtype of the arrays they meet. Python ints and bools, strings and all other
    objects are static. Whatever ``fun`` computes from NumPy arrays that are not arguments is computed once, while tracing, and
    is a constant of the program; so are random numbers drawn inside. On the numpy backend ``fun`` runs unchanged.
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
    """A function and its programs."""

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
        """Return the function's result, and its program if that ran."""
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
        """Return the key of the program, the native arguments, and the leaves that are the same array as an earlier leaf."""
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
        self,
        key: Any,
        leaves: list[Any],
        structure: Structure,
        backend: Backend,
        natives: list[Native],
        same: dict[int, int],
    ) -> Any:
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
    """Return positions and names of the static parameters; a parameter given by position or by name is in both."""
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
