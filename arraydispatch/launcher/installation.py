"""Functions to accelerate code that is already running: :func:`install` for a process, :func:`accelerated` and :func:`accelerate` for a
module's code.

Each opens an :class:`arraydispatch.launcher.activation.Activation`, as the command and the notebook's magic do, and exchanges names
that modules have bound to objects of NumPy. They differ in what counts as user code, and in whether the backend is set for the
process or for a block.
"""

from __future__ import annotations

import atexit
import functools
import inspect
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, Self, TypeVar, overload

from ..api import public
from ..backends import loader
from ..backends.base import Backend
from ..common.errors import SettingError
from ..common.patching import Exchanges
from ..common.process_state import process
from ..common.sentinels import UNSET
from ..runtime import settings
from . import facade, processes, runner, tracebacks
from .activation import Activation, has_stand_in, in_run
from .options import Choices
from .user_files import AllUsers, UserFiles, asking, of_command_line, of_namespace

F = TypeVar("F", bound=Callable[..., Any])

_changing = threading.RLock()
_installed: list[ExitStack] = []
"""Stack that undoes :func:`install`; empty unless that is in force."""


# -- for a process -------------------------------------------------------------------------------------------------------


def install(
    backend: str | None = None, *, device: str | None = None, precision: Any = UNSET, execution: str | None = None,
    min_size: int | None = None, fallback: str | None = None, include: str | list[str] | tuple[str, ...] = (),
) -> None:  # fmt: skip
    """Run the program's NumPy code on a backend from now on, as ``arraydispatch run`` does.

    Call it first: in the first cell of a notebook, on the first line of a script, or in ``sitecustomize.py``. Then
    ``import numpy`` in the program's files gives the stand-in for NumPy whose arrays are on the backend. Where modules of
    the program have imported NumPy already, the names at their top level are exchanged. References in other objects (a
    default argument, an attribute of a class, a closure) remain NumPy's own functions: these compute with arrays of the
    backend on the backend, and create NumPy arrays.

    A second call replaces the settings of the first. Python processes that the program starts run as this one does.

    Parameters
    ----------
    backend : str, optional
        Name of the backend. By default the one in use, the one named by the environment variable ``ARRAYDISPATCH_BACKEND``,
        or the best one that is installed, as for ``arraydispatch run``.
    device : str, optional
        Device for new arrays.
    precision : {64, 32, 16, "bf16", None}, optional
        Precision of fresh floating results; None means NumPy's own rules. By default it is not changed.
    execution : {"eager", "fused"}, optional
        How calls run, as for :func:`arraydispatch.use`.
    min_size : int, optional
        Arrays with fewer elements stay on the host, as with ``--min-size``.
    fallback : {"warn", "error", "silent"}, optional
        What happens when a call has to run on the host. By default it is not changed.
    include : str or list of str, optional
        More user code: files, folders or installed packages.

    Raises
    ------
    NoBackendFoundError, BackendNotInstalledError, DeviceNotFoundError, PrecisionError, SettingError
        If an option cannot be applied; the message lists the choices. Then nothing is changed, and an earlier call stays in force.

    See Also
    --------
    uninstall : Restore settings, imports and NumPy's names.
    accelerated : Switch the code of one module, for a block.
    """
    caller = asking(sys._getframe(1))
    choices = _choices(backend, device, precision, execution, min_size, fallback)
    users = AllUsers()
    users.rules = (UserFiles([*_roots(include), *_of_program()]), of_namespace(caller, vars(sys.modules["__main__"])))
    with _changing:
        with _applied(choices, fallback):  # raises before anything changes if an option cannot be applied
            pass
        uninstall()
        with ExitStack() as stack:
            stack.enter_context(_applied(choices, fallback))
            stack.enter_context(processes.survived())
            tracebacks.hide_ours_at_the_end(stack.enter_context(Exchanges()))
            stack.enter_context(_switched(users, _modules_of))
            if choices is not None:
                policy = process.fallback if fallback is None else fallback
                stack.enter_context(processes.inherited(choices._replace(on_fallback=policy), users.roots))
            _installed.append(stack.pop_all())
            atexit.register(uninstall)


def uninstall() -> None:
    """Undo :func:`install`: restore settings, imports, and the names of NumPy in the program's modules.

    Arrays stay where they are. Objects that hold a function of the stand-in keep it, and it still works. Has no effect without
    :func:`install` before, nor on modules that import ``arraydispatch.numpy``.
    """
    with _changing:
        if _installed:
            atexit.unregister(uninstall)
            _installed.pop().close()


def _choices(backend: Any, device: Any, precision: Any, execution: Any, min_size: Any, fallback: Any) -> Choices | None:
    """Return the options of a call, checked as far as possible without the library; None if the call gives none, while a run is set up.

    Raise the errors of :func:`install` for wrong options.
    """
    if backend is not None:
        backend = str(backend)
        loader.check(backend)
    if precision is not UNSET:
        precision = settings.check_precision(precision)
        precision = "none" if precision is None else str(precision)
    if min_size is not None and (isinstance(min_size, bool) or not isinstance(min_size, int) or min_size < 0):
        raise SettingError(f"min_size must be a non-negative integer, got {min_size!r}.")
    if fallback is not None:
        settings.check_fallback(fallback)
    settings.check_execution(execution)
    if execution == "fused" and min_size == 0:
        raise SettingError(
            "execution='fused' and min_size=0 exclude each other: fused calls are on values on the host."
        )
    given = {"backend": backend, "device": device, "precision": precision, "execution": execution, "min_size": min_size}
    made = {name: value for name, value in given.items() if value is not None and value is not UNSET}
    if not made and in_run():
        return None
    return Choices.of(SimpleNamespace(**made))


@contextmanager
def _applied(choices: Choices | None, fallback: Any) -> Iterator[None]:
    if choices is None:
        with settings.kept():
            if fallback is not None:
                settings.default.fallback = fallback
            yield
        return
    before = process.held("fallback", "allowing")
    with choices.applied():
        settings.default.change(**before if fallback is None else {**before, "fallback": fallback})
        yield


def _roots(include: str | list[str] | tuple[str, ...]) -> list[str]:
    try:
        return [
            root for name in ([include] if isinstance(include, str) else include) for root in runner.include_roots(name)
        ]
    except runner.NotFound as error:
        raise SettingError(str(error).replace("--include ", "include=")) from None


def _of_program() -> list[str]:
    """Return the folder of the program: that of the script, or the current folder if the program has no file."""
    found = of_command_line(UserFiles([]))
    if not found and not hasattr(sys.modules["__main__"], "__file__"):
        found = [os.getcwd()]
    return found


def _modules_of(users: UserFiles) -> list[dict[str, Any]]:
    """Return the globals of user code: of imported modules, and of namespaces without a module."""
    spaces = [*(vars(module) for module in list(sys.modules.values()) if type(module) is ModuleType), *users.namespaces]
    return [names for names in {id(names): names for names in spaces}.values() if users._says(names)]


def _switched(users: UserFiles, modules_of: Callable[[UserFiles], list[dict[str, Any]]]) -> ExitStack:
    """Put the stand-ins in place for user code, and under the names that modules of user code have bound to NumPy. Close the result to
    undo both.
    """
    with ExitStack() as stack:
        taken: list[dict[str, Any]] = []
        stack.callback(lambda: _put_back(taken, modules_of(users)))
        stack.enter_context(Activation(users))
        taken += modules_of(users)
        facade.take(*taken)
        return stack.pop_all()


def _put_back(taken: list[dict[str, Any]], modules: list[dict[str, Any]]) -> None:
    """Restore NumPy's own objects in ``taken``, the globals of modules, and remove the stand-ins from ``modules``; except where the stand-in
    is there for another reason too.
    """
    for names in taken:
        facade.give_back(names, imported=not has_stand_in(names))
    for names in modules:
        if not has_stand_in(names):
            facade.take_out(names)


# -- for a block ---------------------------------------------------------------------------------------------------------


class accelerated:
    """Run the NumPy code of one module on a backend, while the block runs: ``with ad.accelerated("jax"): ...``.

    During the block, names bound to NumPy at the top level of the module refer to the stand-in, and imports of NumPy in
    it give the stand-in. Other modules are not changed: they compute with arrays of the backend on the backend, but
    create NumPy arrays. The backend and the precision hold for this thread or task; the names are
    exchanged for all threads that run code of the module. Arrays made in the block stay on the backend after it.

    Parameters
    ----------
    backend : str or Backend, optional
        Backend for new arrays; by default the one in use.
    precision : {64, 32, 16, "bf16", None}, optional
        Precision of fresh floating results in the block.
    execution : {"eager", "fused", None}, optional
        How calls run during the block, in all threads.
    include : str or list of str, optional
        More code to switch: files, folders or installed packages.

    Raises
    ------
    NoBackendFoundError, BackendNotInstalledError, PrecisionError, SettingError
        If an option cannot be applied; the message lists the choices.
    """

    def __init__(
        self, backend: Any = None, *, precision: Any = UNSET, execution: Any = UNSET,
        include: str | list[str] | tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        self._prepare(asking(sys._getframe(1)), backend, precision, execution, include)

    def _prepare(
        self, names: dict[str, Any], backend: Any, precision: Any = UNSET, execution: Any = UNSET, include: Any = ()
    ) -> None:
        self._backend = None if backend is None else public.backend(backend)
        self._precision = precision if precision is UNSET else settings.check_precision(precision)
        self._execution = execution if execution is UNSET else settings.check_execution(execution)
        self._names, self._users, self._more = names, AllUsers(), bool(roots := _roots(include))
        self._users.rules = (of_namespace(names), *([UserFiles(roots)] if roots else []))
        self._entered: list[ExitStack] = []

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(_switched(self._users, _modules_of if self._more else lambda _users: [self._names]))
            if self._backend is not None:
                stack.enter_context(self._backend)
            if self._precision is not UNSET:
                stack.enter_context(public.precision(self._precision))
            if self._execution is not UNSET:
                stack.enter_context(public.execution(self._execution))
            self._entered.append(stack.pop_all())
        return self

    def __exit__(self, *_: object) -> None:
        entered = self._entered.pop()
        if not self._is_ending():  # Python then closes suspended generators, when this module may have lost its names
            entered.close()

    _is_ending = staticmethod(sys.is_finalizing)


@overload
def accelerate(function: F, /) -> F: ...
@overload
def accelerate(
    backend: str | Backend | None = None,
    /,
    *,
    precision: Any = UNSET,
    execution: Any = UNSET,
    include: str | list[str] | tuple[str, ...] = (),
) -> Callable[[F], F]: ...
def accelerate(function: Any = None, /, **options: Any) -> Any:
    """Run a function's NumPy code on a backend: ``@ad.accelerate`` or ``@ad.accelerate("jax", precision=32)``.

    Each call runs in a block of :func:`arraydispatch.accelerated` for the module that defines the function.
    Coroutine functions may be decorated too.

    Parameters
    ----------
    function : callable, str or Backend, optional
        The function, or the backend for new arrays; without a backend it is the one in use.
    **options
        Parameters of :func:`arraydispatch.accelerated`: ``precision``, ``execution``, ``include``.

    Returns
    -------
    callable
        The function, or a decorator.

    Raises
    ------
    TypeError
        If the object is not a Python function, or is a generator function: other code runs between its steps.
    """
    if callable(function) or isinstance(function, staticmethod | classmethod):
        return _accelerate(function, None, options)
    if function is not None and not isinstance(function, str | Backend):
        raise TypeError(f"accelerate takes a function or a backend, got {function!r}.")
    backend = None if function is None else public.backend(function)
    return lambda decorated: _accelerate(decorated, backend, options)


def _accelerate(function: Any, backend: Backend | None, options: dict[str, Any]) -> Any:
    if isinstance(function, staticmethod | classmethod):
        return type(function)(_accelerate(function.__func__, backend, options))
    inner = inspect.unwrap(function)
    if not isinstance(inner, FunctionType):
        raise TypeError(f"accelerate takes a function written in Python, got {function!r}.")
    if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
        raise TypeError(
            f"accelerate does not take the generator function {inner.__qualname__!r}; use a block of accelerated() where it is consumed."
        )
    block = accelerated.__new__(accelerated)
    block._prepare(inner.__globals__, backend, **options)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with block:
            return function(*args, **kwargs)

    @functools.wraps(function)
    async def wait(*args: Any, **kwargs: Any) -> Any:
        with block:
            return await function(*args, **kwargs)

    return wait if inspect.iscoroutinefunction(inner) else call
