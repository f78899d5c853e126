"""Where what JAX compiled is kept from one run to the next, and shared with the scripts that tests start.

JAX writes an entry in place and takes one that is there for whole. So each worker has a folder of its own, where nobody reads
what another is writing, and a folder whose last run did not come to its end, which may have left half an entry, is emptied.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO

_VARIABLE = "JAX_COMPILATION_CACHE_DIR"
_held: list[tuple[IO[str], Path]] = []


def _alone(folder: Path) -> bool:
    """Whether no other run uses the folder now; none does until this process ends, however it ends."""
    try:
        import fcntl
    except ImportError:
        return False
    lock = (folder / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        return False
    _held.append((lock, folder))
    return True


def begin(root: Path) -> None:
    """Choose the folder of this process, before JAX is imported; a choice of the user's stands."""
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "0")
    worker = os.environ.get("PYTEST_XDIST_WORKER", "alone")
    if os.environ.get(_VARIABLE, str(root)).startswith(str(root)):
        folder = root / worker
        folder.mkdir(parents=True, exist_ok=True)
        if not _alone(folder):
            folder = Path(tempfile.mkdtemp(prefix="compiled-"))
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ[_VARIABLE] = str(folder / "entries")
        if (folder / "begun").exists():
            shutil.rmtree(folder / "entries", ignore_errors=True)
        (folder / "begun").touch()


def end() -> None:
    """What this process wrote is whole."""
    for lock, folder in _held:
        (folder / "begun").unlink(missing_ok=True)
        lock.close()
    _held.clear()
