"""The import hook: user files that import NumPy are handed the facade, everybody else the real thing.

``sys.modules["numpy"]`` stays real, so a library never meets the facade. The hook lets the real import do all the
work and only exchanges the answer; it keeps no record. That matters because C code imports through
``builtins.__import__`` too, with the globals of whatever Python frame happens to be running, and then takes its module
from ``sys.modules`` and drops our answer.
"""

from __future__ import annotations

import builtins
import importlib.util
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
    """Replaces ``builtins.__import__`` and what :mod:`importlib` has of it while it is installed.

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
        self._exchanged = [
            (holder, name, real := getattr(holder, name), make(real))
            for holder, name, make in (
                (builtins, "__import__", self._importing),
                (importlib, "__import__", self._importing),
                (importlib, "import_module", self._importing_module),
            )
        ]
        for holder, name, _, ours in self._exchanged:
            setattr(holder, name, ours)
        self._active = True

    def remove(self) -> None:
        """Take the hook out again; where someone has wrapped it meanwhile, it stays as a plain passage."""
        self._active = False
        for holder, name, real, ours in self._exchanged:
            if getattr(holder, name) is ours:
                setattr(holder, name, real)

    def _importing(self, real: Callable[..., ModuleType]) -> Callable[..., ModuleType]:
        users, substitute = self._users, self._substitute

        def __import__(
            name: str,
            globals: Mapping[str, object] | None = None,
            locals: Mapping[str, object] | None = None,
            fromlist: Sequence[str] | None = (),
            level: int = 0,
        ) -> ModuleType:
            module = real(name, globals, locals, fromlist, level)
            if level == 0 and self._active and (name == "numpy" or name.startswith("numpy.")):
                namespace: Any = globals
                if users.owns_globals(namespace, sys._getframe(1)) or _resolves(namespace):
                    return substitute(module)
            elif level == 0 and name.partition(".")[0] in self._told:
                self._tell()
            return module

        return __import__

    def _importing_module(self, real: Callable[..., ModuleType]) -> Callable[..., ModuleType]:
        users, substitute = self._users, self._substitute

        def import_module(name: str, package: str | None = None) -> ModuleType:
            """Import a module (see ``importlib.import_module``)."""
            module = real(name, package)
            name = importlib.util.resolve_name(name, package)
            ours = self._active and (name == "numpy" or name.startswith("numpy."))
            if ours and (users.owns_frame(frame := sys._getframe(1)) or _resolves(frame.f_globals)):
                return substitute(module)
            if name.partition(".")[0] in self._told:
                self._tell()
            return module

        return import_module
