"""How the launcher was asked to run: the options that hold for a whole process, and for the processes it starts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from .. import api, settings
from ..backends import loader
from ..backends.base import Backend

__all__ = ["ENVIRONMENT", "MIN_SIZE", "PRECISIONS", "Choices", "default_backend"]

ENVIRONMENT = "ARRAYDISPATCH_BACKEND"
"""Environment variable that names the backend where no option does."""

MIN_SIZE = 4096
"""``--min-size`` where none is given; docs/explanation/small-arrays.md has the measurement."""

PRECISIONS = ("64", "32", "16", "bf16", "none")
"""What ``--precision`` takes."""


def default_backend() -> str:
    """The backend of a run that names none: in use already, the environment's, or the first library installed."""
    used = settings.default.backend
    named = used if used != "numpy" else os.environ.get(ENVIRONMENT)
    if named:
        return named
    return next((name for name in loader.available() if name != "numpy"), "numpy")


@dataclass(frozen=True)
class Choices:
    """Options of ``arraydispatch run`` that say where and how arrays live; see its help for their meaning."""

    backend: str | None = None
    device: str | None = None
    precision: str | None = None
    execution: str | None = None
    min_size: int = MIN_SIZE
    on_fallback: str = "warn"
    rng: str = "numpy"

    @classmethod
    def of(cls, options: Any) -> Choices:
        """Those of a parsed command line."""
        return cls(**{name: getattr(options, name) for name in cls.__dataclass_fields__ if hasattr(options, name)})

    def to_json(self) -> str:
        """For the environment of a child process."""
        return json.dumps(asdict(self))

    def apply(self) -> None:
        """Make them the defaults of this process; raises what :func:`arraydispatch.use` raises."""
        backend = self._use()
        # The whole process is the script's, so a library that hides 64-bit types shows them globally: no switch per call.
        if "enable_x64" in backend.OPTIONS:
            backend.configure(enable_x64=True)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Make them the defaults for a block, in a process that is not ours alone; raises what :meth:`apply` raises."""
        from . import rng

        drawing = rng._on_device
        with settings.kept():
            try:
                self._use()
                yield
            finally:
                rng.use_device(drawing)

    def _use(self) -> Backend:
        from . import rng

        given: dict[str, Any] = {} if self.execution is None else {"execution": self.execution}
        if self.precision is not None:
            given["precision"] = None if self.precision == "none" else self.precision
        backend = api.use(self.backend or default_backend(), device=self.device, **given)
        settings.default.min_size = self.min_size
        # In "warn" the launcher speaks for itself (see Session); the core keeps quiet.
        settings.fallback("error" if self.on_fallback == "error" else "silent")
        settings.default.allowing = "Run it with --on-fallback warn to allow it."
        rng.use_device(self.rng == "device")
        return backend
