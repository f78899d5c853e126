"""``Handle``: the state of an array, and the table of forms that its operators, methods and attributes call.

A *form* is one way to compute a member of :class:`arraydispatch.array.Array`, such as ``__add__`` or ``sum``. The general form always
works. The recorder and the thin path have forms of their own, and one set of forms is in force at a time: :func:`install` puts it there.

Where the core is compiled, ``Handle`` is an extension type. Its operators are slots of the type that call the form in force, and other
methods are :class:`arraydispatch._core._handles.Method` objects that do. Where nothing is compiled, ``Handle`` is an ordinary class, and
:func:`install` assigns the forms to the class of arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MethodType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weakref import ref

__all__ = ["METHODS", "SLOTS", "Handle", "bare", "compiled", "general", "install", "maker", "new_array", "of_class"]


class Handle:
    """The state of an array; :class:`arraydispatch.array.Array` adds the behaviour.

    The fields of a compiled ``Handle`` begin as None, 0 and False.

    Attributes
    ----------
    _v : native array
        The value; stale for a view whose ``_root`` was written since ``_seen``.
    _kind : Kind
        Backend and dtype.
    _root : Handle or None
        Where the value must be read again from; None for roots and for views that alias natively.
    _seen : int
        The root's number of writes when ``_v`` was read.
    _ghost : ndarray or None
        Made on demand.
    _base : Handle or None
        The root, as ``ndarray.base`` has it; None for a root.
    _owned : bool
        On an immutable backend, of a root: the value's buffer was made by a kernel of ours and nobody else can see it, so
        an update may reuse it. Python's reference count could not tell: ``device_put`` and ``addressable_data`` alias
        without changing it. :func:`arraydispatch.memory.views.expose` takes the bit away.
    _writes : int
        Number of writes to a root.
    _twin : tuple, optional
        Of a value in the host state: its native copy, and what :func:`arraydispatch.memory.views.lifted` knows it by.
    _looks : int, optional
        Of a root: how often a small part of it was read.
    _views : list of weak references, optional
        Of a root: the views that read it.
    """

    __slots__ = (
        "__weakref__",
        "_base",
        "_ghost",
        "_kind",
        "_looks",
        "_owned",
        "_root",
        "_seen",
        "_twin",
        "_v",
        "_views",
        "_writes",
    )

    __hash__ = None  # type: ignore[assignment]

    _v: Any
    _kind: Any
    _root: Handle | None
    _seen: int
    _owned: bool
    _writes: int
    _ghost: Any
    _base: Handle | None
    _twin: tuple[Any, int, Any, Any] | None
    _views: list[ref[Handle]] | None
    _looks: int


try:
    _compiled: Any = import_module("._handles", __package__)
except ImportError:
    _compiled = None
compiled = _compiled is not None
"""Whether the modules that hatch_build.py names are compiled."""

if compiled and not TYPE_CHECKING:
    Handle = _compiled.Handle
    ndarray = Handle
    """Name by which pickle finds the class's operators: they are named as NumPy's."""


# -- making arrays -----------------------------------------------------------------------------------------------------

bare: Callable[[type], Any] = _compiled.bare if compiled else object.__new__
"""Makes an array of a class of arrays, without a value."""


def new_array(cls: type, value: Any, kind: Any, owned: bool, base: Any) -> Any:
    """Make an array of a class: of a value that is its own, or a view of the array ``base`` that aliases natively."""
    made = bare(cls)
    made._v = value
    made._kind = kind
    made._owned = owned
    made._base = base
    made._root = made._ghost = None
    made._writes = 0
    return made


def _make(cls: type, value: Any, kind: Any, owned: bool = False) -> Any:
    return new_array(cls, value, kind, owned, None)


def maker(cls: type) -> Callable[..., Any]:
    """Return ``make(value, kind, owned=False)``, which makes arrays of a class; ``make.__self__`` is the class."""
    made: Callable[..., Any] = _compiled.maker(cls) if compiled else MethodType(_make, cls)
    return made


# -- forms -------------------------------------------------------------------------------------------------------------

METHODS = frozenset(
    "__array_function__ __array_ufunc__ __complex__ all any argmax argmin argsort astype clip copy cumprod cumsum diagonal dot fill"
    " flatten item max mean min nonzero partition prod ravel repeat reshape round searchsorted sort squeeze std sum swapaxes take"
    " tolist trace transpose var".split()
)
"""Members that have several forms, beside operators and attributes."""
_BINARY = "add sub mul truediv floordiv mod divmod pow matmul and or xor lshift rshift".split()
_UNARY = "neg pos abs invert int float index bool lt le eq ne gt ge len iter getitem setitem delitem".split()
SLOTS = frozenset(
    {f"__{how}{word}__" for word in _BINARY for how in ("", "r", "i")} - {"__idivmod__"}
    | {f"__{word}__" for word in _UNARY}
    | {"shape", "ndim", "size", "T", "mT"}
)
"""Operators and attributes that have several forms: slots of a compiled ``Handle``."""
_owner: Any = None
general: dict[str, Any] = {}
"""Name of a member -> its general form; attributes are properties."""


def of_class(cls: type) -> None:
    """Take the members of the class of arrays as the general forms, and put them in force."""
    global _owner
    _owner = cls
    general.update({name: form for name, form in vars(cls).items() if name in SLOTS or name in METHODS})
    if compiled:
        for name, form in general.items():
            delattr(cls, name)
            if name not in SLOTS:
                setattr(cls, name, _method(form))
    install({})


def _method(form: Any) -> Any:
    made = _compiled.Method()
    made.target = form
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(made, name, getattr(form, name))
    made.__wrapped__ = form
    return made


def install(forms: Mapping[str, Any]) -> None:
    """Put these forms in force, and the general ones of all other members."""
    table = {**general, **forms}
    if not compiled:
        for name, form in table.items():
            setattr(_owner, name, form)
        return
    slots: dict[str, Any] = {}
    for name, form in table.items():
        if name not in SLOTS:
            vars(_owner)[name].target = form
        elif isinstance(form, property):
            slots[name], slots[f"{name}="] = form.fget, form.fset
        else:
            slots[name] = form
    _compiled.install(slots)
