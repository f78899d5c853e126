"""``Handle``: the state of an array, and the table of forms that its operators, methods and attributes call.

A *form* is one way to compute a member of :class:`arraydispatch.array.Array`, such as ``__add__`` or ``sum``. The general form always
works. The recorder and the thin path have forms of their own. One set of forms is in force at a time; :func:`install` puts a set in force.

Where the core is compiled, ``Handle`` is an extension type. Its operators are slots of the type that call the form in force. All other
members (and the operators too, where nothing is compiled) are :class:`Method` and :class:`Attribute` objects of the class of arrays,
which also call the form in force. A change of forms replaces the targets of the slots and objects; no attribute of a class is assigned.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Mapping
from functools import update_wrapper
from importlib import import_module
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from weakref import ref


class Handle:
    """The state of an array; :class:`arraydispatch.array.Array` adds the behaviour.

    The fields of a compiled ``Handle`` begin as None, 0 and False.

    Attributes
    ----------
    _v : native array
        The value; stale in a view if ``_root._writes`` is no longer ``_seen``.
    _kind : Kind
        Backend and dtype.
    _root : Handle or None
        The root from which a stale value is read again; None for roots, and for views whose native value shares the root's memory.
    _seen : int
        ``_root._writes`` when ``_v`` was read.
    _ghost : ndarray or None
        The array's ghost (:mod:`arraydispatch.memory.ghosts`), made when it is first needed.
    _base : Handle or None
        The root, as ``ndarray.base`` has it; None for a root.
    _owned : bool
        For a root on an immutable backend: whether one of our kernels made the value's buffer and no other code can see that buffer,
        so that an update may reuse it. Python's reference count cannot replace this flag: ``device_put`` and ``addressable_data``
        alias a buffer without changing the count. :func:`arraydispatch.memory.views.expose` clears the flag.
    _writes : int
        Number of writes to a root.
    _twin : tuple, optional
        For a value in the host state: its native copy, the root's number of writes and the device asked for when the copy was made, and
        the copy's device. :func:`arraydispatch.memory.views.lifted` reads and sets it.
    _looks : int, optional
        For a root: number of times that a small part of the array was read.
    _views : list of weak references, optional
        For a root: the views that read it.
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
    """Name by which pickle finds the operators of ``Handle``: they are named as NumPy's, ``ndarray.__add__``."""


# -- making arrays -----------------------------------------------------------------------------------------------------

bare: Callable[[type], Any] = _compiled.bare if compiled else object.__new__
"""Makes an array of a class of arrays, without a value."""


def new_array(cls: type, value: Any, kind: Any, owned: bool = False, base: Any = None) -> Any:
    """Make an array of a class with a value: a root or, with ``base``, a view whose native value shares the memory of that root."""
    made = bare(cls)
    made._v = value
    made._kind = kind
    made._owned = owned
    made._base = base
    made._root = made._ghost = None
    made._writes = 0
    return made


def _live() -> list[Any]:
    return [x for x in gc.get_objects() if issubclass(type(x), Handle)]


live: Callable[[], list[Any]] = _compiled.live if compiled else _live
"""Returns all live arrays, of all classes. (Python's collector cannot list compiled arrays: like ndarrays, they are not tracked.)"""


def _track(x: Any) -> None:
    pass


track: Callable[[Any], None] = _compiled.track if compiled else _track
"""Makes Python's collector track a compiled array whose value may be part of a reference cycle. In pure Python it does nothing, because
the collector tracks all arrays there.
"""


def held(x: Any, cls: Any) -> Any:
    """Return the value of ``x`` if ``x`` is of exactly the class ``cls`` and the value is an ndarray; else None."""
    if type(x) is not cls:
        return None
    value = x._v
    return value if type(value) is np.ndarray else None


def kind_of(x: Any) -> Any:
    """Return the kind of ``x``, which the caller knows to be an array."""
    return x._kind


def root_of(x: Any) -> Any:
    """Return the root of a view, or the array itself if it is not a view."""
    return x if x._base is None else x._base


def count_write(x: Any) -> None:
    """Add 1 to the number of writes of an array's root."""
    root_of(x)._writes += 1


def maker(cls: type) -> Callable[..., Any]:
    """Return the function ``make(value, kind, owned=False)``, which makes arrays of a class; ``make.__self__`` is the class."""
    made: Callable[..., Any] = _compiled.maker(cls) if compiled else MethodType(new_array, cls)
    return made


# -- forms -------------------------------------------------------------------------------------------------------------

SLOTS: frozenset[str] = _compiled.SLOTS if compiled else frozenset()
"""Operators and attributes that are slots of a compiled ``Handle``."""


class Method:
    """Method of the class of arrays. It calls ``target``, the form in force, at first ``form``; :func:`install` exchanges it."""

    __wrapped__: Any

    def __init__(self, form: Any) -> None:
        self.target = form
        update_wrapper(self, form)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self.target, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.target(*args, **kwargs)

    def __reduce__(self) -> str:
        return self.__wrapped__.__qualname__


MOST_SHORT = 5
"""Maximum number of arguments of a shorter function."""


def shortened(form: Any, *shorter: Any, out: tuple[Any, ...] = (), axis: tuple[Any, ...] = ()) -> Any:
    """Add shorter functions to ``form`` if the core is compiled; return ``form``.

    Callers in C (methods, stand-ins) use the shorter functions for common calls. A shorter function takes its arguments by position, so
    no tuple and no dict of arguments is made.

    Parameters
    ----------
    form : callable
        The function; it takes ``*args, **kwargs``.
    shorter : callable or None
        Functions for calls of 1, 2, … positional arguments without keywords.
    out, axis : tuple of (callable or None)
        The same for calls with only this keyword; these functions take the keyword's value as the last argument.
    """
    if compiled:
        _compiled.shorten(form, (*_filled(shorter), *_filled(out), *_filled(axis)))
    return form


def _filled(shorter: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*shorter, *(None,) * (MOST_SHORT - len(shorter)))


class Attribute:
    """Attribute of the class of arrays. It passes reads and writes on to ``target``, the form in force (a property), at first ``form``;
    :func:`install` exchanges it.
    """

    def __init__(self, form: Any) -> None:
        self.target = form
        self.__doc__ = form.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else self.target.__get__(instance, owner)

    def __set__(self, instance: Any, value: Any) -> None:
        self.target.__set__(instance, value)

    def __delete__(self, instance: Any) -> None:
        self.target.__delete__(instance)


def _compiled_method(form: Any) -> Any:
    made = _compiled.Method()
    made.target = form
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(made, name, getattr(form, name))
    made.__wrapped__ = form
    return made


def method_with(form: Any, target: Any) -> Any:
    """Make a method with the name and signature of ``form`` that calls ``target``, an equivalent function; return ``form`` itself if
    the core is not compiled.
    """
    if not compiled:
        return form
    made = _compiled_method(form)
    made.target = target
    return made


_callers: dict[str, Any] = {}
"""Name of a member that is not a slot -> the :class:`Method` or :class:`Attribute` that calls the form in force."""
general: dict[str, Any] = {}
"""Name of a member -> its general form; attributes are properties."""
_mode: Mapping[str, Any] = {}
"""Name of a member -> its form in the mode that :func:`install` put in force, used in place of the general form."""
_over: list[Callable[[str, Any], Any]] = []


def of_class(cls: type, names: Iterable[str]) -> None:
    """Take the members of these names, and those that are slots, out of the class of arrays; keep them as the general forms, put callers
    of the form in force in their place, and put the general forms in force.
    """
    method = _compiled_method if compiled else Method
    for name in sorted(SLOTS.union(names)):
        form = general[name] = vars(cls)[name]
        delattr(cls, name)
        if name not in SLOTS:
            _callers[name] = Attribute(form) if isinstance(form, property) else method(form)
            setattr(cls, name, _callers[name])
    install({})


def install(forms: Mapping[str, Any]) -> None:
    """Put ``forms`` (name of a member -> form) in force, and the general forms of all other members."""
    global _mode
    _mode = forms
    _put_in_force()


def lay_over(make: Callable[[str, Any], Any]) -> None:
    """Replace each form in force by ``make(name, form)``, unless that is None, now and after each change of the mode."""
    _over.append(make)
    _put_in_force()


def take_off(make: Callable[[str, Any], Any]) -> None:
    """Undo :func:`lay_over` of the same ``make``."""
    _over.remove(make)
    _put_in_force()


def _put_in_force() -> None:
    table = {**general, **_mode}
    for make in _over:
        table.update({name: made for name, form in table.items() if (made := make(name, form)) is not None})
    for name, caller in _callers.items():
        caller.target = table[name]
    if compiled:
        slots: dict[str, Any] = {}
        for name in SLOTS:
            form = table[name]
            if isinstance(form, property):
                slots[name], slots[f"{name}="] = form.fget, form.fset
            else:
                slots[name] = form
        _compiled.install(slots)
