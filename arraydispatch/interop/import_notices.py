"""Notices that SciPy, dask, xarray or PyTorch is imported, and imports nothing for it.

``import arraydispatch`` puts one finder before the others, which answers nothing itself: of the few modules whose functions are to
take arrays it has :mod:`arraydispatch.interop.scipy_stand_ins` told once they have run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..common.signal_safety import imported

__all__ = ["WATCHED", "watch"]

WATCHED = frozenset(
    "cloudpickle.cloudpickle dask.utils joblib.externals.cloudpickle.cloudpickle scipy.cluster.hierarchy scipy.cluster.vq"
    " scipy.fft scipy.integrate scipy.interpolate scipy.linalg scipy.ndimage scipy.optimize scipy.signal scipy.signal.windows scipy.sparse scipy.sparse.linalg scipy.spatial scipy.spatial.distance scipy.special scipy.stats torch"
    " xarray".split()
)
"""What :data:`arraydispatch.scipy_support.MODULES` and :data:`arraydispatch.interop.packages.MODULES` list, which a test compares: to name them must
not load those."""


class _Finder:
    """A finder that leaves the finding to the others."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in WATCHED:
            return None
        for finder in sys.meta_path:
            find: Any = getattr(finder, "find_spec", None)
            spec = None if finder is _Finder or find is None else find(name, path, target)
            if spec is not None:
                break
        else:
            return None
        loader: Any = spec.loader
        real = getattr(loader, "exec_module", None)
        if real is None or not hasattr(loader, "__dict__"):
            return spec

        def exec_module(module: ModuleType) -> None:
            vars(loader).pop("exec_module", None)
            real(module)
            imported(
                "arraydispatch.interop.scipy_stand_ins", alone="arraydispatch.fastpath.recorded" in sys.modules
            )  # this thread holds an import
            from .scipy_stand_ins import open_module

            open_module(module)

        loader.exec_module = exec_module
        return spec


def watch() -> None:
    """Notice imports from now on, and what has been imported already."""
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
        if not WATCHED.isdisjoint(sys.modules):  # imported before this package
            imported("arraydispatch.interop.scipy_stand_ins")
            from .scipy_stand_ins import open_all

            open_all()
