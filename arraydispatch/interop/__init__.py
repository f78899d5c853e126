"""Arrays and other packages: SciPy, xarray, dask, and PyTorch's ``asarray``.

SciPy's functions do not dispatch on their arguments, and some packages test the class of an array, which no protocol can
change. So some of their functions are exchanged for functions that take arrays, but only on request: while the launcher runs, and
in library use after :func:`install`, or :func:`installed` for a block. ``import arraydispatch`` exchanges nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from . import import_notices

__all__ = ["install", "installed", "uninstall"]

_installed: list[bool] = []


def install() -> None:
    """Make SciPy's functions take and return arrays from now on, and likewise xarray's, dask's and ``torch.asarray``.

    Packages may be imported before or after. A second call has no effect.

    See Also
    --------
    uninstall : Restore the packages' own functions.
    installed : Do the same for the duration of a block.
    """
    if not _installed:
        _installed.append(True)
        import_notices.begin()


def uninstall() -> None:
    """Undo :func:`install` by restoring the packages' own functions. Has no effect without :func:`install` before."""
    if _installed:
        _installed.pop()
        import_notices.end()


@contextmanager
def installed() -> Iterator[None]:
    """Make SciPy's functions take arrays during a block, in all threads: ``with interop.installed(): ...``."""
    import_notices.begin()
    try:
        yield
    finally:
        import_notices.end()
