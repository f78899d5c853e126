"""Where a library looks at types before it looks at values, and so turns away what it could use.

A library that wants an ndarray asks ``np.asarray``, and an ``Array`` answers. The few that ask ``isinstance`` first are
listed here: once the library is imported, the function that asks is told of arrays.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import arraydispatch as ad

__all__ = ["LIBRARIES", "open_all"]


def _as_ndarray(real: Callable[..., Any]) -> Callable[..., Any]:
    """The function, given the ndarray in place of an ``Array``."""

    @functools.wraps(real)
    def answer(key: Any, *args: Any, **kwargs: Any) -> Any:
        return real(ad.to_numpy(key) if isinstance(key, ad.Array) else key, *args, **kwargs)

    return answer


_DOORS: dict[tuple[str, str], Callable[[Any], Any]] = {
    # `frame[W > 0]`: a mask only if it is a list, an ndarray or one of pandas' own, else the name of a column.
    ("pandas.core.common", "is_bool_indexer"): _as_ndarray,
}

LIBRARIES = frozenset(module.partition(".")[0] for module, _ in _DOORS)
"""Their names: the import hook calls :func:`open_all` when one has been imported."""

_opened: set[tuple[str, str]] = set()


def open_all() -> None:
    """Exchange what is there to be exchanged by now."""
    for door, exchange in _DOORS.items():
        module, name = door
        real = getattr(sys.modules.get(module), name, None)
        if door not in _opened and real is not None:
            _opened.add(door)
            setattr(sys.modules[module], name, exchange(real))
