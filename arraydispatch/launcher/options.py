"""Options of the launcher, which hold for a whole process and for the processes it starts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..api import public
from ..backends import loader
from ..common.errors import ArrayDispatchError, OptionError
from ..runtime import execution_policy, hardware, resources, settings
from . import ranks

ENVIRONMENT = "ARRAYDISPATCH_BACKEND"
"""Environment variable that names the backend if no option does."""

_BY_ENVIRONMENT = f"by {ENVIRONMENT}"

PRECISIONS = ("64", "32", "16", "bf16", "none")
"""Choices of ``--precision``."""


class Chosen(NamedTuple):
    """Backend and device of a run that names no backend."""

    backend: str
    device: str | None
    """Device; None for the library's own default."""
    why: str


def default_backend(device: str | None = None) -> Chosen:
    """Return the backend of a run that names none: the one in use, that of the environment variable, or the best one installed.

    Parameters
    ----------
    device : str, optional
        Device of the arrays.
    """
    if settings.default.backend != "numpy":
        return Chosen(settings.default.backend, device, "")
    named = os.environ.get(ENVIRONMENT)
    if named:
        return Chosen(named, device, _BY_ENVIRONMENT)
    installed = [name for name in loader.CHEAPEST if loader.installed(name)]
    kinds = [] if device == "cpu" else hardware.accelerators()
    for kind in kinds:
        for name in installed:
            if hardware.reaches(name, kind):
                found = _device(name) if device is None else device
                if found is not None:
                    return Chosen(name, found or None, f"chosen for the {kind}")
    if installed == ["numpy"]:
        return Chosen("numpy", device, "no array library is installed")
    if device == "cpu":
        return Chosen("numpy", device, "no library is named")
    none = f"no installed library sees the {kinds[0]}" if kinds else "there is no accelerator"
    return Chosen("numpy", device, f"no library is named, and {none}")


def _device(name: str) -> str | None:
    """Return the accelerator for which a library was built; "" if it is the library's default device, None if the library finds none."""
    try:
        there = loader.load(name).devices()
    except (ArrayDispatchError, ImportError, RuntimeError):  # the library was built for another version of the driver
        return None
    found = next((each.name for each in there if each.kind != "CPU"), None)
    return "" if found == there[0].name else found


class Choices(NamedTuple):
    """Options of ``arraydispatch run`` about arrays and their backend; see its help for their meaning."""

    backend: str | None = None
    device: str | None = None
    precision: str | None = None
    execution: execution_policy.Execution = None
    exact: bool = False
    min_size: int | None = None
    on_fallback: str = "warn"
    rng: str = "numpy"
    threads: int | None = None
    mesh: str | None = None
    simulated: bool = False
    why: str = ""
    """Reason for the backend, if it was not named."""
    by_policy: bool = False
    """Whether no option decided execution and ``min_size``."""

    @classmethod
    def of(cls, options: Any) -> Choices:
        """Return the options of a parsed command line; the policy decides execution and sizes that are not given."""
        made = cls(**{name: getattr(options, name) for name in cls._fields if hasattr(options, name)})
        calls = any((made.precision, made.device, getattr(options, "verify", False)))
        name = made.backend or default_backend(made.device).backend
        library, cpu = name != "numpy", not hardware.accelerators()
        asked: Any = made.execution
        if made.mesh is not None:
            library, cpu, asked = True, False, asked or "compiled"
        compiles = loader.compiles_on_cpu(name)
        policy = execution_policy.defaults(library, cpu, asked, made.min_size, calls=calls, compiles=compiles)
        by_policy = not (calls or asked or made.min_size is not None)
        return made._replace(execution=policy.execution, min_size=policy.min_size, by_policy=by_policy)

    def settled(self) -> Choices:
        """Return the options with a backend, chosen if none is named; raise the errors of :func:`arraydispatch.use` for a name from the
        environment.
        """
        if self.backend is not None:
            return self
        found = default_backend(self.device)
        if self.mesh is not None and not loader.KNOWN[found.backend].several:
            able = [name for name in loader.CHEAPEST if loader.KNOWN[name].several and loader.installed(name)]
            if able and found.why != _BY_ENVIRONMENT:
                return self._replace(backend=able[0], why="chosen for the mesh")
        if found.why == _BY_ENVIRONMENT:
            try:
                loader.check(found.backend)
            except ArrayDispatchError as error:
                raise type(error)(f"{ENVIRONMENT}={found.backend}: {error}") from None
        return self._replace(backend=found.backend, device=found.device, why=found.why)

    def to_json(self) -> str:
        """Serialise for the environment of a child process."""
        return json.dumps(self._asdict())

    def apply(self) -> None:
        """Make the options the defaults of this process; raise as :func:`arraydispatch.use` does."""
        # First, because a thread that starts before this has its own arena, which later threads reuse.
        resources.keep_memory(self.settled().backend != "numpy")
        self._use(whole=True)
        # The whole process belongs to the script, so a library that hides 64-bit types enables them once, not for each call.
        loader.when_loaded(
            settings.default.backend,
            lambda backend: backend.configure(enable_x64=True) if "enable_x64" in backend.OPTIONS else None,
        )
        if self.threads is not None:  # also applies to libraries loaded later, and to other processes
            os.environ.update(dict.fromkeys(resources.THREADS, str(self.threads)))

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Make the options the defaults for a block, in a process shared with other code; raise as :meth:`apply` does."""
        with settings.kept(), resources.kept():
            self._use()
            yield

    def _use(self, whole: bool = False) -> None:
        given: dict[str, Any] = {"execution": "eager"} if self.execution == "eager" else {}
        if self.precision is not None:
            given["precision"] = None if self.precision == "none" else self.precision
        name, device = (chosen := self.settled()).backend, chosen.device
        assert name is not None
        if self.mesh is not None:
            least = execution_policy.ACCELERATOR_FROM if self.min_size is None else self.min_size
            wanted = given["mesh"] = public.mesh(self.mesh, min_size=least)
            if self.simulated:
                among = 1 if ranks.mine is None else ranks.mine.count
                if wanted.count % among:
                    raise OptionError(f"{among} processes cannot have {wanted.count} devices among them, each as many.")
                loader.prepare_simulated(name, wanted.count // among)
        if name in loader.KNOWN:
            loader.prepare(name)  # the program may import the library before it is needed
            if self.exact:
                loader.prepare_exact(name)
            if whole and self.execution != "fused":
                loader.keep_programs(name)
        if self.threads is None:
            resources.fit()
        else:
            resources.use(self.threads, loader.loaded_one(name))
        if ranks.mine is not None:
            ranks.join(name)
        least = execution_policy.ACCELERATOR_FROM if self.min_size is None else self.min_size
        changes = {
            "min_size": 0 if self.execution == "eager" else least,
            "by_policy": self.by_policy,
            # With "warn" the launcher prints the messages itself (see Session), and the core does not warn.
            "fallback": "error" if self.on_fallback == "error" else "silent",
            "allowing": "Run it with --on-fallback warn to allow it.",
            "draws_on_device": self.rng == "device",
        }
        if device is None and not given:  # do not ask the library: it is imported only when needed
            loader.check(name)
            changes["backend"] = name
        else:
            public.use(name, device=device, **given)
        settings.default.change(**changes)
        if self.execution in ("fused", "compiled"):
            if hardware.accelerators() and self.device is None:  # only the library can tell whether the device exists
                loader.load(name)
            settings.set_execution(self.execution)
