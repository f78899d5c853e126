"""Rule for user code: the script, the modules under its folder, and those that ``--include`` names.

The import hook, adoption and the random generators, which all depend on their caller, use this rule. A file is
the user's if one of the roots contains it and no folder between the root and the file is an installation
(``site-packages``, a virtual environment, an interpreter, this package), nor is the file NumPy's, SciPy's or of a package that
``pip install --target`` has put beside the program. The deepest root wins, so that an
``--include`` of a package inside ``site-packages`` makes only that package the user's.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import cache
from types import FrameType
from typing import Any

from ..common.callers import INSTALLED, OURS, is_core, is_installed, is_installed_in, is_library, is_ours, library_above
from ..common.process_state import process

_ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta")
_EXTENSIONS = (".so", ".pyd", ".dll", ".dylib")
_PACKAGE = os.path.realpath(OURS)


@cache
def _installed_places() -> tuple[str, ...]:
    """Return the folders of the interpreter, its library and this package."""
    places = {
        sys.prefix,
        sys.base_prefix,
        sys.exec_prefix,
        sys.base_exec_prefix,
        os.path.dirname(os.__file__),
        _PACKAGE,
    }
    return tuple(os.path.realpath(place) for place in places)


_real_folder = cache(os.path.realpath)


def _real(file: str) -> str:
    """Return the real path of a file. That of a folder is looked up only once: a large library's import needs a thousand files."""
    folder, name = os.path.split(file)
    if not os.path.isabs(folder):
        return os.path.realpath(file)
    path = os.path.join(_real_folder(folder), name)
    return os.path.realpath(path) if name in ("", ".", "..") or os.path.islink(path) else path


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder if folder.endswith(os.sep) else folder + os.sep)


class UserFiles:
    """Rule that decides whether a file, a module's globals or a frame is the user's.

    Parameters
    ----------
    roots : list of str
        Folders or files that hold user code.
    """

    def __init__(self, roots: Iterable[str]) -> None:
        self._roots = tuple(os.path.realpath(root) for root in roots)
        self._places = _installed_places()
        self.known: dict[str, bool] = {}
        """Cache: file -> whether it is user code; empty for a union of rules."""
        self._namespaces: list[dict[str, Any]] = []

    def add_root(self, root: str) -> None:
        """Add a folder or file of user code."""
        self._roots = (*self._roots, os.path.realpath(root))
        self.known.clear()

    @property
    def roots(self) -> list[str]:
        """The folders and files of user code."""
        return list(self._roots)

    @property
    def namespaces(self) -> list[dict[str, Any]]:
        """Globals that are the user's, whatever their ``__file__`` is."""
        return list(self._namespaces)

    def is_installed(self, file: str) -> bool:
        """Whether a file belongs to the interpreter, this package or an environment's packages."""
        path = _real(file)
        return any(_inside(path, place) for place in self._places) or is_installed(path)

    def add_namespace(self, namespace: dict[str, Any]) -> None:
        """Add globals that are the user's whatever their file is: ``__main__`` from stdin, a notebook."""
        self._namespaces.append(namespace)

    def has_file(self, file: str) -> bool:
        """Whether a source file is the user's."""
        known = self.known.get(file)
        if known is None:
            known = self.known[file] = self._decide(file)
        return known

    def _decide(self, file: str) -> bool:
        # A compiled module takes real arrays through C; handing it the facade would gain nothing and may break it.
        if file.startswith("<") or file.endswith(_EXTENSIONS):
            return False
        path = _real(file)
        return any(self._belongs(path, root) for root in self._roots if _inside(path, root))

    def _belongs(self, path: str, root: str) -> bool:
        if any(_inside(path, place) and _inside(place, root) and place != root for place in self._places):
            return False
        if (home := library_above(path)) and not root.startswith(home.rstrip(os.sep)):
            return False
        folder, name = os.path.split(path)
        while _inside(folder, root):
            if is_installed_in(folder, name):
                return False
            if folder != root:
                if os.path.basename(folder) in INSTALLED:
                    return False
                if any(os.path.exists(os.path.join(folder, mark)) for mark in _ENVIRONMENT_MARKS):
                    return False
            above, name = os.path.split(folder)
            if above == folder:
                break
            folder = above
        return True

    def _says(self, namespace: dict[str, Any]) -> bool | None:
        """Whether globals are the user's; None if they do not tell (code run by ``exec`` in a bare dict)."""
        file = namespace.get("__file__")
        if type(file) is str and not file.startswith("<"):
            known = self.known.get(file)
            return self.has_file(file) if known is None else known
        if any(namespace is mine for mine in self._namespaces):
            return True
        spec = namespace.get("__spec__")
        if spec is not None:  # the module is frozen or built in
            return bool(spec.origin) and self.has_file(spec.origin)
        return None

    def owns_frame(self, frame: FrameType | None) -> bool:
        """Whether the code of a frame is the user's; code without a file belongs to its caller."""
        while frame is not None:
            answer = self._says(frame.f_globals)
            if answer is not None:
                return answer
            frame = frame.f_back
        return False

    def owns_globals(self, namespace: dict[str, Any] | None, frame: FrameType | None) -> bool:
        """Whether an import with these globals, made from this frame, is the user's."""
        if namespace is not None:
            answer = self._says(namespace)
            if answer is not None:
                return answer
        return self.owns_frame(frame)


class AllUsers(UserFiles):
    """Union of the rules of several ways in; :attr:`rules` may change at any time."""

    def __init__(self) -> None:
        super().__init__([])
        self.rules: tuple[UserFiles, ...] = ()

    @property
    def roots(self) -> list[str]:
        """The folders and files of user code."""
        return [root for rule in self.rules for root in rule.roots]

    @property
    def namespaces(self) -> list[dict[str, Any]]:
        """Globals that are the user's, whatever their ``__file__`` is."""
        return [names for rule in self.rules for names in rule.namespaces]

    def has_file(self, file: str) -> bool:
        """Whether a source file is the user's."""
        return any(rule.has_file(file) for rule in self.rules)

    def _says(self, namespace: dict[str, Any]) -> bool | None:
        answers = [rule._says(namespace) for rule in self.rules]
        return True if True in answers else None if None in answers or not answers else False


def of_namespace(*namespaces: dict[str, Any]) -> UserFiles:
    """Return a rule by which only the code of these modules (given by their globals) is user code."""
    users = UserFiles([])
    for namespace in namespaces:
        file = namespace.get("__file__")
        if type(file) is str and not file.startswith("<"):
            users.add_root(file)
        else:
            users.add_namespace(namespace)
    return users


def of_command_line(users: UserFiles) -> list[str]:
    """Return the roots that the command line of this interpreter names: the folder of its script, or the current folder for ``-m``."""
    try:
        here = [os.getcwd()]
    except OSError:  # the folder and its modules have been deleted
        here = []
    words = iter(sys.orig_argv[1:])
    for word in words:
        if word in ("-c", "-m") or word.startswith(("-c", "-m")):
            return here
        if word in ("-W", "-X"):
            next(words, None)
        elif not word.startswith("-"):
            folder = os.path.dirname(os.path.realpath(word))
            return [] if users.is_installed(folder) else [folder]
    return here


_PASSING = frozenset({"contextlib", "functools", "importlib"})
"""Modules of the standard library that call functions on behalf of their callers."""


def asking(frame: FrameType) -> dict[str, Any]:
    """Return the globals of the code for which a frame runs: the first frame outside of this package and of Python's machinery."""
    while frame.f_back is not None:
        file, name = frame.f_code.co_filename, str(frame.f_globals.get("__name__"))
        if not (is_ours(file) or file.startswith("<frozen ") or name.partition(".")[0] in _PASSING):
            break
        frame = frame.f_back
    return frame.f_globals


# -- libraries ---------------------------------------------------------------------------------------------------------

TAKE_ARRAYS = frozenset(
    "IPython _pytest array_api_compat array_api_extra cloudpickle cv2 dask dill h5py jax jaxlib joblib keras matplotlib mpl_toolkits"
    " numba numexpr pandas PIL pytest scipy sklearn tensorflow torch xarray".split()
)
"""Libraries that accept an ``Array``: they have exchanges here (``interop/scipy_stand_ins.py``), support arrays of many kinds, or call
``np.asarray`` on objects that are not ndarrays before code that requires one."""


def expects_ndarrays(frame: FrameType) -> bool:
    """Whether ``isinstance`` reports an ``Array`` as an ndarray to the code of a frame: true in all libraries but :data:`TAKE_ARRAYS`.

    Many libraries treat other objects as scalars or sequences, and silently compute something else. An ``Array`` has all members of
    an ndarray that they use. In programs it is an instance of their own ``np.ndarray``; Python's standard library tests types.
    """
    file, name = frame.f_code.co_filename, frame.f_globals.get("__name__")
    return (
        process.users is not None
        and type(name) is str
        and name.partition(".")[0] not in TAKE_ARRAYS
        and "array_api" not in name
        and not file.startswith("<")
        and not is_core(file)
        and (is_installed(file) or not is_library(file))
        and not process.users.has_file(file)
    )
