"""The errors of this package's own: about libraries, devices, settings, and what a call may do.

Each also derives from the built-in exception a caller of NumPy would expect, so ``except TypeError`` keeps
working around a refused call. Messages are one sentence that ends with the way out.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "ArrayDispatchError",
    "BackendMismatchError",
    "BackendNotInstalledError",
    "ConvergenceError",
    "ConvergenceWarning",
    "DeviceMismatchError",
    "DeviceNotFoundError",
    "HostFallbackError",
    "HostFallbackWarning",
    "NoBackendFoundError",
    "OptionError",
    "PrecisionError",
    "SettingError",
    "TraceError",
]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``" (did you mean 'torch'?)"``, or nothing where no known word is near."""
    from difflib import get_close_matches

    words = list(known)
    near = get_close_matches(word, words, 1, 0.7) or [
        # People get the first letter right: "rnu" is "run", but "cupy" is another library, not "numpy".
        found
        for found in get_close_matches(word, words, 1)
        if found[:1] == word[:1]
    ]
    return f" (did you mean {near[0]!r}?)" if near else ""


def listed(shape: tuple[int, ...]) -> str:
    """A shape as NumPy's messages have it."""
    return str(tuple(shape)).replace(" ", "")


class ArrayDispatchError(Exception):
    """Base class of every error of arraydispatch."""


class BackendNotInstalledError(ArrayDispatchError, ImportError):
    """The backend is known, but its library is not installed (the message gives the install command)."""


class NoBackendFoundError(ArrayDispatchError, TypeError):
    """No backend handles these values, or no backend has that name."""


class BackendMismatchError(ArrayDispatchError, TypeError):
    """Arrays of two different ML libraries met in one call."""


class DeviceNotFoundError(ArrayDispatchError, ValueError):
    """The backend has no such device (the message lists those it has)."""


class DeviceMismatchError(ArrayDispatchError, ValueError):
    """Arrays of one library on two devices met in one call."""


class PrecisionError(ArrayDispatchError, ValueError):
    """Not a precision, or one the device cannot hold."""


class SettingError(ArrayDispatchError, ValueError):
    """Not a value that a setting takes (the message gives the choices)."""


class OptionError(ArrayDispatchError, TypeError):
    """The backend has no such option (the message lists those it has), or a setting takes values of another type."""


class HostFallbackError(ArrayDispatchError, TypeError):
    """A call that a device could do would have left it for the host while ``fallback("error")`` is in force, or is refused."""


class TraceError(ArrayDispatchError, TypeError):
    """A concrete value was needed while a library was tracing."""


class ConvergenceError(ArrayDispatchError, ArithmeticError):
    """A linear system, or a minimum, was not found to the tolerance."""


class ConvergenceWarning(RuntimeWarning):
    """A linear system was not solved to the tolerance; said once for each source line."""


class HostFallbackWarning(UserWarning):
    """A call ran on the host; said once for each source line."""
