"""Where what JAX compiled is kept from one run to the next, and shared with the scripts that tests start.

JAX writes an entry in place and takes one that is there for whole. So each worker has a folder of its own, where nobody reads
what another is writing, and a folder whose last run did not come to its end, which may have left half an entry, is emptied.

Half of what tests on JAX take is XLA's code generator for CPUs. :func:`quickly` has an older one, which is still there and takes
about a third of that. What XLA is given, and what it makes of that before any code, is the same; the last bits need not be. So a run
of the whole suite has it for all tests but those of :data:`LAST_BITS`, and whoever names a file, or asks for all, has none of it.
A fifth of the rest is that JAX sets MLIR up anew for each program; a run of the whole suite has a thread's programs share that.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

_VARIABLE = "JAX_COMPILATION_CACHE_DIR"
_held: list[tuple[IO[str], Path]] = []

LAST_BITS = (
    "backends/",
    "functions/",
    "scipy_support/special/",
    "ufuncs/test_exact_arithmetic.py",
    "profiling/test_verification_rounding.py",
)
"""Tests whose limits are units in the last place, or that know no other number: compiled as for users."""

_OLD = "xla_cpu_use_fusion_emitters"
"""What JAX 0.11 has no more: there is the newer generator alone. (To try would be to compile, and a process that has is not to be forked.)"""
_QUICK = {
    _OLD: False,  # each kernel of theirs sets MLIR up anew
    "xla_cpu_parallel_codegen_split_count": 1,
    "xla_backend_optimization_level": 0,
}
SHARED = 200
"""So many programs share a context of MLIR, which keeps what was written in them (constants) until it goes."""
_quick = False
_exchanged = False


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


def looks_at_last_bits(nodeid: str) -> bool:
    """Whether a test is of :data:`LAST_BITS`."""
    return nodeid.startswith(tuple(f"tests/{place}" for place in LAST_BITS))


def quickly(on: bool) -> None:
    """Whether JAX, which has been imported, compiles quickly from now on, here and in forks but not in what this process starts.

    Not by ``XLA_FLAGS``: they hold for all that a process ever compiles, for TensorFlow and for what it starts.
    """
    global _quick, _exchanged
    import jax

    if on is _quick:
        return
    if not _exchanged:
        from jax._src import compiler

        usual = compiler.get_compile_options
        quick = [(name, value) for name, value in _QUICK.items() if name != _OLD or jax.__version_info__ < (0, 11)]

        def options(*args: Any, **kwargs: Any) -> Any:
            made = usual(*args, **kwargs)
            if _quick:
                made.env_option_overrides = [*made.env_option_overrides, *quick]
            return made

        compiler.get_compile_options = options
        mlir = importlib.import_module("jax._src.interpreters.mlir")
        mlir.make_ir_context = _shared(mlir.make_ir_context)
        _exchanged = True
    _quick = on
    jax.clear_caches()  # programs that were compiled the other way


def _shared(make: Callable[[], Any]) -> Callable[[], Any]:
    """What gives each thread one context of MLIR for many programs."""
    of_thread = threading.local()

    def context() -> Any:
        left = getattr(of_thread, "left", 0)
        if not left:
            of_thread.context, left = make(), SHARED
        of_thread.left = left - 1  # last: what is interrupted before is done again
        return of_thread.context

    return context


def let_go() -> None:
    """Have JAX, which has been imported, forget what it compiled; what is needed again is in the folder."""
    import jax

    jax.clear_caches()
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:  # glibc's, which keeps what has been freed otherwise
        trim(0)
