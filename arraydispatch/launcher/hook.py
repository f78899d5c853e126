"""The import hook: user files that import NumPy are handed the facade, everybody else the real thing.

``sys.modules["numpy"]`` stays real, so a library never meets the facade. The hook lets the real import do all the
work and only exchanges the answer; it keeps no record. That matters because C code imports through
``builtins.__import__`` too, with the globals of whatever Python frame happens to be running, and then takes its module
from ``sys.modules`` and drops our answer.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from types import ModuleType
from typing import Any

from .userfiles import UserFiles

__all__ = ["ImportHook"]


_RESOLVERS = frozenset({"pkgutil", "unittest.mock", "_pytest.monkeypatch"})
"""Modules that find what a user names by a string, to patch it: ``mock.patch("numpy.mean")``."""


def _resolves(namespace: Mapping[str, object] | None) -> bool:
    return namespace is not None and namespace.get("__name__") in _RESOLVERS


class ImportHook:
    """Replaces ``builtins.__import__`` and ``importlib.import_module`` while it is installed.

    Parameters
    ----------
    users : UserFiles
        Says who is asking.
    substitute : callable
        Gives the module a user file sees in place of a real one (the same module, where there is none).
    tell, told : callable, set of str
        What is called when one of these modules has been imported.
    """

    def __init__(
        self,
        users: UserFiles,
        substitute: Callable[[ModuleType], ModuleType],
        tell: Callable[[], None] = lambda: None,
        told: AbstractSet[str] = frozenset(),
    ) -> None:
        self._tell, self._told = tell, told
        self._users = users
        self._substitute = substitute
        self._active = False

    def install(self) -> None:
        """Put the hook in place."""
        users, substitute = self._users, self._substitute
        real_import, real_import_module = builtins.__import__, importlib.import_module

        def __import__(
            name: str,
            globals: Mapping[str, object] | None = None,
            locals: Mapping[str, object] | None = None,
            fromlist: Sequence[str] | None = (),
            level: int = 0,
        ) -> ModuleType:
            module = real_import(name, globals, locals, fromlist, level)
            if level == 0 and self._active and (name == "numpy" or name.startswith("numpy.")):
                namespace: Any = globals
                if users.owns_globals(namespace, sys._getframe(1)) or _resolves(namespace):
                    return substitute(module)
            elif level == 0 and name.partition(".")[0] in self._told:
                self._tell()
            return module

        def import_module(name: str, package: str | None = None) -> ModuleType:
            """Import a module (see ``importlib.import_module``)."""
            module = real_import_module(name, package)
            ours = self._active and (name == "numpy" or name.startswith("numpy."))
            if ours and (users.owns_frame(frame := sys._getframe(1)) or _resolves(frame.f_globals)):
                return substitute(module)
            if name.partition(".")[0] in self._told:
                self._tell()
            return module

        self._real = real_import, real_import_module
        self._ours = __import__, import_module
        builtins.__import__, importlib.import_module = __import__, import_module
        self._active = True

    def remove(self) -> None:
        """Take the hook out again; where someone has wrapped it meanwhile, it stays as a plain passage."""
        self._active = False
        if builtins.__import__ is self._ours[0]:
            builtins.__import__ = self._real[0]
        if importlib.import_module is self._ours[1]:
            importlib.import_module = self._real[1]
