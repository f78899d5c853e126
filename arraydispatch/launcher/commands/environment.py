"""``arraydispatch info``: the installed libraries, the defaults of a run, and advice to make it faster."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any

import numpy as np

from ... import __version__
from ..._core import handles
from ...backends import loader
from ...backends.devices import Device
from ...common.errors import ArrayDispatchError
from ...runtime import hardware
from ...runtime.resources import available
from ..options import ENVIRONMENT, Choices, default_backend

_THREADS = "OMP_NUM_THREADS"

EXTRAS = {
    "report": ("HTML reports", {"jinja2": "jinja2", "plotly": "plotly>=6"}),
    "compiled": ("compiled kernels", {"llvmlite": "llvmlite>=0.50"}),
}
"""Name of an extra in pyproject.toml that is not a library's -> its purpose, and a table: module -> requirement."""


def gather() -> dict[str, Any]:
    """Return libraries, defaults and advice as JSON data."""
    backends = [_backend(name) for name in loader.KNOWN]
    return {
        "arraydispatch": __version__,
        "python": sys.version.split()[0],
        "numpy": np.__version__,
        "compiled": handles.compiled,
        "default_backend": default_backend().backend,
        "why": default_backend().why,
        "defaults": _defaults(backends),
        "backends": backends,
        "extras": {name: _extra(*row) for name, row in EXTRAS.items()},
        "faster": _faster(backends),
    }


def _backend(name: str) -> dict[str, Any]:
    row = loader.KNOWN[name]
    if not loader.installed(name):
        return {"backend": name, "installed": False, "install": row.install}
    try:
        backend = loader.load(name)
        devices = backend.devices()
    except (ArrayDispatchError, ImportError) as error:
        return {"backend": name, "installed": True, "error": str(error), "install": row.install}
    return {
        "backend": name,
        "installed": True,
        "version": backend.version,
        "devices": [_device(device) for device in devices],
    }


def _extra(gives: str, needs: dict[str, str]) -> dict[str, Any]:
    lacking = [wanted for module, wanted in needs.items() if importlib.util.find_spec(module) is None]
    command = "pip install " + " ".join(f"'{wanted}'" if ">" in wanted else wanted for wanted in needs.values())
    return {"gives": gives, "installed": not lacking, "install": command}


def _device(device: Device) -> dict[str, Any]:
    return {
        "name": device.name, "kind": device.kind, "memory": device.memory, "processor_count": device.processor_count,
        "description": device.description,
    }  # fmt: skip


_UNSET = {"precision": "NumPy's own", "execution": "eager with host kernels"}
"""Text for a default of None."""


def _defaults(backends: list[dict[str, Any]]) -> dict[str, Any]:
    chosen, device, _ = default_backend()
    devices = next((row.get("devices") for row in backends if row["backend"] == chosen), None)
    plain = Choices.of(None)  # no option is given
    return {
        "backend": chosen,
        "device": device or (devices[0]["name"] if devices else None),
        "precision": plain.precision,
        "execution": plain.execution,
        "min_size": plain.min_size,
        "on_fallback": plain.on_fallback,
        "rng": plain.rng,
        "threads": available(),
    }


def _accelerated(backends: list[dict[str, Any]]) -> list[str]:
    """Return the names of the backends that have a device besides the CPU."""
    return [row["backend"] for row in backends if any(d["kind"] != "CPU" for d in row.get("devices", ()))]


def _faster(backends: list[dict[str, Any]]) -> list[str]:
    """Return one sentence for each change that would make runs here faster."""
    said = []
    chosen, fast = default_backend().backend, _accelerated(backends)
    libraries = [row for row in backends if row["backend"] != "numpy"]
    if not any("devices" in row for row in libraries):
        said.append(
            f"No array library is installed: install {', '.join(row['backend'] for row in libraries)} or several of them."
        )
    if not fast and hardware.NVIDIA in hardware.accelerators():
        said.append(
            "There is an NVIDIA GPU that no installed library sees: install a build of one for its CUDA version."
        )
    if fast and chosen not in fast:
        said.append(f"{' and '.join(fast)} see an accelerator, {chosen} does not: say --backend {fast[0]}.")
    cores, threads = available(), os.environ.get(_THREADS, "")
    if not fast and threads.isdecimal() and int(threads) < cores:
        said.append(f"{_THREADS}={threads} keeps libraries to {threads} of {cores} cores: unset it.")
    if not fast and any("devices" in row for row in libraries):
        said.append("Only CPUs here: an accelerator pays for arrays of some ten thousand elements and more.")
    if not handles.compiled:
        said.append(
            "The core runs as Python: install a C compiler, then arraydispatch again, for shorter calls on small arrays."
        )
    return said


def show(data: dict[str, Any]) -> None:
    """Print the information as a table and lines, in 80 columns if the terminal has no more."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, emoji=False, markup=False)  # `[jax]` must not be read as a style
    core = "compiled core" if data["compiled"] else "core not compiled"
    console.print(
        f"arraydispatch {data['arraydispatch']} ({core}), NumPy {data['numpy']}, Python {data['python']}",
        soft_wrap=True,
    )
    table = Table("backend", "version", "device", "kind", "memory", "cores", "description")
    notes = []
    for row in data["backends"]:
        if "devices" not in row:
            state = "does not load" if row["installed"] else "not installed"
            table.add_row(row["backend"], state)
            notes.append(f"{row['backend']} {state}: {row.get('error', row['install'])}")
        for at, device in enumerate(row.get("devices", ())):
            memory = f"{device['memory'] / 1e9:.1f} GB" if device["memory"] >= 0 else "unknown"
            cores = str(device["processor_count"]) if device["processor_count"] >= 0 else "unknown"
            name = (row["backend"], row["version"]) if at == 0 else ("", "")
            table.add_row(*name, device["name"], device["kind"], memory, cores, device["description"])
    console.print(table)
    for note in notes:
        console.print(note, soft_wrap=True)
    for name, extra in data["extras"].items():
        state = "installed" if extra["installed"] else f"not installed:\n  {extra['install']}"
        console.print(f"{extra['gives']} ([{name}]) {state}", soft_wrap=True)
    console.print(
        f"default backend of 'arraydispatch run': {data['default_backend']} ({data['why'] or 'in use'}; to change it: --backend or {ENVIRONMENT})"
    )
    others = ", ".join(
        f"{key.replace('_', '-')} {_UNSET.get(key, 'none') if value is None else value}"
        for key, value in data["defaults"].items()
        if key != "backend"
    )
    console.print(f"defaults: {others}")
    for sentence in data["faster"]:
        console.print(f"faster: {sentence}")
