"""Exports of an array's values: as an ndarray, by DLPack, by pickle."""

from __future__ import annotations

import sys
import threading
from dis import opname
from types import CodeType, FrameType
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends import loader
from ..common import buffers, callers, events
from ..common.process_state import process
from ..common.signal_safety import imported
from ..common.user_warnings import real_of
from ..dispatch import host_results
from ..memory import reshaping, views
from ..memory.views import native
from ..runtime import conversion, settings

_CPU = 1  # kDLCPU of dlpack.h
_ndarray = np.ndarray


def shares_with_host(a: Handle) -> bool:
    """Whether the ndarray that the host gets shares the array's memory."""
    backend = a._kind.backend
    if a._root is None:
        return backend.shares_with_host(native(a))
    root = views.owner(a)
    if not (backend.mutable and backend.shares_with_host(native(root))):
        return False
    memory = root._kind.backend.to_numpy(native(root))  # views that the library lacks (reversed ones): made by NumPy
    return np.may_share_memory(views.on_host(a, backend.to_numpy(native(a))), memory)


_ASKS = frozenset({
    "numpy.matrixlib.defmatrix",
    "numpy.polynomial.chebyshev", "numpy.polynomial.hermite", "numpy.polynomial.hermite_e", "numpy.polynomial.laguerre",
    "numpy.polynomial.legendre", "numpy.polynomial.polynomial", "numpy.testing._private.utils",
    "scipy.linalg.interpolative", "scipy.optimize._constraints", "scipy.optimize._minpack_py", "scipy.optimize._nonlin", "scipy.optimize._root_scalar",
    "scipy.signal._ltisys", "scipy.stats._mgc",
})  # fmt: skip
"""Modules of NumPy and SciPy that test ``isinstance(x, np.ndarray)`` in functions that are not dispatched."""


def class_shown(a: Handle) -> type:
    """Return ``a.__class__``, which ``isinstance`` uses; some code of NumPy and SciPy gets ndarray.

    Otherwise ``polyval`` would take an array for a scalar, and return numbers that are wrong; ``curve_fit`` would not look for NaN.
    """
    return class_seen(type(a), sys._getframe(1).f_globals)


def class_seen(cls: type, names: dict[str, Any]) -> type:
    """Return the class of an array as code with these globals sees it."""
    return np.ndarray if names.get("__name__") in _ASKS else cls


def as_ndarray(
    a: Handle, found: np.ndarray[Any, Any], dtype: Any = None, copy: bool | None = None
) -> np.ndarray[Any, Any]:
    """Return ``a.__array__(dtype, copy)``. ``found``: ndarray with the values of ``a`` on the host."""
    if not process.interop:
        _tell_of_scipy(a, sys._getframe(2))
    if dtype is not None and np.dtype(dtype) != found.dtype:
        if copy is False:
            raise ValueError("a different dtype needs a copy, which copy=False forbids")
        return real_of(found, np.dtype(dtype)).astype(dtype)
    if copy:
        return found.copy("K")
    if _may_be_written(a):
        return found
    if copy is None and _asked_by_library():
        return _its_own(found)
    return _read_only(found)  # so that nobody writes to a copy in vain


_SCIPY = "scipy."


def _tell_of_scipy(a: Handle, asking: FrameType | None) -> None:
    """Apply the policy of host fallbacks (warn, raise or nothing) to a SciPy call that computes on the host because no request to take
    arrays is in force.
    """
    name, outermost = "", ""
    while asking is not None and (module := asking.f_globals.get("__name__") or "").startswith(_SCIPY):
        public = ".".join(part for part in module.split(".") if not part.startswith("_"))
        called = asking.f_code.co_name
        outermost = public
        if hasattr(sys.modules.get(public), called):  # not a decorator of it
            name = f"{public}.{called}"
        asking = asking.f_back
    if outermost and not a._kind.standard:
        imported("arraydispatch.scipy_support")  # not loaded for programs that do not use SciPy
        from .. import scipy_support

        if not scipy_support.by_scipy_itself():
            host_results.allow(name or outermost, a._kind.backend, _NOT_INSTALLED, callers.is_library)


_NOT_INSTALLED = "SciPy's functions take arrays after arraydispatch.interop.install()"


def _read_only(found: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if buffers.is_writeable(found):
        found = found.view()
        found.flags.writeable = False
    return found


def for_library(a: Any) -> np.ndarray[Any, Any]:
    """Return the ndarray that a library gets in place of ``a``."""
    found: np.ndarray[Any, Any] = a._host(events.AT_A_DOOR)
    if not _may_be_written(a):
        return _its_own(found)
    # NumPy does not allow setting the `writeable` flag of views of memory without Python's buffer protocol.
    return found if found.flags.owndata else np.asarray(found.data)


_BYTES_TO_WRITE = 1
"""Flags of the buffer protocol (PyBUF_WRITABLE): C code sets them to request writable bytes without their format."""
_refused: tuple[int, int] | None = None
"""Thread and array of the last request of this kind, if it was refused."""


def check_flags(a: Any, flags: int) -> None:
    """Raise BufferError for a request for writable bytes without a format, and for the read-only request that the same code makes next.

    ``torch.asarray`` makes these requests, and would read the bytes as another dtype. If ``torch.asarray`` has been replaced, nothing is
    refused.
    """
    global _refused
    if flags > _BYTES_TO_WRITE or process.interop:
        return
    asking = threading.get_ident(), id(a)
    refused, _refused = _refused, asking if flags == _BYTES_TO_WRITE else None
    if flags == _BYTES_TO_WRITE or refused == asking:
        raise BufferError(
            "an array does not lend its memory as bytes without a format, which PyTorch's asarray takes for numbers of another"
            " dtype: use torch.as_tensor(x), or x.data, a memoryview"
        )


class _Interface(dict[str, Any]):
    """Value of ``__array_interface__`` that keeps the described memory alive."""

    host: np.ndarray[Any, Any]


def array_interface(a: Any, asking: FrameType | None = None) -> dict[str, Any]:
    """Return ``a.__array_interface__`` to Python code that reads it by name, in the frame ``asking`` or the caller's.

    C code, as in ``np.asarray``, does not find the attribute, and uses ``__array__`` instead: with the attribute it would keep the array
    alive, not the memory, and a write may give the array other memory.
    """
    found = _read_by_name(a, "__array_interface__", asking or sys._getframe(1))
    made = _Interface(found.__array_interface__)
    made.host = found
    return made


indexing: list[CodeType] = []
"""The code object of the thin path's ``x[key]``, which passes a key to NumPy unchanged; the key may be a tuple with arrays in it."""


def array_struct(a: Any) -> Any:
    """Return ``a.__array_struct__``, as :func:`array_interface` does; the capsule keeps the memory alive.

    NumPy reads this attribute of each array in an index. There it gets the attribute at once, because it only reads the values.
    """
    value = a._v
    if type(value) is _ndarray and value.dtype.kind in "biu":
        code = sys._getframe(1).f_code
        for known in indexing:
            if code is known:
                return value.__array_struct__
    return _read_by_name(a, "__array_struct__", sys._getframe(1)).__array_struct__


def _read_by_name(a: Any, name: str, frame: FrameType) -> np.ndarray[Any, Any]:
    if not _names(frame.f_code, frame.f_lasti, name):
        raise AttributeError(name)
    return as_ndarray(a, a._host(events.AT_A_DOOR))


def _names(code: CodeType, instruction: int, name: str) -> bool:
    """Whether a bytecode instruction, given by its offset, reads ``x.name``, or is a call with that name as its last or last but one
    argument, such as ``hasattr``.
    """
    while (
        opname[code.co_code[instruction]] == "CACHE"
    ):  # Python 3.12 is at this instruction when it calls a property directly
        instruction -= 2
    done = opname[code.co_code[instruction]]
    if done == "LOAD_ATTR":
        return name in code.co_names
    if not done.startswith("CALL") or name not in code.co_consts:
        return False
    before = [i for i in range(max(0, instruction - 16), instruction, 2) if opname[code.co_code[i]] not in _BETWEEN]
    return any(
        opname[code.co_code[i]] == "LOAD_CONST" and code.co_consts[code.co_code[i + 1]] == name for i in before[-2:]
    )


_BETWEEN = frozenset({"CACHE", "PRECALL"})
"""Bytecode instructions that may lie between the last argument of a call and the call."""


def _may_be_written(a: Handle) -> bool:
    return views.writeable(a) and shares_with_host(a)


def _its_own(found: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    # Compiled code of libraries often asks for writable memory and only reads it: it gets a copy.
    return found if found.flags.owndata and found.flags.writeable else found.copy()


def _asked_by_library() -> bool:
    """Whether the caller of ``__array__`` is an installed library other than NumPy."""
    file = callers.outside(sys._getframe(2), callers.is_ours)[0].f_code.co_filename
    return callers.is_installed(file) and not callers.is_core(file)


def dlpack(a: Handle, **asked: Any) -> Any:
    """Return ``a.__dlpack__(**asked)``.

    Raises
    ------
    BufferError
        If another device than the array's is requested, unless it is the CPU and a copy is allowed; for a stream on
        the CPU.
    """
    backend, device = a._kind.backend.home, asked.get("dl_device")
    value = a.native  # type: ignore[attr-defined]
    own: tuple[int, ...] = tuple(map(int, backend.dlpack_device(value)))
    if device is not None and tuple(device) != own and (device[0] != _CPU or asked.get("copy") is False):
        raise BufferError(
            f"the array is on DLPack device {own}, not on {tuple(device)}; move it there first, with its to_device method."
        )
    if own[0] == _CPU and asked.get("stream") is not None:
        raise BufferError(f"memory of the CPU has no streams; leave out stream={asked['stream']!r}.")
    if own[0] == _CPU and not views.writeable(a) and (asked.get("max_version") or (0,)) >= (1,):
        # On the CPU only NumPy sets the protocol's flag for read-only memory.
        return _read_only(a._host(events.AT_A_DOOR)).__dlpack__(**asked)  # type: ignore[attr-defined]
    held = views.native(a) if own[0] == _CPU and a._kind.backend.hosted else None
    if held is not None and held.dtype.isbuiltin == 1 and all(step >= 0 for step in held.strides):
        views.expose(a)  # NumPy's own memory, not an array that the library made of it
        return held.__dlpack__(**asked)
    return backend.dlpack(value, **asked)


def rebuilt(name: str, values: np.ndarray[Any, Any], standard: bool = False) -> Any:
    """Return an unpickled array: on the default device of its backend in this process, or held by NumPy if the library is not installed."""
    name = name if name in loader.available() else "numpy"
    backend = loader.hosted(name) if settings.default.min_size and not standard else None
    # The library is loaded only here: workers that return small results need not import it.
    if backend is None or not backend.holds(values.dtype):
        backend = loader.load(name)
    value = conversion.upload(backend, values, why="unpickled")
    kind_of = backend.standard_kind if standard else backend.kind
    return views.lay_out(process.wrapper(value, kind_of(backend.dtype_of(value))), values)


def shared(a: Any, who: str = "a compiled function") -> np.ndarray[Any, Any]:
    """Return an ndarray on the memory of an array, writable if the array is, for code that writes the memory outside NumPy's calls:
    compiled functions, C code via ctypes, a user's subclass of ndarray. ``who``: name of that code in reports.

    If the host cannot write the library's memory, the array moves to the host and stays there.
    """
    held = native(a)  # raises for a view of a traced root, and for an array from outside the trace
    if a._kind.backend.is_concrete(held) and not shares_with_host(a):
        events.left(who, "it shares the memory of its arguments")
        reshaping.settle(a, "its memory is shared on the host")
    found: np.ndarray[Any, Any] = a._host(events.AT_A_DOOR)
    if not a._writeable():
        if buffers.is_writeable(found):
            found = found.view()
            found.flags.writeable = False
        return found
    # NumPy allows setting the `writeable` flag only if the memory comes from an object with the buffer protocol.
    return found if found.flags.owndata else np.asarray(found.data)
