"""Arrays and other packages: SciPy, xarray, dask, and PyTorch's ``asarray``.

SciPy's functions do not dispatch on their arguments, and some packages look at the class of an array, where no protocol can
answer. So functions of theirs are exchanged for functions that take arrays, but only on request: while the launcher runs, and
in library use after :func:`install`, or :func:`installed` for a block. ``import arraydispatch`` exchanges nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from . import import_notices

__all__ = ["install", "installed", "uninstall"]

_installed: list[bool] = []


def install() -> None:
    """Have SciPy's functions take arrays and return arrays from now on; likewise xarray's, dask's and ``torch.asarray``.

    Packages may be imported before or after. A second call has no effect.

    See Also
    --------
    uninstall : Undo it.
    installed : Do it for a block.
    """
    if not _installed:
        _installed.append(True)
        import_notices.begin()


def uninstall() -> None:
    """Undo :func:`install`: the packages' own functions are back. Without :func:`install` before, nothing happens."""
    if _installed:
        _installed.pop()
        import_notices.end()


@contextmanager
def installed() -> Iterator[None]:
    """Have SciPy's functions take arrays while the block runs, in all threads: ``with interop.installed(): ...``."""
    import_notices.begin()
    try:
        yield
    finally:
        import_notices.end()
