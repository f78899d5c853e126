"""Activation of the stand-ins for NumPy in this process: the one mechanism of the command, notebooks, pytest and library use.

While at least one :class:`Activation` is open, the import hook, the patches of other packages and the settings that make arrays
look like ndarrays to user code are in place. User code is the union of what the open activations declare as user code. Activations
may be opened and closed in any order and by any thread; the last one that closes undoes everything.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from ..backends.loader import take_for_ndarrays
from ..common.patching import Exchanges
from ..common.process_state import process
from . import (
    adoption,
    array_methods,
    facade,
    import_hook,
    numpy_classes,
    numpy_warnings,
    package_patches,
    signal_handlers,
    tracebacks,
)
from .user_files import AllUsers, UserFiles, of_namespace

_changing = threading.RLock()
_open: list[Activation] = []
_in_place: list[ExitStack] = []
"""Stack that undoes the changes that all open activations share; empty while none is open."""
_users = AllUsers()
"""User code of the open activations."""
_importing = AllUsers()
"""User code whose ``import numpy`` gives the stand-in."""


class Activation:
    """Request to have the stand-ins in place from :meth:`begin` to :meth:`end`, for the user code that the rule ``users`` defines.

    ``observer`` is called with each ndarray that is moved to the backend; of several observers, only that of the last activation.
    ``imports``: whether ``import numpy`` in user code gives the stand-in; else only modules that import ``arraydispatch.numpy`` get it.
    """

    def __init__(self, users: UserFiles, observer: Any = None, *, imports: bool = True) -> None:
        self.users, self._observer, self._imports = users, observer, imports

    def begin(self) -> Self:
        """Put the stand-ins in place for this user code."""
        with _changing:
            _open.append(self)
            try:
                users, observer = _follow()
                if _in_place:
                    process.change(users=users, observer=observer)
                else:
                    _in_place.append(_put_in_place(users, observer))
            except BaseException:
                self.end()
                raise
        return self

    def end(self) -> None:
        """Withdraw the request; further calls have no effect."""
        with _changing:
            if self in _open:
                _open.remove(self)
                users, observer = _follow()
                if _open:
                    process.change(users=users, observer=observer)
                elif _in_place:
                    _in_place.pop().close()

    def __enter__(self) -> Self:
        return self.begin()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.end()


def begin(users: UserFiles, opened: package_patches.Doors, observer: Any = None) -> None:
    """Present arrays as ``np.ndarray`` to the code of ``users``, and adopt ndarrays that come from libraries. ``opened``:
    doors of the run.
    """
    opened.open_all()
    process.change(
        users=users, observer=observer, around=adoption.receiving, wrapper=numpy_classes.make, natives_first=True
    )
    take_for_ndarrays(True)


def _put_in_place(users: UserFiles, observer: Any) -> ExitStack:
    with ExitStack() as stack:
        stack.callback(lambda: take_for_ndarrays(process.users is not None))
        # The activation for importers of arraydispatch.numpy is never closed. Were this a suspended generator, Python would close it at
        # the end of the process, when modules are already taken apart.
        before = process.held("users", "observer", "around", "visited", "wrapper", "natives_first")
        stack.callback(lambda: process.change(**before))
        run = stack.enter_context(Exchanges())
        opened = package_patches.Doors(run)
        importer = import_hook.ImportHook(
            _users,
            facade.substitute,
            opened.open_all,
            package_patches.LIBRARIES,
            importing=_importing,
            named=count_importer,
            loading=opened.loading,
        )
        importer.install()
        stack.callback(importer.remove)
        begin(users, opened, observer)
        numpy_warnings.at_user_lines(run)
        tracebacks.hide_ours(run)
        signal_handlers.after_calls(run)
        array_methods.for_c_code(_users, run, facade.twins)
        return stack.pop_all()


_around: list[UserFiles] = []
"""User code of the run, if this process is a child process of one."""


def _follow() -> tuple[UserFiles, Any]:
    """Set the shared rules for user code to the union of the open activations' rules; return the union, and the observer in force."""
    if not _in_place:
        _around[:] = [] if process.users is None else [process.users]
    _users.rules = (*_around, *(each.users for each in _open))
    _importing.rules = (*_around, *(each.users for each in _open if each._imports))
    observers = [each._observer for each in _open if each._observer is not None]
    return _users.rules[0] if len(_users.rules) == 1 else _users, observers[-1] if observers else None


_importers = AllUsers()
_importers_named: list[Activation] = []
"""Activation of the modules that import ``arraydispatch.numpy``, if there are any; it is never closed."""


def count_importer(namespace: dict[str, Any]) -> None:
    """Treat a module, given by its globals, as user code from now on, because it has imported ``arraydispatch.numpy``."""
    with _changing:
        if not _importers._says(namespace):
            _importers.rules = (*_importers.rules, of_namespace(namespace))
        if not _importers_named:
            _importers_named.append(Activation(_importers, imports=False).begin())


def has_stand_in(namespace: dict[str, Any]) -> bool:
    """Whether a module, given by its globals, gets the stand-in when it imports NumPy or ``arraydispatch.numpy``."""
    return bool(_importers._says(namespace) or _importing._says(namespace))


def in_run() -> bool:
    """Whether a command, a notebook's magic or pytest runs user code and has chosen its settings."""
    return bool(_around) or any(each._observer is not None for each in _open)
