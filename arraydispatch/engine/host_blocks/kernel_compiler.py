"""Compilation of kernels by LLVM for this processor; the code is kept on disk for other processes."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
from collections.abc import Callable
from importlib.util import find_spec
from threading import get_ident
from time import perf_counter
from typing import Any

from ...common import events
from ...common.cache_folders import folder

__all__ = ["Compiler", "is_there", "remember", "remembered"]

MOST_FILES = 4096
"""Maximum number of kernels and names of chains on disk; the oldest are removed when there are more."""
_DIGEST = 32
"""Bytes of a SHA-256 digest."""


def is_there() -> bool:
    """Whether llvmlite is installed. It is imported when the first kernel is made."""
    try:
        return find_spec("llvmlite") is not None
    except (ImportError, ValueError):
        return False


def remembered() -> set[str]:
    """Return the names of the chains that any process has compiled."""
    where = folder("chains")
    try:
        return set() if where is None else set(os.listdir(where))
    except OSError:
        return set()


def remember(chain: str) -> None:
    """Record for other processes that a chain was worth compiling; failures to write are ignored."""
    where = folder("chains")
    if where is not None:
        with contextlib.suppress(OSError):
            with open(os.path.join(where, chain), "ab"):
                pass
            _leave(where)


def _leave(where: str) -> None:
    """Remove the oldest files of the folder ``where`` if there are too many."""
    there = [os.path.join(where, name) for name in os.listdir(where) if not name.startswith(".")]
    if len(there) > MOST_FILES:
        there.sort(key=os.path.getmtime)
        for path_of_old in there[: MOST_FILES // 4]:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path_of_old)


class Compiler:
    """Compiler of LLVM sources that define ``@kernel``, a function of two addresses."""

    def __init__(self) -> None:
        import llvmlite
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        processor, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
        target = llvm.Target.from_default_triple()
        self._llvm = llvm
        self._machine = target.create_target_machine(cpu=processor, features=features, opt=2, jit=True)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), self._machine)
        self._engine.set_object_cache(self._compiled, self._known)
        self._for = f"{llvmlite.__version__} {target.triple} {processor} {features}"
        self._folder = folder("kernels")
        self._found: bytes | None = None
        self._engine.finalize_object()  # an empty module: the cache is used only for kernels

    def __call__(self, source: str) -> Callable[[int, int], int]:
        """Return the function; raise ``RuntimeError`` if LLVM rejects the source."""
        digest = hashlib.sha256(f"{self._for}\n{source}".encode()).hexdigest()
        name = f"kernel_{digest}"
        module = self._llvm.parse_assembly(source.replace("@kernel(", f"@{name}("))
        module.name = name
        self._found = _read(self._folder, name)
        start = perf_counter()
        if self._found is None:
            options = self._llvm.create_pipeline_tuning_options(speed_level=2)
            options.loop_vectorization = options.loop_interleaving = True
            builder = self._llvm.create_pass_builder(self._machine, options)
            builder.getModulePassManager().run(module, builder)
        self._engine.add_module(module)
        self._engine.finalize_object()
        if self._found is None and events.tap is not None:
            events.tap.compiled("llvm", 1, perf_counter() - start)
        made = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        return made(self._engine.get_function_address(name))

    def _known(self, module: Any) -> bytes | None:
        return self._found if module.name.startswith("kernel_") else None

    def _compiled(self, module: Any, code: bytes) -> None:
        if module.name.startswith("kernel_"):
            _write(self._folder, module.name, code)


def _read(where: str | None, name: str) -> bytes | None:
    """Return the machine code that the file ``name`` in the folder ``where`` contains; None if it is missing or broken."""
    if where is None:
        return None
    try:
        with open(os.path.join(where, name), "rb") as file:
            kept = file.read()
    except OSError:
        return None
    return kept[_DIGEST:] if hashlib.sha256(kept[_DIGEST:]).digest() == kept[:_DIGEST] else None


def _write(where: str | None, name: str, code: bytes) -> None:
    """Write machine code to a file in the folder ``where`` (None: do nothing) for other processes, atomically; failures are ignored."""
    if where is None:
        return
    path = os.path.join(where, f".{name}-{os.getpid()}-{get_ident()}")  # of this thread alone
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(hashlib.sha256(code).digest() + code)
            os.replace(path, os.path.join(where, name))
        except OSError:
            os.unlink(path)
            raise
        _leave(where)
