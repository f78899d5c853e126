"""NumPy on the backend in use: ``import arraydispatch.numpy as np``.

The module is the stand-in for NumPy that programs get from the launcher (:mod:`arraydispatch.launcher.facade`); arrays are on the
backend of :func:`arraydispatch.use` or of the innermost ``with arraydispatch.backend(...)`` block. NumPy's other modules can be imported
under this name too: ``from arraydispatch.numpy.linalg import norm``. For modules that import this one, and for other packages, arrays
count as ``np.ndarray``. Modules that ``import numpy`` keep NumPy.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy  # noqa: ICN001 -- this module has the name too

from .launcher import activation, facade, processes
from .launcher.import_hook import STAND_IN
from .launcher.user_files import asking

if TYPE_CHECKING:
    from numpy import *  # noqa: F403


class _Finder:
    """Finder and loader of the stand-ins for NumPy's other modules."""

    @classmethod
    def find_spec(cls, name: str, _path: Any = None, _target: Any = None) -> ModuleSpec | None:
        real = name.removeprefix(STAND_IN)
        if real == name or not real.startswith("."):
            return None
        if importlib.util.find_spec(f"numpy{real}") is None:
            return None
        return ModuleSpec(name, cls)  # type: ignore[arg-type]

    @staticmethod
    def create_module(_spec: ModuleSpec) -> None:
        """Let Python make the module and set its attributes there: the facade must not get them."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        real = importlib.import_module(f"numpy{module.__name__.removeprefix(STAND_IN)}")
        sys.modules[module.__name__] = facade.substitute(real)


sys.meta_path.insert(0, _Finder)
processes.survive_forks()
activation.count_importer(asking(sys._getframe()))
sys.modules[__name__] = facade.substitute(numpy)
