"""Callbacks for imports: exchange functions of SciPy, dask, xarray and PyTorch once they are imported, without importing them.

While a request is in force (:func:`begin`), a finder is first on ``sys.meta_path``. It finds no module itself. It
prepares a backend's library that is about to be imported, and calls :mod:`arraydispatch.interop.scipy_stand_ins` after a module with
functions to be exchanged has run.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..backends import loader
from ..common.process_state import process
from ..common.signal_safety import imported

WATCHED = frozenset(
    "cloudpickle.cloudpickle dask.utils joblib.externals.cloudpickle.cloudpickle scipy.cluster.hierarchy scipy.cluster.vq"
    " scipy.fft scipy.integrate scipy.interpolate scipy.linalg scipy.ndimage scipy.optimize scipy.signal scipy.signal.windows scipy.sparse scipy.sparse.linalg scipy.spatial scipy.spatial.distance scipy.special scipy.stats torch"
    " xarray".split()
)
"""The modules that :data:`arraydispatch.scipy_support.MODULES` and :data:`arraydispatch.interop.packages.MODULES` list, which a test compares:
this module must not load those two."""

_changing = threading.RLock()
_noticed: dict[str, ModuleType] = {}
"""Modules whose functions were exchanged, under their names."""
_followers: list[Callable[[], None]] = []
"""Functions to call when a request begins (:func:`begin`), for parts of this package such as sparse arrays."""


class _Finder:
    """Finder that takes the spec of a watched module from the other finders, and has :func:`_notice` called when the module has run."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        loader.begins(name)
        if name not in WATCHED:
            return None
        for finder in sys.meta_path:
            find: Any = getattr(finder, "find_spec", None)
            spec = None if finder is _Finder or find is None else find(name, path, target)
            if spec is not None:
                break
        else:
            return None
        runs: Any = spec.loader
        real = getattr(runs, "exec_module", None)
        if real is None or not hasattr(runs, "__dict__"):
            return spec

        def exec_module(module: ModuleType) -> None:
            vars(runs).pop("exec_module", None)
            real(module)
            _notice(module, alone="arraydispatch.fastpath.recorded" in sys.modules)  # this thread is importing

        runs.exec_module = exec_module
        return spec


def _notice(module: ModuleType, alone: bool = False) -> None:
    """Exchange the functions of a module that has run, if a request is in force."""
    imported("arraydispatch.interop.scipy_stand_ins", alone=alone)
    from .scipy_stand_ins import open_module

    if process.interop:
        open_module(module)
        _noticed[module.__name__] = module


def catch_up() -> None:
    """Exchange functions of modules that were imported without a finder, as pytest (``--import-mode=importlib``) does from files."""
    if not process.interop:
        return
    for name in WATCHED:
        module = sys.modules.get(name)
        if module is None or module is _noticed.get(name) or getattr(module.__spec__, "_initializing", False):
            continue
        _notice(module)


def begin() -> None:
    """Exchange functions of modules that are or will be imported, until :func:`end` has been called as many times as this function."""
    with _changing:
        process.add("interop", 1)
        if _Finder not in sys.meta_path:
            sys.meta_path.insert(0, _Finder)
        catch_up()
        for follower in _followers:
            follower()


def end() -> None:
    """Withdraw a request. If it was the last one in force, restore the packages' own functions."""
    with _changing:
        process.add("interop", -1)
        if process.interop:
            return
        if _Finder in sys.meta_path:
            sys.meta_path.remove(_Finder)
        stand_ins = sys.modules.get("arraydispatch.interop.scipy_stand_ins")
        _noticed.clear()
        if stand_ins is not None:
            stand_ins.close()


def follow(opener: Callable[[], None]) -> None:
    """Call a function whenever a request comes into force, and now if one is in force."""
    with _changing:
        _followers.append(opener)
        if process.interop:
            opener()
