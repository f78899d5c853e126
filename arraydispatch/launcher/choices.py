"""How the launcher was asked to run: the options that hold for a whole process, and for the processes it starts."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import Any

from .. import api, settings
from ..backends import loader

__all__ = ["ENVIRONMENT", "MIN_SIZE", "Choices", "default_backend"]

ENVIRONMENT = "ARRAYDISPATCH_BACKEND"
"""Environment variable that names the backend where no option does."""

MIN_SIZE = 4096
"""``--min-size`` where none is given; docs/explanation/small-arrays.md has the measurement."""


def default_backend() -> str:
    """The backend of a run that names none: the environment's, else the first library that is installed."""
    named = os.environ.get(ENVIRONMENT)
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
        from . import rng

        name = self.backend or default_backend()
        backend = loader.load(name)
        # The whole process is the script's, so a library that hides 64-bit types shows them globally: no switch per call.
        extra = {"enable_x64": True} if "enable_x64" in backend.OPTIONS else {}
        given = {} if self.precision is None else {"precision": _precision(self.precision)}
        api.use(name, device=self.device, execution=self.execution, **given, **extra)
        settings.default.min_size = self.min_size
        # In "warn" the launcher speaks for itself (see Session); the core keeps quiet.
        settings.fallback("error" if self.on_fallback == "error" else "silent")
        settings.default.allowing = "Run it with --on-fallback warn to allow it."
        rng.use_device(self.rng == "device")


def _precision(text: str) -> Any:
    return None if text.lower() == "none" else int(text) if text.isdigit() else text
