"""Compiles the core: the modules through which every call on a small array goes.

They are ordinary Python, and run as such where nothing compiles them: without a C compiler, without Cython, with
``ARRAYDISPATCH_PURE=1``. Then nothing is different but the time of a call, and that C code sees no array's memory. The ``.pxd`` file beside a module says which of its values are C values; ``arraydispatch/_core/_handles.h`` has the
state of an array as a C struct. All of them are compiled or none.

Run as a script, it compiles them in place, those that have changed; installing does the same.
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
PACKAGE = ROOT / "arraydispatch"
MODULES = (
    "backends/kinds", "dispatch/memory_order", "dispatch/protocols", "dispatch/shortcuts",
    "engine/compiled_blocks/programs", "engine/compiled_blocks/tapes", "engine/compiled_blocks/units", "engine/compiled_blocks/values",
    "engine/compiled_blocks/variant",
    "engine/loops", "engine/nodes",
    "engine/host_blocks/blocks", "engine/host_blocks/stretch_kernels",
    "engine/recording/call_nodes", "engine/recording/reductions", "engine/recording/result_order", "engine/recording/tape",
    "engine/recording/updates", "engine/recording/writes",
    "fastpath/creation", "fastpath/functions", "fastpath/methods", "fastpath/recorded", "fastpath/results",
    "memory/roots", "memory/view_programs", "memory/views", "memory/writing", "transforms/call_cache", "ufuncs/plans", "ufuncs/rows",
)  # fmt: skip
CORE, OTHERS = "_core/_handles", ("_core/_allocator", "_core/_machine")
"""Those that are written in C: the state of arrays and their operators; memory that arrays have left, and calls of machine code."""


def sources() -> list[Path]:
    """What the core is compiled from."""
    declared = [*PACKAGE.rglob("*.pxd"), *PACKAGE.glob(f"{CORE}.*[ch]"), *(PACKAGE / f"{name}.c" for name in OTHERS)]
    return sorted([Path(__file__).resolve(), *(PACKAGE / f"{name}.py" for name in MODULES), *declared])


def state() -> str:
    """What tells whether a compiled core is of today's sources: it is ``arraydispatch._core._handles.SOURCES``."""
    said = hashlib.sha256()
    for path in sources():
        said.update(path.read_bytes())
    return said.hexdigest()


def compiled() -> list[Path]:
    """The files that :func:`build` makes for this Python."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    return [PACKAGE / f"{name}{suffix}" for name in (CORE, *OTHERS, *MODULES)]


def stale() -> list[Path]:
    """Return compiled files of this Python in the package that are of no module which is compiled now: Python would take them for one."""
    return sorted(set(PACKAGE.rglob(f"*{sysconfig.get_config_var('EXT_SUFFIX')}")) - set(compiled()))


def build() -> list[Path]:
    """Compile what has changed, in place, and remove what was compiled of other modules.

    Raises
    ------
    Exception
        Whatever Cython or the compiler raised; then nothing compiled is left.
    """
    try:
        _compile()
    except BaseException:
        remove()
        raise
    for path in stale():
        path.unlink()
    return compiled()


def remove() -> None:
    """Leave the core to Python."""
    for path in (*compiled(), *stale()):
        path.unlink(missing_ok=True)


def _compile() -> None:
    import numpy as np
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    def extension(name: str, ends: str, **options: Any) -> Extension:
        return Extension(
            f"{PACKAGE.name}.{name.replace('/', '.')}", [f"{PACKAGE.name}/{name}.{ends}"],
            include_dirs=[np.get_include(), PACKAGE.name], depends=headers,
            extra_compile_args=[] if os.name == "nt" else ["-O2", "-g0"], **options,
        )  # fmt: skip

    before = Path.cwd()
    os.chdir(ROOT)  # setuptools and Cython go by relative paths
    try:
        headers = [f"{PACKAGE.name}/{CORE}.h"]
        modules = cythonize(
            [extension(name, "py", define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")]) for name in MODULES],
            build_dir="build/core", language_level=3, quiet=True,
        )  # fmt: skip
        core = extension(CORE, "c", define_macros=[("SOURCES", f'"{state()}"')])
        core.depends = [str(path.relative_to(ROOT)) for path in sources()]  # compiled anew for the new state
        extensions = [core, *[extension(name, "c") for name in OTHERS], *modules]
        command = build_ext(Distribution({"name": PACKAGE.name, "ext_modules": extensions}))
        command.inplace, command.parallel, command.build_temp = True, os.cpu_count(), "build/core"
        command.ensure_finalized()
        command.run()
    finally:
        os.chdir(before)


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run as a script
    pass
else:

    class CompiledCore(BuildHookInterface):  # type: ignore[type-arg]
        """Puts the compiled core into the wheel, or leaves it next to its sources in an editable installation."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            """See :class:`BuildHookInterface`."""
            if self.target_name != "wheel":
                return
            if os.environ.get("ARRAYDISPATCH_PURE", "0") not in ("", "0"):
                remove()
                return
            try:
                made = build()
            except (Exception, SystemExit) as error:  # whatever a compiler does: the package works without
                self.app.display_warning(f"arraydispatch is installed uncompiled: {type(error).__name__}: {error}")
                return
            if version != "editable":
                build_data["pure_python"], build_data["infer_tag"] = False, True
                build_data["force_include"] |= {str(path): path.relative_to(ROOT).as_posix() for path in made}


if __name__ == "__main__":
    try:
        build()
    except (Exception, SystemExit) as failure:  # as above
        sys.exit(f"The core runs uncompiled: {type(failure).__name__}: {failure}")
