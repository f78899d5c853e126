"""Errors raised by arraydispatch: about libraries, devices, settings, and operations that are not allowed.

Each class also derives from the built-in exception that a caller of NumPy would expect, so ``except TypeError`` keeps working
around a refused call. Messages are one sentence that ends with the way out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``" (did you mean 'torch'?)"`` with the word of ``known`` that is most similar, or an empty string if none is similar."""
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
    """Format a shape as in NumPy's messages."""
    return str(tuple(shape)).replace(" ", "")


def broadcast_error(shapes: Sequence[tuple[int, ...]]) -> ValueError | None:
    """Return NumPy's ValueError if shapes do not broadcast; libraries would raise other errors.

    Raise it outside ``except`` clauses: then it has the context that NumPy's has, an exception that the program is handling.
    """
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return ValueError(f"operands could not be broadcast together with shapes {' '.join(map(listed, shapes))} ")
    return None


def check_broadcast(shapes: Sequence[tuple[int, ...]]) -> None:
    """Raise NumPy's ValueError if shapes do not broadcast."""
    error = broadcast_error(shapes)
    if error is not None:
        raise error


class ArrayDispatchError(Exception):
    """Base class of all errors of arraydispatch."""


class BackendNotInstalledError(ArrayDispatchError, ImportError):
    """The library of a backend is not installed, or cannot be imported; the message gives the install command."""


class NoBackendFoundError(ArrayDispatchError, TypeError):
    """No backend handles these values, or no backend has that name."""


class BackendMismatchError(ArrayDispatchError, TypeError):
    """Arrays of two different ML libraries met in one call."""


class DeviceNotFoundError(ArrayDispatchError, ValueError):
    """The backend has no such device (the message lists those it has)."""


class DeviceMismatchError(ArrayDispatchError, ValueError):
    """Arrays of one library on two devices met in one call."""


class PrecisionError(ArrayDispatchError, ValueError):
    """Unknown precision, or one that the device does not support."""


class SettingError(ArrayDispatchError, ValueError):
    """Invalid value for a setting (the message lists the choices)."""


class OptionError(ArrayDispatchError, TypeError):
    """Unknown option of a backend (the message lists its options), or a setting given a value of the wrong type."""


class HostFallbackError(ArrayDispatchError, TypeError):
    """A call would have to run on the host while ``fallback("error")`` is in force, or the backend refuses to run the call on the host."""


class TraceError(ArrayDispatchError, TypeError):
    """Request for a concrete value while a library is tracing."""


class ConvergenceError(ArrayDispatchError, ArithmeticError):
    """A linear solve or a minimization did not converge to the tolerance."""


class ConvergenceWarning(RuntimeWarning):
    """A linear system was not solved to the tolerance; issued once for each source line."""


class HostFallbackWarning(UserWarning):
    """A call ran on the host; issued once for each source line."""
