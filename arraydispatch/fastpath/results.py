"""What the thin path makes of what NumPy returned, and from how many elements on it is not in force."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy import ndarray

from .._core import handles
from .._core.handles import Handle
from ..backends.kinds import Kind
from ..common import events
from ..common.arguments import PLAIN, SCALARS
from ..common.process_state import process
from ..dispatch import host_results, host_values
from ..memory import views
from ..runtime import settings
from ..ufuncs import rows

__all__ = [
    "DEEPEST", "FOLLOWED", "SCALARS", "array_class", "array_of", "before_write", "calls", "counters", "follows", "in_rows", "is_computed", "is_plain", "is_read", "least",
    "result_of", "view_of", "waiting",
]  # fmt: skip

waiting = views.waiting

array_class: Any = None
"""The class of every new array."""
_rows = rows.LEAST
least = 0
"""Elements from which on a computation is the library's; 0 while the thin path is not in force."""
counters: list[Callable[[], int]] = []
"""Each tells how many calls a module has sent this way: it counts in a number of its own, between two lines of which no other thread runs."""

FOLLOWED = ("backend", "blocks_entered", "devices", "execution", "min_size", "overrides", "rules", "suspended", "tap")
"""What puts the thin path in force, or out of it. Who runs at each call :func:`follows` that, and keeps the names above in globals of
its own: one more look-up for each would be felt."""


_followers: list[Callable[[], None]] = []


def follows(follower: Callable[[], None]) -> Callable[[], None]:
    """Decorates what is called, now and from now on, where one of the three names above has changed."""
    _followers.append(follower)
    follower()
    return follower


@process.follows("wrapper", *FOLLOWED)
def _follow() -> None:
    global array_class, least
    before = array_class, least
    array_class = getattr(process.wrapper, "__self__", array_class)
    least = process.min_size
    if least and (not settings.only_values_decide() or events.told_each()):
        least = 0
    if before != (array_class, least):
        for follower in _followers:
            follower()


_follow()


def calls() -> int:
    """How many calls went this way so far."""
    return sum(count() for count in counters)


# -- results -----------------------------------------------------------------------------------------------------------


def array_of(value: ndarray, kind: Kind) -> Any:
    """An array of a new ndarray; ``kind`` is that of an operand."""
    dtype = value.dtype
    if dtype is not kind.dtype:
        known = kind.backend._kinds.get(dtype)
        if known is None or kind.standard:
            return (
                host_results.placed(value, kind.backend) if not kind.standard else views.wrapper(value, kind.of(dtype))
            )
        kind = known
    return handles.new_array(array_class, value, kind, True, None)


def view_of(a: Handle, value: ndarray) -> Any:
    """The view of an array that an ndarray view of its value is."""
    base = a._base
    return handles.new_array(array_class, value, a._kind, False, a if base is None else base)


def result_of(a: Handle, result: Any, kind: Kind) -> Any:
    """What a method returned for the value of ``a``."""
    if type(result) is ndarray:
        value: ndarray = result
        x: ndarray = a._v
        if value is x:
            return a
        base = value.base
        if base is None:
            return array_of(value, kind)
        whole = (base is x or base is x.base) and value.dtype is x.dtype  # parts of elements have a dtype of their own
        return view_of(a, value) if whole else host_values.dressed(value, [a])
    return host_values.dressed(result, [a]) if type(result) is tuple else result


def is_computed(made: Any) -> bool:
    """Whether a call returned more than views, which are no calls of the report's."""
    if type(made) is array_class:
        a: Handle = made
        return a._base is None
    if type(made) is not list and type(made) is not tuple:
        return True
    for part in made:  # noqa: SIM110 -- compiled, a loop takes no generator
        if is_computed(part):
            return True
    return False


def is_read(memory: Any) -> bool:
    """Whether something pending may read what a value is a view of; ``memory`` is None for a value that is read itself."""
    return memory is None or type(memory) is not ndarray or memory.base is not None or id(memory) in waiting


DEEPEST = 64
"""As many dimensions as arrays have. Compiled code may call itself without end: it ends with the stack, and the process."""


def in_rows(x: Any, y: Any) -> bool:
    """Whether a ufunc of these, ndarrays or numbers, is one for :func:`arraydispatch.ufuncs.rows.call`."""
    if type(x) is not ndarray:
        x, y = y, x
        if type(x) is not ndarray:
            return False
    a: ndarray = x
    if type(y) is ndarray:
        b: ndarray = y
        return (a.ndim > 1 or b.ndim > 1) and a.size * b.size >= _rows and rows.lie_in_rows(a, b)
    return a.ndim > 1 and a.size >= _rows and rows.lie_in_rows(a, 0)


def is_plain(args: tuple[Any, ...], kwargs: dict[str, Any] | None, depth: Any = DEEPEST) -> bool:
    """Whether no argument is an array, or may hold one."""
    for x in args:
        cls = type(x)
        if cls is array_class or (cls not in PLAIN and not (cls is tuple and depth and is_plain(x, None, depth - 1))):
            return False
    return not kwargs or ("out" not in kwargs and is_plain(tuple(kwargs.values()), None))


def before_write(a: Handle, x: ndarray) -> None:
    """Have run what reads the memory of an array, whose value is ``x``."""
    if waiting and ((memory := x.base) is not None or id(x) in waiting) and is_read(memory):
        views.run_readers(a)
