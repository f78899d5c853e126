"""Detection of accelerators, and of the libraries built for them, without importing any library."""

from __future__ import annotations

import fnmatch
import glob
import importlib.util
import os
import re
from typing import Any

from ..backends import loader
from ..common.signal_safety import imported

NVIDIA, AMD, TPU = "NVIDIA GPU", "AMD GPU", "TPU"

_HIDING = {
    NVIDIA: ("CUDA_VISIBLE_DEVICES",),
    AMD: ("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"),
}
"""Kind of accelerator -> environment variables that hide such devices from a process."""


def accelerators() -> list[str]:
    """Return the kinds of accelerators that this process may use, according to the system's drivers."""
    found = {
        NVIDIA: _any("/dev/nvidia[0-9]*", "/usr/lib/wsl/lib/libcuda.so*") or _on_windows("nvidia-smi"),
        AMD: _any("/dev/kfd") and _any("/dev/dri/renderD*"),
        TPU: _any("/dev/accel[0-9]*", "/dev/vfio/[0-9]*"),
    }
    return [kind for kind, there in found.items() if there and not _hidden(kind)]


def _any(*patterns: str) -> bool:
    return any(glob.glob(pattern) for pattern in patterns)


def _on_windows(command: str) -> bool:
    if os.name != "nt":
        return False
    shutil: Any = imported("shutil")  # which imports every format of archives
    return shutil.which(command) is not None


def _hidden(kind: str) -> bool:
    return any(os.environ.get(name, "0").strip() in ("", "-1", "none", "void") for name in _HIDING.get(kind, ()))


def reaches(name: str, kind: str) -> bool:
    """Whether the installed library of a backend was built for a kind of accelerator, and is not configured to ignore
    it.

    The evidence is listed in :data:`arraydispatch.backends.loader.KNOWN`: ``file PATTERN`` in the library's folder,
    ``text FILE PATTERN`` for a regular expression that a file there contains, ``distribution PATTERN`` for another
    package.
    """
    row = loader.KNOWN[name]
    sign, _, what = row.built_for.get(kind, "").partition(" ")
    if not sign or not loader.installed(name) or os.environ.get(row.platforms, "") == "cpu":
        return False
    if sign == "distribution":
        from importlib.metadata import distributions

        every = distributions()
        return any(fnmatch.fnmatch((found.name or "").lower().replace("_", "-"), what) for found in every)
    spec = importlib.util.find_spec(row.library)
    for folder in () if spec is None else spec.submodule_search_locations or ():
        if sign == "file" and glob.glob(os.path.join(folder, what)):
            return True
        file, _, pattern = what.partition(" ")
        if sign == "text" and _contains(os.path.join(folder, file), pattern):
            return True
    return False


def _contains(path: str, pattern: str) -> bool:
    try:
        with open(path, encoding="utf-8") as file:
            return re.search(pattern, file.read()) is not None
    except (OSError, ValueError):
        return False
