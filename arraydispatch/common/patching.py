"""Replacement of other packages' functions while a launcher runs, undone together at the end of the run.

An :class:`Exchange` replaces an attribute of a module or a class with a function of this package, and restores the attribute
later. Other code may have wrapped or kept the replacement meanwhile, and several replacements may be stacked on one
attribute, so they cannot be assumed to be undone in reverse order. If another of our replacements lies on the one that is
undone, the upper one takes over the original. If a foreign wrapper lies on the one that is undone, the replacement stays as a
pass-through until the wrapper is gone. :data:`NEEDS` states what each exchange requires of the patched version; a test
checks this against the installed versions. If a version lacks the attribute, nothing is replaced.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from itertools import pairwise
from types import ModuleType, TracebackType
from typing import Any, NamedTuple, Self


class Need(NamedTuple):
    """Requirements of an exchange on the version of the function that it replaces."""

    call: str | tuple[str, ...]
    """Parameters as :func:`inspect.signature` shows them, in one version or another; empty if C code shows none."""
    known: str
    """Versions that were checked."""
    why: str
    """Purpose: the calls or values that pass through the replacement."""


_AS_CTYPES = Need("(obj)", "NumPy 1.15 to 2.4", "arrays whose memory is handed on as an object of ctypes")
_VIEW = Need(
    ("(self, /, *args, **kwargs)", ""), "NumPy 2.0 to 2.4", "views as the program's np.ndarray, which NumPy's C code takes for a dtype"
)  # fmt: skip
_EVALUATE = Need(
    "(ex, local_dict=None, global_dict=None, out=None, order='K', casting='same_kind', sanitize=None, _frame_depth=3,"
    " disable_cache=False, **kwargs)",
    "numexpr 2.14, and 2.8.5 but for what is not used here", "the array that takes the result",
)  # fmt: skip

_IMPORT = Need(
    "(name, globals=None, locals=None, fromlist=(), level=0)", "Python 3.3 to 3.14", "imports, in which user files get the facade"
)  # fmt: skip

_OF_A_RANK = (
    "files that one of several processes which run a script writes: those of the others go to folders of their own"
)
_OPEN = Need(
    "(file, mode='r', buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None)", "Python 3.3 to 3.14", _OF_A_RANK
)  # fmt: skip

_STRUCTURED = Need(
    "(self, etype, evalue, etb=None, tb_offset=None, context=5)", "IPython 9.18", "errors of cells, shown without our frames"
)  # fmt: skip

NEEDS: dict[str, Need] = {
    "builtins:__build_class__": Need(
        "", "Python 3.0 to 3.14", "class statements, which may give a class of the user's methods that NumPy calls by protocol"
    ),
    "builtins:__import__": _IMPORT,
    "builtins:open": _OPEN,
    "bz2:_builtin_open": _OPEN,
    "functools:_find_impl": Need(
        "(cls, registry)", "Python 3.4 to 3.14", "what a library's singledispatch has for ndarrays, found for arrays of a program"
    ),
    "glob:_StringGlobber.lstat": Need("(path, *, dir_fd=None)", "Python 3.13 to 3.14", _OF_A_RANK),
    "glob:_StringGlobber.scandir": Need("(path=None)", "Python 3.13 to 3.14", _OF_A_RANK),
    "importlib:__import__": _IMPORT,
    "importlib:import_module": Need("(name, package=None)", "Python 3.1 to 3.14", "imports by name, in which user files get it too"),
    "io:open": _OPEN,
    "multiprocessing.queues:SimpleQueue.get": Need("(self)", "Python 3.1 to 3.14", "what a pool's process has to do next"),
    "multiprocessing.queues:SimpleQueue.put": Need(
        "(self, obj)", "Python 3.1 to 3.14", "what it has done, after which the pool may kill it: its counts are saved before"
    ),
    "os:_exit": Need("(status)", "Python 3.0 to 3.14", "the end of a process, before which its counts are saved"),
    "os:abort": Need("()", "Python 3.0 to 3.14", "the end of a process, before which its counts are saved"),
    "os:access": Need("(path, mode, *, dir_fd=None, effective_ids=False, follow_symlinks=True)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:chdir": Need("(path)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:chmod": Need(("(path, mode, *, dir_fd=None, follow_symlinks=True)", ""), "Python 3.3 to 3.14", _OF_A_RANK),
    "os:chown": Need("(path, uid, gid, *, dir_fd=None, follow_symlinks=True)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:link": Need("(src, dst, *, src_dir_fd=None, dst_dir_fd=None, follow_symlinks=True)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:listdir": Need("(path=None)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:listxattr": Need("(path=None, *, follow_symlinks=True)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:lstat": Need("(path, *, dir_fd=None)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:mkdir": Need("(path, mode=511, *, dir_fd=None)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:mkfifo": Need("(path, mode=438, *, dir_fd=None)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:open": Need("(path, flags, mode=511, *, dir_fd=None)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:readlink": Need("(path, *, dir_fd=None)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:remove": Need("(path, *, dir_fd=None)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:rename": Need("(src, dst, *, src_dir_fd=None, dst_dir_fd=None)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:replace": Need("(src, dst, *, src_dir_fd=None, dst_dir_fd=None)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:rmdir": Need("(path, *, dir_fd=None)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:scandir": Need("(path=None)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:setxattr": Need("(path, attribute, value, flags=0, *, follow_symlinks=True)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:stat": Need("(path, *, dir_fd=None, follow_symlinks=True)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:statvfs": Need("(path)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:symlink": Need("(src, dst, target_is_directory=False, *, dir_fd=None)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:truncate": Need("(path, length)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:unlink": Need("(path, *, dir_fd=None)", "Python 3.3 to 3.14", _OF_A_RANK),
    "os:utime": Need("", "Python 3.3 to 3.14", _OF_A_RANK),
    "pickle:Unpickler": Need(("", "(file, *, fix_imports=True, encoding='ASCII', errors='strict', buffers=())"), "Python 3.1 to 3.14", "objects that a program loads, whose arrays are its np.ndarray"),
    "pickle:_Unpickler.load": Need("(self)", "Python 3.0 to 3.14", "objects that a program loads, whose arrays are its np.ndarray"),
    "pickle:load": Need(
        "(file, *, fix_imports=True, encoding='ASCII', errors='strict', buffers=())", "Python 3.8 to 3.14",
        "arrays that a program loads, which are its np.ndarray",
    ),
    "pickle:loads": Need(
        "(data, /, *, fix_imports=True, encoding='ASCII', errors='strict', buffers=())", "Python 3.8 to 3.14",
        "arrays that a program loads, which are its np.ndarray",
    ),
    "shutil:rmtree": Need(
        (
            "(path, ignore_errors=False, onerror=None, *, dir_fd=None)",
            "(path, ignore_errors=False, onerror=None, *, onexc=None, dir_fd=None)",
        ),
        "Python 3.11 to 3.14",
        _OF_A_RANK,
    ),
    "signal:getsignal": Need("(signalnum)", "Python 3.5 to 3.14", "handlers of signals, which are the program's own to it"),
    "signal:signal": Need(
        "(signalnum, handler)", "Python 3.5 to 3.14", "handlers of signals that a program sets, called after calls of a backend's library"
    ),
    "sys:excepthook": Need(
        "(exctype, value, traceback, /)", "Python 3.8 to 3.14", "the error that ends a child process, shown without our frames"
    ),
    "tarfile:bltn_open": _OPEN,
    "threading:excepthook": Need(("", "(args, /)"), "Python 3.8 to 3.14", "errors that end a thread, shown without our frames"),
    "traceback:StackSummary._extract_from_extended_frame_gen": Need(
        "(frame_gen, *, limit=None, lookup_lines=True, capture_locals=False)", "Python 3.11 to 3.14",
        "the frames of every traceback that is shown, ours among them",
    ),
    "warnings:_showwarnmsg": Need("(msg)", "Python 3.6 to 3.14", "warnings that are due, which belong to the user's line"),
    "importlib.machinery:ExtensionFileLoader.exec_module": Need(
        "(self, module)", "Python 3.5 to 3.14", "extension modules, those that the user has compiled among them"
    ),
    "IPython.core.interactiveshell:InteractiveShell.showsyntaxerror": Need(
        "(self, filename=None, running_compiled_code=False)", "IPython 9.18", "an error of a cell of the magic, shown once"
    ),
    "IPython.core.interactiveshell:InteractiveShell.showtraceback": Need(
        "(self, exc_tuple=None, filename=None, tb_offset=None, exception_only=False, running_compiled_code=False)",
        "IPython 9.18", "an error of a cell of the magic, shown once",
    ),
    "IPython.core.ultratb:AutoFormattedTB.structured_traceback": _STRUCTURED,
    "IPython.core.ultratb:SyntaxTB.structured_traceback": _STRUCTURED,
    "numba.core.dispatcher:Dispatcher.__call__": Need(
        "(self, /, *args, **kwargs)", "numba 0.68", "calls of compiled functions, which take NumPy's own arrays alone"
    ),
    "numba.core.interpreter:Interpreter.get_closure_value": Need(
        "(self, index)", "numba 0.46 to 0.68", "what a function to be compiled finds in its closure"
    ),
    "numba.core.interpreter:Interpreter.get_global_value": Need(
        "(self, name)", "numba 0.46 to 0.68", "what a function to be compiled finds among its globals"
    ),
    "numba.core.pylowering:PyLower.lower_global": Need(
        "(self, name, value)", "numba 0.46 to 0.68", "globals in object mode, which looks them up as it runs"
    ),
    "numba.core.extending:overload": Need(
        "(func, jit_options=mappingproxy({}), strict=True, inline='never', prefer_literal=False, **kwargs)",
        "numba 0.57 to 0.68", "the function that a user compiles another one for",
    ),
    "numba.extending:overload": Need(
        "(func, jit_options=mappingproxy({}), strict=True, inline='never', prefer_literal=False, **kwargs)",
        "numba 0.57 to 0.68", "the function that a user compiles another one for",
    ),
    "numba.stencils.stencil:StencilFunc.__call__": Need(
        "(self, *args, **kwargs)", "numba 0.46 to 0.68", "calls of stencils, as of compiled functions"
    ),
    "numexpr:evaluate": _EVALUATE,
    "numexpr.necompiler:evaluate": _EVALUATE,
    "numpy._core.defchararray:chararray.view": _VIEW,
    "numpy._core.memmap:memmap.view": _VIEW,
    "numpy._core.records:recarray.view": _VIEW,
    "numpy.ctypeslib:as_ctypes": _AS_CTYPES,
    "numpy.ctypeslib._ctypeslib:as_ctypes": _AS_CTYPES,
    "numpy.ma.core:MaskedArray.view": Need(
        "(self, dtype=None, type=None, fill_value=None)", "NumPy 1.15 to 2.4",
        "views as the program's np.ndarray, which NumPy's C code takes for a dtype",
    ),
    "numpy.matrixlib.defmatrix:matrix.view": _VIEW,
    "numpy.ctypeslib._ctypeslib:_ndptr.from_param": Need(
        "(obj)", "NumPy 2.0 to 2.4", "arrays given to a function of a C library that declares its arguments by ndpointer"
    ),
}  # fmt: skip
"""``"module:attribute"`` -> requirements."""


class Surface(NamedTuple):
    """Description of the exchanges of many attributes by one rule, a row of :data:`SURFACES`."""

    within: str
    """Names of the packages concerned, separated by spaces; empty for the program's own modules."""
    what: str
    """Description of the attributes that are replaced."""
    known: str
    """Versions that were checked."""
    why: str
    """Reason for replacing them."""
    library: bool = False
    """Whether :func:`arraydispatch.interop.install` makes these exchanges too; if not, only a run of the launcher makes them."""


_ISINSTANCE = "they ask `isinstance` before they ask `np.asarray`, and take an array for a scalar, a function or a name"
_PICKLED = "arrays, and methods and classes that stand for NumPy's, are written as NumPy's"

SURFACES: dict[str, Surface] = {
    "surface of pandas": Surface(
        "pandas", "public functions and methods of pandas, pandas.arrays, pandas.api; the functions inside that do the work of those which"
        " count references to their object", "pandas 3.1", _ISINSTANCE,
    ),
    "surface of h5py": Surface("h5py", "public functions and methods", "h5py 3.14", f"{_ISINSTANCE}; `read_direct` fills an ndarray"),
    "surface of PIL": Surface("PIL", "public functions and methods of PIL.Image", "Pillow 13.0", _ISINSTANCE),
    "surface of scipy": Surface("scipy", "public functions and methods of scipy.sparse, scipy.sparse.linalg", "SciPy 1.17", _ISINSTANCE),
    "results of SciPy": Surface(
        "scipy", "public functions, and ufuncs, of the modules that `arraydispatch.launcher.package_patches` lists, which have no stand-in by another"
        " row", "SciPy 1.17", "a program that gives them lists and numbers gets arrays",
    ),
    "functions of xarray": Surface("xarray", "`interp`, `groupby` of DataArray and Dataset", "xarray 2026.9", _ISINSTANCE),
    "functions of skimage": Surface(
        "skimage", "`hough_line`, `hough_circle`, `hough_ellipse`, `probabilistic_hough_line`", "scikit-image 0.26",
        "Cython declares their arguments ndarrays",
    ),
    "functions of sklearn": Surface(
        "sklearn", "`ParameterGrid.__init__`, `ParameterSampler.__init__`, `BaseEstimator.__setattr__`", "scikit-learn 1.9",
        "objects keep what they are given, and look at types later",
    ),
    "seeds": Surface(
        "scipy sklearn", "`check_random_state`, in each module that has it", "SciPy 1.17, scikit-learn 1.9", "it compares a seed with `np.random`"
    ),
    "picklers": Surface(
        "joblib cloudpickle dill", "`save` of joblib's NumpyPickler and NumpyHasher and of dill's Pickler, `get_memmapping_reducers`,"
        " `CloudPickler.reducer_override`, `MetaCatchingDict.__missing__`", "joblib 1.6, cloudpickle 3.1, dill 0.4", _PICKLED,
    ),
    "functions in C of backends' libraries": Surface(
        "jax torch tensorflow", "`from_numpy`", "torch 2.13", "it takes an ndarray and nothing else"
    ),
    "loaders": Surface(
        "h5py joblib numpy shelve zarr", "methods and functions that load arrays: see `arraydispatch.launcher.array_loading.METHODS`",
        "h5py 3.14, joblib 1.6, NumPy 2.4, zarr 3.1", "arrays that a program loads are its np.ndarray",
    ),
    "extension modules": Surface(
        "", "functions, and methods of classes, of extension modules of the program and of cv2", "Cython 3.3; cv2 in no version",
        "C code takes nothing but NumPy's own arrays",
    ),
    "functions of SciPy": Surface(
        "scipy", "public functions, and methods of public classes, of the modules that `arraydispatch.scipy_support.MODULES` lists,"
        " and of the compiled modules that define them", "SciPy 1.17",
        "SciPy dispatches nothing by its arguments; a function that is given no array of this package is SciPy's own", True,
    ),
    "compiled functions of SciPy": Surface(
        "scipy", "routines of scipy.linalg.blas and lapack, `get_blas_funcs`, `get_lapack_funcs`, `linear_sum_assignment`, `cKDTree`,"
        " `factorized`, `splu`, `spilu`", "SciPy 1.17", "compiled code takes nothing but ndarrays, or writes into a copy", True,
    ),
    "names of SciPy's functions in programs": Surface(
        "", "names under which a program's module has imported a function of SciPy's that is exchanged", "",
        "a program that imported it earlier calls the same function", True,
    ),
    "classes of scipy.sparse": Surface(
        "scipy", "`__init__` of the classes of scipy.sparse", "SciPy 1.17", "a matrix can be made of a sparse array; once `arraydispatch.sparse` is"
        " imported", True,
    ),
    "switch of SciPy": Surface(
        "scipy", "`SCIPY_ARRAY_API` in scipy._lib", "SciPy 1.17", "functions that SciPy has written for arrays of any library ask it;"
        " it answers as before but in calls that this package makes", True,
    ),
    "guests": Surface(
        "xarray dask scipy torch cloudpickle joblib", "`get_array_namespace`, `ArrayApiIndexingAdapter`, `inline_variable_array_repr` inside xarray;"
        " `Dispatch.dispatch` and `register` of dask.utils; `_ScalarGradWrapper`, `VectorFunction` inside scipy.optimize; `torch.asarray`; `CloudPickler.reducer_override`",
        "xarray 2026.9, dask 2026.8, SciPy 1.17, torch 2.13, cloudpickle 3.1", "they look at the class of an array, or at its memory, where no protocol can answer", True,
    ),
}  # fmt: skip
"""Name of a row -> the exchanges that it makes."""

OUTSIDE: tuple[tuple[str, str], ...] = (
    ("sys.meta_path", "one finder in front, while a run or `arraydispatch.interop.install()` is in force: it finds nothing itself, and notices that SciPy, xarray, dask, cloudpickle or PyTorch is imported"),
    ("sys.meta_path", "one finder in front, while this package imports TensorFlow: it puts off the import of Keras, which `tf.keras` imports on first use"),
    ("names of NumPy at the top level of a program's modules", "those of the stand-in, from `ad.install` to `ad.uninstall`, and in a block of `ad.accelerated` and a cell of the magic"),
    ("sys.meta_path, sys.modules", "from `import arraydispatch.numpy` on: one finder in front, for names below this one alone, and the stand-ins under these names"),
    ("os.environ", "the launcher and `ad.install` tell the Python processes that the program starts, by `ARRAYDISPATCH_RUN` and `PYTHONPATH`"),
    ("sys.modules['__main__'], sys.argv, sys.path", "as Python itself sets them for the program"),
    ("loop_runner of IPython's shell", "a trait, set while a cell of the magic awaits in a notebook whose loop is busy"),
    ("sys.excepthook", "set by the command when Ctrl-C has ended it before the program began, right before the process dies"),
    ("attributes of NumPy that the program itself sets", "`np.int = int` in a program is meant for libraries too; it stays, as without the launcher"),
    ("registries that libraries offer for it", "entries for this package's own classes, in pickle's, uarray's, autograd's, numba's `typeof_impl`, `numbers.Number`, pytrees"),
    ("warnings.filters", "a filter that a call removed by its own warning comes back"),
    ("warnings.filters", "one in front, while a run is in force, by which NumPy's DeprecationWarning for a line of this package is issued again for the program's"),
)  # fmt: skip
"""Changes other than exchanges of functions: place and reason."""

CLOUDPICKLE = ("cloudpickle.cloudpickle", "joblib.externals.cloudpickle.cloudpickle")
"""Modules whose ``CloudPickler`` pickles objects by value if it cannot find them by name, for processes that have not imported them."""

_NOTHING: Any = object()
_changing = threading.RLock()
_stacks: dict[tuple[int, str], list[Exchange]] = {}
"""Exchanges stacked on each attribute, the lowest first; an undone exchange stays while another lies on it."""


def _package(holder: Any) -> str:
    """Return the package of a module or a class."""
    return str(holder.__name__ if isinstance(holder, ModuleType) else holder.__module__).partition(".")[0]


class Exchange:
    """Replacement of one attribute of another package by a function of this one.

    Parameters
    ----------
    holder : module or type
        Owner of the attribute.
    name : str
        Name of the attribute.
    make : callable
        Called as ``make(exchange)`` once :attr:`real` is known; returns our function, which acts as ``real`` while :attr:`on` is false.
    row : str
        Row of :data:`NEEDS` or :data:`SURFACES` for this exchange.

    Raises
    ------
    LookupError
        If there is no such row, or the row of :data:`SURFACES` names packages and the holder belongs to none of them.

    Attributes
    ----------
    real : callable
        The original function; of a static or class method, the function that the method wraps.
    on : bool
        Whether the replacement is in force. Code that kept the replacement may still call it after the exchange was undone.
    """

    __slots__ = ("_held", "_make", "_ours", "holder", "name", "on", "real", "row")

    def __init__(self, holder: Any, name: str, make: Callable[[Exchange], Any], row: str) -> None:
        if row not in NEEDS:
            within = SURFACES[row].within.split()
            if within and _package(holder) not in within:
                raise LookupError(f"{holder!r} is none of what the row {row!r} of the registry is about")
        self.holder, self.name, self.on, self.row = holder, name, False, row
        self.real: Any = None
        self._make = make
        self._held = self._ours = _NOTHING

    def put(self) -> Exchange | None:
        """Install the replacement, perhaps again, and return the exchange now in force; None if the attribute is missing or cannot be set.

        If the attribute holds another value than at the first call, a new exchange is made, installed and returned.
        """
        with _changing:
            stack = _stacks.setdefault((id(self.holder), self.name), [])
            if self in stack:  # lies below a wrapper that calls it
                self.on = True
                return self
            held = vars(self.holder).get(self.name, _NOTHING)
            real = getattr(self.holder, self.name, _NOTHING) if held is _NOTHING else held
            if real is _NOTHING:
                return None
            if self._ours is not _NOTHING and held is not self._held:
                return Exchange(self.holder, self.name, self._make, self.row).put()
            if self._ours is _NOTHING:
                self._held = held
                bound = isinstance(real, staticmethod | classmethod)
                self.real = real.__func__ if bound else real
                ours = self._make(self)
                self._ours = type(real)(ours) if bound else ours
            try:
                setattr(self.holder, self.name, self._ours)
            except TypeError:  # attributes of classes written in C cannot be set
                return None
            self.on = True
            stack.append(self)
            return self

    def undo(self) -> None:
        """Take the replacement out of force, and restore the original if no other code has wrapped or replaced ours.

        Otherwise the next exchange on top takes over the original, or, below a foreign wrapper, our function stays and acts as the
        original. Exchanges that were undone earlier, and that nothing lies on any more, are removed too.
        """
        with _changing:
            self.on = False
            stack = _stacks.get((id(self.holder), self.name), [])
            for below, above in pairwise(stack):
                if below is self and above._held is self._ours:  # otherwise a foreign wrapper calls ours
                    above._held, above.real = self._held, self.real
                    stack.remove(self)
                    break
            for top in stack[::-1]:
                if top.on or vars(self.holder).get(self.name, _NOTHING) is not top._ours:
                    break
                stack.pop()
                if top._held is _NOTHING:
                    delattr(self.holder, self.name)
                else:
                    setattr(self.holder, self.name, top._held)


class Exchanges:
    """Exchanges of one run of a launcher, undone together at the end of a ``with`` block or by :meth:`undo`."""

    def __init__(self) -> None:
        self._put: list[Exchange] = []
        self._ends: list[Callable[[], None]] = []

    def put(self, where: str, make: Callable[[Exchange], Any], one: Any = None) -> None:
        """Install the exchange of ``where``, one of :data:`NEEDS`, whose module is already imported; do nothing if this version lacks it.

        ``make``: returns the replacement, given the exchange. ``one``: a single object to patch instead of its class.
        """
        assert where in NEEDS, where
        module, _, path = where.partition(":")
        *owners, name = path.split(".")
        holder: Any = sys.modules.get(module)
        for owner in owners:
            holder = getattr(holder, owner, None)
        if isinstance(holder, ModuleType | type):
            self.at(holder if one is None else one, name, make, where)

    def at(self, holder: Any, name: str, make: Callable[[Exchange], Any], row: str) -> None:
        """Install ``Exchange(holder, name, make, row)`` until :meth:`undo`."""
        self.add(Exchange(holder, name, make, row))

    def add(self, exchange: Exchange) -> None:
        """Install an exchange, perhaps again, until :meth:`undo`; do nothing if it is in force already."""
        if not exchange.on and (put := exchange.put()) is not None:
            self._put.append(put)

    def until(self, end: Callable[[], None]) -> None:
        """Make :meth:`undo` call ``end`` after it has undone the exchanges."""
        self._ends.append(end)

    def undo(self) -> None:
        """Undo all exchanges, then call the functions passed to :meth:`until`, both in reverse order."""
        while self._put:
            self._put.pop().undo()
        while self._ends:
            self._ends.pop()()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.undo()
