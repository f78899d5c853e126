"""Import hook: user files that import NumPy get the facade, all other code NumPy itself.

``sys.modules["numpy"]`` stays NumPy's own, so a library never sees the facade. The hook calls the real import and only replaces
its result; it keeps no state. That matters because C code also imports through ``builtins.__import__``, with the globals of the
Python frame that happens to be running, and then takes the module from ``sys.modules`` and discards the result.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from types import ModuleType
from typing import Any

from ..common import callers
from ..common.patching import Exchange, Exchanges
from .user_files import UserFiles

STAND_IN = "arraydispatch.numpy"
"""Name under which a program imports the facade directly."""

_PACKAGE = STAND_IN.partition(".")[0]

_RESOLVERS = frozenset({
    "pkgutil", "unittest.mock", "_pytest.monkeypatch",
    "copy", "dill._dill", "pickle", "multiprocessing.connection", "multiprocessing.queues", "multiprocessing.spawn",
})  # fmt: skip
"""Modules that look up an object by a name that the user gives as a string (``mock.patch("numpy.mean")``) or in a pickle."""


def _names_stand_in(name: str, fromlist: Sequence[str] | None) -> bool:
    """Whether an import is :data:`STAND_IN`, a submodule of it, or ``from arraydispatch import numpy``."""
    return name == STAND_IN or name.startswith(f"{STAND_IN}.") or (name == _PACKAGE and "numpy" in (fromlist or ()))


_ON_BEHALF = frozenset({f"{__package__}.array_loading"})
"""Module whose functions unpickle on behalf of their caller."""


def _is_within_numpy(names: Mapping[str, object] | None) -> bool:
    """Whether globals are those of a module of NumPy's, whose functions import NumPy again when they run; its tests are users."""
    return (
        names is not None
        and str(names.get("__package__")).startswith("numpy.")
        and callers.is_core(str(names.get("__file__")))
    )


def _resolves(namespace: Mapping[str, object] | None) -> bool:
    return namespace is not None and namespace.get("__name__") in _RESOLVERS


class ImportHook:
    """Replacement for ``builtins.__import__`` and for its uses in :mod:`importlib` while it is installed.

    User files (by ``users``) see ``substitute(module)`` in place of a module, the facade of NumPy only those of ``importing``. ``tell(name,
    by_user)`` is called when one of the modules ``told`` has been imported, ``named(globals)`` when code imports :data:`STAND_IN` by its
    name, and ``compiled(module)`` is a context in which an extension module of the user's is loaded.
    """

    def __init__(
        self, users: UserFiles, substitute: Callable[[ModuleType], ModuleType],
        tell: Callable[[str, bool], None] = lambda name, by_user: None, told: AbstractSet[str] = frozenset(), *,
        importing: UserFiles | None = None, named: Callable[[dict[str, Any]], None] = lambda namespace: None,
        compiled: Callable[[ModuleType], AbstractContextManager[None]] | None = None,
    ) -> None:  # fmt: skip
        self._importers, self._named = users if importing is None else importing, named
        self._tell, self._told = tell, told
        self._users, self._compiled = users, compiled
        self._substitute = substitute
        self._active = False
        self._exchanges = Exchanges()

    def install(self) -> None:
        """Put the hook in place."""
        self._active = True
        self._exchanges.put("builtins:__import__", self._importing)
        self._exchanges.put("importlib:__import__", self._importing)
        self._exchanges.put("importlib:import_module", self._importing_module)
        if self._compiled is not None:
            self._exchanges.put("importlib.machinery:ExtensionFileLoader.exec_module", self._executing)

    def remove(self) -> None:
        """Remove the hook; if it has been wrapped in the meantime, it remains and passes calls through."""
        self._active = False
        self._exchanges.undo()

    def _importing(self, exchange: Exchange) -> Callable[..., ModuleType]:
        users, importers, substitute, real = self._users, self._importers, self._substitute, exchange.real

        @wraps(real)
        def __import__(
            name: str, globals: Mapping[str, object] | None = None, locals: Mapping[str, object] | None = None,
            fromlist: Sequence[str] | None = (), level: int = 0,
        ) -> ModuleType:  # fmt: skip
            module = real(name, globals, locals, fromlist, level)
            if level == 0:
                if name == "numpy" and _is_within_numpy(globals):
                    return module
                if name in self._told or name.partition(".")[0] in self._told:
                    self._tell(name, users.owns_globals(globals, sys._getframe(1)))  # type: ignore[arg-type]
                if self._active and (name == "numpy" or name.startswith("numpy.")):
                    namespace: Any = globals
                    if importers.owns_globals(namespace, sys._getframe(1)) or _resolves(namespace):
                        return substitute(module)
                if name.startswith(_PACKAGE) and _names_stand_in(name, fromlist):
                    self._named(sys._getframe(1).f_globals)
            return module

        return __import__

    def _importing_module(self, exchange: Exchange) -> Callable[..., ModuleType]:
        users, importers, substitute, real = self._users, self._importers, self._substitute, exchange.real

        @wraps(real)
        def import_module(name: str, package: str | None = None) -> ModuleType:
            module = real(name, package)
            name = importlib.util.resolve_name(name, package)
            if name in self._told or name.partition(".")[0] in self._told:
                self._tell(name, users.owns_frame(sys._getframe(1)))
            ours = self._active and (name == "numpy" or name.startswith("numpy."))
            if ours and (
                importers.owns_frame(frame := callers.beyond(sys._getframe(1), _ON_BEHALF))
                or _resolves(frame.f_globals)
            ):
                return substitute(module)
            if _names_stand_in(name, ()):
                self._named(sys._getframe(1).f_globals)
            return module

        return import_module

    def _executing(self, exchange: Exchange) -> Callable[..., None]:
        real, users, compiled = exchange.real, self._users, self._compiled
        assert compiled is not None

        @wraps(real)
        def exec_module(self: Any, module: ModuleType) -> None:
            origin = getattr(module.__spec__, "origin", None)
            with compiled(module) if exchange.on and origin and not users.is_installed(origin) else nullcontext():
                real(self, module)

        return exec_module
