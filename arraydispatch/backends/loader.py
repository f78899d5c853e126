"""Table of known backends, and functions that check whether a backend is installed and load it at most once.

This is the only place outside ``backends/<library>/`` that knows the libraries by name.
"""

from __future__ import annotations

import atexit
import glob
import importlib.util
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from time import perf_counter
from typing import Any, NamedTuple

from ..common import events
from ..common.errors import ArrayDispatchError, BackendNotInstalledError, NoBackendFoundError, did_you_mean
from ..common.process_state import process
from ..common.signal_safety import imported, importing, may_import
from .base import Backend


class _Row(NamedTuple):
    library: str
    roots: tuple[str, ...]  # top-level modules whose types are this library's arrays
    install: str
    built_for: dict[str, str] = {}  # noqa: RUF012 -- kind of accelerators -> what shows it (see `hardware.reaches`)
    platforms: str = ""  # environment variable that limits it to platforms; "cpu": no accelerator
    environment: tuple[dict[str, str], ...] = ()  # variables read on import; a group is set if none of it is
    adds: dict[str, str] = {}  # noqa: RUF012 -- an option to add to variables that it reads on import, unless the user has given it
    imports: tuple[str, ...] = ()  # other modules it imports that print messages while they are imported
    exact: dict[str, str] = {}  # noqa: RUF012 -- words to add to variables that it reads at its start, so that it does not contract arithmetic
    several: str = ""  # pattern of an environment variable, as NAME=VALUE, that makes a CPU count as several devices
    simulate: str = ""  # environment variable with the number of devices that a CPU counts as
    compiles: bool = False  # whether compiled execution is its default on a CPU: a block takes tenths of a second
    entry: Any = None  # the entry point of a backend that another distribution adds
    keeps: dict[str, str] = {}  # noqa: RUF012 -- variables that have it keep programs for other processes, in a folder {}; the first belongs to the user if it is set
    waits: tuple[
        str, ...
    ] = ()  # packages that it imports at the end of its own import if they are installed, and on first use anyway
    misreads: dict[str, str] = {}  # noqa: RUF012 -- function that reads the bytes of an array as another dtype -> function that does not


# Without fused multiply-add instructions, XLA cannot contract a product and a sum.
_XLA_ROUNDS_TWICE = {"XLA_FLAGS": "--xla_cpu_max_isa=AVX"}
# Its "tiled emitter" writes loops over elements without constants: exp and tanh take three times as long as in its other loops, and
# operations on an array and a transposed one 14 times (JAX 0.10.2, TensorFlow 2.21).
_XLA_LOOPS = {"XLA_FLAGS": "--xla_backend_extra_options=xla_cpu_disable_tiled_emitter"}

KNOWN: dict[str, _Row] = {
    "numpy": _Row("numpy", ("numpy",), "pip install numpy"),
    "jax": _Row(
        "jax", ("jax", "jaxlib"), "pip install 'jax>=0.10'",
        {
            "NVIDIA GPU": "distribution jax-cuda*-plugin",
            "AMD GPU": "distribution jax-rocm*-plugin",
            "TPU": "distribution libtpu",
        },
        "JAX_PLATFORMS",
        adds=_XLA_LOOPS,
        exact=_XLA_ROUNDS_TWICE,
        several="JAX_NUM_CPU_DEVICES=|XLA_FLAGS=.*host_platform_device_count",
        simulate="JAX_NUM_CPU_DEVICES",
        keeps={
            "JAX_COMPILATION_CACHE_DIR": "{}",
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        },
        compiles=True,
    ),
    "torch": _Row(
        "torch", ("torch",), "pip install 'torch>=2.13'",
        {"NVIDIA GPU": "file lib/*torch_cuda.*", "AMD GPU": "file lib/*torch_hip.*"},
        # Its allocator then asks the system for large pages, as NumPy's does: a new array of 64 MB has 32 page faults for 16,000.
        # Idle OpenMP threads sleep soon; else they spin for milliseconds on processors that NumPy needs.
        # GNU's spin 10,000 times first: a kernel with a barrier for each row takes four times as long if they sleep at once.
        environment=({"THP_MEM_ALLOC_ENABLE": "1"}, {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "10000"}),
        keeps={"TORCHINDUCTOR_CACHE_DIR": "{}"},
        misreads={"asarray": "as_tensor"},  # it reads Python's buffer protocol instead of DLPack
    ),
    "tensorflow": _Row(
        "tensorflow", ("tensorflow",), "pip install 'tensorflow>=2.21'",
        {
            "NVIDIA GPU": r"text python/platform/build_info.py is_cuda_build\W+True",
            "AMD GPU": r"text python/platform/build_info.py is_rocm_build\W+True",
        },
        # While it is imported, its C++ code writes its findings to stderr, e.g. that a CPU lacks some instruction.
        # Errors are raised as well, and fatal ones are still written.
        environment=({"TF_CPP_MIN_LOG_LEVEL": "3"},),
        adds=_XLA_LOOPS,
        imports=("absl", "h5py", "jax", "matplotlib", "numexpr"),
        exact=_XLA_ROUNDS_TWICE,
        keeps={"TF_XLA_FLAGS": "--tf_xla_persistent_cache_directory='{}'"},
        waits=("keras.src",),  # imports scikit-learn, pandas and Matplotlib too; `tf.keras` imports it
        compiles=True,
    ),
}  # fmt: skip
CHEAPEST = ("torch", "jax", "tensorflow", "numpy")
"""Backends in the order of their cost to a program: import of the library (1.5, 0.8 and 3.2 s), compilation (0,
hundreds of programs, 0), calls (measured on the examples with every array on the library: 2.8, 6.9 and 6.0 s for the
digits).
"""
_ROOT_TO_NAME = {root: name for name, row in KNOWN.items() for root in row.roots}

_loaded: dict[str, Backend] = {}
_by_type: dict[type, Backend | None] = {}
_lock = threading.RLock()
_begun: set[str] = set()
_waiting: dict[str, list[Callable[[Backend], None]]] = {}
_hosted: dict[str, Backend] = {}
_wrapper: type | None = None


GROUP = "arraydispatch.backends"
"""Group of the entry points by which other distributions add backends: ``name = "module:BACKEND"``."""


@cache
def discover() -> None:
    """Add the backends of other distributions to :data:`KNOWN` without importing them; names that are known already keep their backend."""
    from importlib import metadata

    found = metadata.entry_points(group=GROUP)
    for entry in found:
        if entry.name not in KNOWN:
            distribution = entry.dist.name if entry.dist is not None else entry.module
            KNOWN[entry.name] = _Row(entry.module, (), f"pip install {distribution}", entry=entry)


def _from_entry_point(name: str, row: _Row) -> Backend:
    """Return the backend that another distribution adds. If it cannot be imported or is no backend, raise an error that names the
    distribution.
    """
    whose = f"backend {name!r}, which the entry point {row.entry.value!r} of {_distribution(row.entry)} adds,"
    try:
        backend = row.entry.load()
    except ImportError as error:
        raise BackendNotInstalledError(f"{whose} cannot be imported: {error}; install what it needs.") from error
    except AttributeError as error:
        raise NoBackendFoundError(f"{whose} is not there: {error}.") from error
    except Exception as error:
        raise ArrayDispatchError(f"{whose} raised {type(error).__name__} while it was imported: {error}") from error
    if not isinstance(backend, Backend):
        raise NoBackendFoundError(f"{whose} is not an instance of arraydispatch.Backend, but {type(backend).__name__}.")
    lacking = [each for each in ("library", "install", "mutable", "prim", "UFUNCS") if not hasattr(backend, each)]
    if lacking:
        raise NoBackendFoundError(f"{whose} has no attribute {lacking[0]!r}.")
    if getattr(backend, "name", None) != name:
        raise NoBackendFoundError(f"{whose} names itself {getattr(backend, 'name', None)!r}.")
    root = backend.library.partition(".")[0]
    KNOWN[name] = row._replace(roots=(root,))
    _ROOT_TO_NAME.setdefault(root, name)
    _by_type.clear()
    return backend


def _from_package(name: str, row: _Row) -> Backend:
    """Return one of this package's backends; raise an error if its library is installed but cannot be imported."""
    found: list[Any] = []

    def begin() -> None:
        try:
            found.append(imported(f"{__package__}.{name}"))
        except Exception as error:
            raise BackendNotInstalledError(
                f"backend {name!r}: the library {row.library!r} is installed and cannot be imported:"
                f" {type(error).__name__}: {error}; to install it again, run: {row.install}"
            ) from error

    importing(begin, brief=False)  # an exception of a signal handler is not an error of the library
    backend: Backend = found[0].BACKEND
    return backend


def _distribution(entry: Any) -> str:
    return f"the distribution {entry.dist.name!r}" if entry.dist is not None else "an unknown distribution"


def _is_found(module: str) -> bool:
    """Whether a module can be imported; False too if its parent cannot."""
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


def compiles_on_cpu(name: str) -> bool:
    """Whether compiled execution is the default of a backend also on a CPU; False for unknown backends."""
    return name in KNOWN and KNOWN[name].compiles


def installed(name: str) -> bool:
    """Whether the library of a known backend can be imported (without importing it)."""
    library = KNOWN[name].library
    if library in sys.modules:
        return sys.modules[library] is not None
    return _is_found(library)


def several_cpus(name: str) -> bool:
    """Whether environment variables make a CPU count as several devices for the library of a known backend."""
    pattern = KNOWN[name].several
    return bool(pattern) and any(re.match(pattern, f"{key}={value}") for key, value in os.environ.items())


def available() -> list[str]:
    """Return the names of the backends whose library is installed."""
    discover()
    return [name for name in KNOWN if installed(name)]


def check(name: str) -> None:
    """Raise the error of :func:`load` if a backend is unknown or its library is missing, without importing the library."""
    if name not in KNOWN:
        discover()
    if name not in KNOWN:
        known = ", ".join(KNOWN)
        raise NoBackendFoundError(
            f"there is no backend named {name!r}{did_you_mean(name, KNOWN)}; choose one of: {known}."
        )
    if not installed(name):
        row = KNOWN[name]
        raise BackendNotInstalledError(
            f"backend {name!r} needs the library {row.library!r}, which is not installed; run: {row.install}"
        )


def version(name: str) -> str:
    """Return the version of a backend's library, without importing it."""
    backend = _loaded.get(name)
    if backend is not None:
        return backend.version
    distributions = KNOWN[name].library, f"{KNOWN[name].library}-cpu"
    for (
        distribution
    ) in distributions:  # importlib.metadata reads the same names, but takes a tenth of the launcher's start
        pattern = f"{distribution.replace('-', '_')}-*.dist-info"
        found = [folder for path in sys.path for folder in glob.glob(os.path.join(glob.escape(path), pattern))]
        if len(found) == 1:
            return os.path.basename(found[0]).removesuffix(".dist-info").rpartition("-")[2]
    from importlib import metadata

    for distribution in distributions:
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            pass
    return load(name).version


def prepare(name: str) -> None:
    """Set the environment variables that a backend's library reads on import. This is called whether this package or the program imports
    it.
    """
    for group in KNOWN[name].environment:
        if os.environ.keys().isdisjoint(group):
            os.environ.update(group)
    for variable, option in KNOWN[name].adds.items():
        given = _options(variable)
        if option.partition("=")[0] not in given:
            os.environ[variable] = f"{option} {given}".rstrip()


def _options(variable: str) -> str:
    """Return the options in an environment variable, or in the file that it names. A library reads a file only if the variable has no option."""
    given = os.environ.get(variable, "").strip()
    if given and not given.startswith("-"):
        with suppress(OSError), open(given, encoding="utf-8") as file:
            return " ".join(file.read().split())
    return given


def prepare_exact(name: str) -> None:
    """Prevent a known backend's compiler from contracting a product and a sum on a CPU, in this process and its children.

    Contraction rounds once instead of twice.

    Raises
    ------
    ArrayDispatchError
        If the library has been imported before, because it may have read its settings.
    """
    for variable, words in KNOWN[name].exact.items():
        given = _options(variable).split()
        if words in given[-1:]:
            continue
        if KNOWN[name].library in sys.modules:
            raise ArrayDispatchError(
                f"exact arithmetic must be requested before {name} is imported; restart Python, or start it with {variable}={words}"
            )
        os.environ[variable] = " ".join([*given, words])


_when_imported: dict[str, Callable[[], None]] = {}
"""Library -> function to call when it is about to be imported."""


def keep_programs(name: str) -> None:
    """Make a known backend's compiler keep programs for later processes, from its library's import on (:func:`_prepare_to_keep`)."""
    if KNOWN[name].keeps:
        _when_imported[KNOWN[name].library] = lambda: _prepare_to_keep(name)


def begins(library: str) -> None:
    """Call the function that waits for the import of a library, if there is one. The import begins now, by this package or the program."""
    if (prepare := _when_imported.pop(library, None)) is not None:
        prepare()


MOST_BYTES_KEPT = 1 << 30
"""Maximum bytes of all libraries' programs on disk: above it, a process removes the least recently used programs at its end."""


def _prepare_to_keep(name: str) -> None:
    """Make a known backend's compiler keep programs for later processes, in a folder of the user's cache.

    The libraries' keys do not distinguish processors, nor all versions and options of the compiler, so each
    combination has a folder. Do nothing if the user has set the library's own variable, or has imported the library.
    """
    row = KNOWN[name]
    if not row.keeps or next(iter(row.keeps)) in os.environ or row.library in sys.modules:
        return
    hashlib: Any = imported("hashlib")
    cache_folders: Any = imported("arraydispatch.common.cache_folders")
    made_for = [version(name), _processor(), *[os.environ.get(variable, "") for variable in row.exact]]
    digest = hashlib.sha256("\n".join(made_for).encode()).hexdigest()[:16]
    folder = cache_folders.folder("programs", f"{name}-{digest}")
    if folder is None or "'" in folder:
        return
    os.environ.update({variable: value.format(folder) for variable, value in row.keeps.items()})
    atexit.register(_prune, name, os.getpid(), os.path.dirname(folder))


def _processor() -> str:
    """Return a description of the processor with its instruction sets, as far as the system tells."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            found = dict(
                line.split(":", 1) for line in lines.read(1 << 14).split("\n\n", 1)[0].splitlines() if ":" in line
            )
        return "".join(text for key, text in found.items() if key.strip() in ("model name", "flags", "Features"))
    except OSError:
        return str(imported("platform").processor())


def _prune(name: str, whose: int, folder: Any) -> None:
    if name in _loaded and whose == os.getpid():
        cache_folders: Any = imported("arraydispatch.common.cache_folders")
        cache_folders.prune(folder, MOST_BYTES_KEPT)


def prepare_simulated(name: str, count: int) -> None:
    """Make a CPU count as ``count`` devices of a known backend, in this process and its children.

    Raises
    ------
    ArrayDispatchError
        If the library cannot simulate devices, or has been imported before.
    """
    row = KNOWN.get(name)
    if row is None or not row.simulate:
        raise ArrayDispatchError(f"backend {name!r} does not simulate devices.")
    if row.library in sys.modules:
        raise ArrayDispatchError(f"devices must be simulated before {name} is imported; restart Python.")
    os.environ[row.simulate] = str(count)
    os.environ[row.platforms] = "cpu"


@contextmanager
def _unnoticed(row: _Row) -> Iterator[None]:
    """Hide side effects of importing a library in the middle of a program.

    A seeded program draws the same numbers afterwards, even if the library draws some itself (JAX waits for random times
    from ``np.random.rand``). The library's log messages do not reach the handlers that a program has set up for its
    own, unless the program has imported the library or used its loggers. Warning filters that the library adds (TensorFlow imports
    SciPy, which ignores those of ``np.matrix``) come after the program's, as if it had been imported before.
    """
    logging: Any = imported("logging")
    random: Any = imported("random")
    quiet = [logging.getLogger(root) for root in (*row.roots, *row.imports)] if row.library not in sys.modules else []
    quiet = [logger for logger in quiet if logger.level == logging.NOTSET]
    for logger in quiet:
        logger.setLevel(logging.WARNING)
    numpys: Any = sys.modules.get("numpy.random")  # before the program has it, there is nothing to preserve
    drawn, numbers = random.getstate(), None if numpys is None else numpys.get_state(legacy=False)
    filters: Any = warnings.filters
    programs = [*filters]
    try:
        yield
    finally:
        filters[:] = programs + [each for each in filters if each not in programs]
        random.setstate(drawn)
        if numpys is not None:
            numpys.set_state(numbers)
        for logger in quiet:
            if logger.name in row.imports:  # the program may import it later
                logger.setLevel(logging.NOTSET)


class _NotYet:
    """Import finder that hides some packages from the thread that imports a library."""

    def __init__(self, row: _Row) -> None:
        self._row, self._thread = row, 0

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == self._row.library:  # in whichever thread: see `imported`
            self._thread = threading.get_ident()
        elif name in self._row.waits and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"{name} is imported on first use", name=name)


@contextmanager
def _without(row: _Row) -> Iterator[None]:
    """Prevent a library's import of packages that it also imports on first use, unless the library or one of the packages is imported."""
    if not row.waits or row.library in sys.modules or any(name.partition(".")[0] in sys.modules for name in row.waits):
        yield
        return
    finder: Any = _NotYet(row)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def when_loaded(name: str, then: Callable[[Backend], None]) -> None:
    """Call a function with a backend when it is loaded; immediately if it is loaded already."""
    with _lock:
        backend = _loaded.get(name)
        if backend is None:
            _waiting.setdefault(name, []).append(then)
    if backend is not None:
        then(backend)


def load(name: str) -> Backend:
    """Return the backend of that name, importing its library if necessary.

    Raises
    ------
    NoBackendFoundError
        For an unknown name.
    BackendNotInstalledError
        If the library is missing, or cannot be imported.
    """
    backend = _loaded.get(name)
    if backend is not None:
        return backend
    check(name)
    begin = perf_counter()
    with _lock:
        backend = _loaded.get(name)
        mine = backend is None
        if backend is None:
            _begun.add(name)
            try:
                backend = _begin(name)
            finally:
                _begun.discard(name)
    if events.tap is not None:
        events.tap.started(name, begin, perf_counter(), mine)
    return backend


def _begin(name: str) -> Backend:
    prepare(name)
    row = KNOWN[name]
    begins(row.library)
    with _unnoticed(row), _without(row):
        backend = _from_package(name, row) if row.entry is None else _from_entry_point(name, row)
    if name in _loaded:  # raised by a signal handler
        return _loaded[name]
    if _wrapper is not None:
        backend.adopt_wrapper(_wrapper)
    if process.threads is not None:
        with suppress(RuntimeError):  # the program has started the library itself
            backend.use_threads(process.threads)
    for then in _waiting.pop(name, []):
        then(backend)
    _loaded[name] = backend
    return backend


def at_hand(name: str) -> Backend:
    """Return the backend of that name, or the host state of its arrays while its library must not be imported.

    That is during any import, which a signal handler may have interrupted or another thread may be running: a library
    would find half-made modules. After one failed import, PyTorch cannot be imported again in the same process.
    """
    backend = _loaded.get(name)
    if backend is not None:
        return backend
    if name != "numpy" and (name in _begun or not may_import()):
        return hosted(name)
    return load(name)


@cache
def hosted(name: str) -> Backend:
    """Return the host state of a backend's arrays (:attr:`Backend.hosted`), without loading the backend."""
    host: Any = imported(f"{__package__}.numpy")
    made: Backend = host.HostState(name, at_hand)
    return _hosted.setdefault(name, made)  # with the cache alone, each thread could get its own


def check_memory(error: Exception) -> None:
    """Raise MemoryError if an error is a library's out-of-memory error, of which each library has its own type."""
    for backend in loaded():
        asked = backend.refused_bytes(error)
        if asked is not None:
            refusal = MemoryError(f"Unable to allocate {_size(asked)} for an array")
            try:
                raise refusal
            finally:  # the exception that the program handles is shown before it, the library's is not
                refusal.__context__ = error.__context__
                # Its traceback refers to this frame: a cycle would keep the arrays of all frames until a collection.
                del refusal


def mended(error: Exception) -> bool:
    """Repair the first loaded library whose state an interrupted call has left broken. Return whether one was repaired, so that the call
    can be repeated.
    """
    return any(backend.mended(error) for backend in loaded())


def _size(nbytes: int) -> str:
    """Format a size as NumPy does: three digits and a unit; "memory" if it is not known."""
    if not nbytes:
        return "memory"
    power = min((nbytes.bit_length() - 1) // 10, 6)
    return f"{nbytes / 1024**power:#.3g} {('bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB')[power]}"


def loaded_one(name: str) -> Backend | None:
    """Return the backend of that name if it has been loaded, else None."""
    return _loaded.get(name)


def loaded() -> list[Backend]:
    """Return the backends loaded so far."""
    return list(_loaded.values())


homeless = False
"""Whether this process is a fork in which a loaded library does not work, so that NumPy computes in its place."""


def stand_in(lost: Backend, by: Backend) -> None:
    """Make later calls of :func:`load` return the backend ``by`` for the name of ``lost``, in a forked process in which the library of
    ``lost`` does not work.
    """
    global homeless
    homeless = True
    _loaded[lost.name] = by
    for cls, found in _by_type.copy().items():
        if found is lost:
            _by_type[cls] = None


def set_wrapper(wrapper: type) -> None:
    """Register ``wrapper``, the class of arrays, with every library, so that the library's functions accept arrays."""
    global _wrapper
    with _lock:
        _wrapper = wrapper
        for backend in _loaded.values():
            backend.adopt_wrapper(wrapper)


def take_for_ndarrays(so: bool) -> None:
    """Set whether loaded libraries treat arrays as ndarrays, as they do while a launcher runs."""
    with _lock:
        for backend in _loaded.values():
            if _wrapper is not None:
                backend.take_for_ndarrays(_wrapper, so)


def backend_of(value: Any) -> Backend | None:
    """Return the backend whose native array ``value`` is, or None; load a backend only if its library created ``value``."""
    cls = type(value)
    try:
        return _by_type[cls]
    except KeyError:
        pass
    found: Backend | None = None
    for base in cls.__mro__:
        name = _ROOT_TO_NAME.get(base.__module__.partition(".")[0])
        if name is not None:
            candidate = load(name)
            if candidate.is_native(value):
                found = candidate
                break
    _by_type[cls] = found
    return found
