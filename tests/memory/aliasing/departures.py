"""Where results do not share memory as NumPy's do, and why."""

from __future__ import annotations

import re
from dataclasses import dataclass

from arraydispatch._core import handles
from tests.memory.aliasing.observing import Case

__all__ = ["DEPARTURES", "WORLDS", "Departure", "departs"]

WORLDS = {
    "library": "arrays of a library's user",
    "made": "arrays that a program makes under the launcher",
    "device": "the same with --min-size 0, so that small ones are the library's too",
    "handed": "NumPy's own arrays, as a library hands them to a program under the launcher",
}


@dataclass(frozen=True)
class Departure:
    """Calls that depart from NumPy.

    Parameters
    ----------
    calls : str
        What matches the beginning of an expression.
    reason : str
        Why.
    worlds, backends, layouts, dtypes : str
        Where; everywhere if empty.
    without_elements : bool
        Only of an argument that has none.
    identity : bool
        Only in whether the result is the argument itself: the memory is shared where NumPy's is.
    """

    calls: str
    reason: str
    worlds: str = ""
    backends: str = ""
    layouts: str = ""
    dtypes: str = ""
    without_elements: bool = False
    identity: bool = False

    def holds(self, case: Case, world: str, backend: str) -> bool:
        """Whether a case is one of these."""
        return (
            (not self.worlds or world in self.worlds.split())
            and (not self.backends or backend in self.backends.split())
            and (not self.layouts or case.layout in self.layouts.split())
            and (not self.dtypes or case.dtype in self.dtypes)
            and (not self.without_elements or 0 in case.shape)
            and re.match(self.calls, case.call) is not None
        )


_NOT_DISPATCHED = (
    "NumPy does not dispatch it: of an array of ours it makes an ndarray, which is read-only where memory is not shared"
)

DEPARTURES: list[Departure] = [
    Departure(r"np\.fft\.i?fft[n2]\(a, axes=\(\), out=out", "NumPy forgets out= where there is no axis to transform"),
    Departure(r"np\.polyval\(a, 2", "without coefficients NumPy returns the zeros it began with, which are an array", "library device", without_elements=True),
    Departure(r"np\.einsum\('[^']*', a, b, optimize=True", "NumPy gives an array where its plan ends in tensordot, and a scalar elsewhere", "library device"),
    Departure(r"np\.tile\(", "without elements NumPy returns a view, which shares nothing but that it is read-only", "library device handed", "", "read-only", without_elements=True),
    Departure(
        r"a\.view\(np\.(uint8|int16)\)", "the library keeps a bool as 0 or 1: any other byte written into it reads as 1",
        "library device", "jax tensorflow", dtypes="?",
    ),
    Departure(r"np\.fft\.hfft\(a, out=out", "NumPy forgets out= of hfft, and so its shape"),
    Departure(
        r"np\.(asarray|asanyarray|array|ascontiguousarray|asfortranarray|asarray_chkfinite)\(",
        "it is an array of ours on the same memory, so that what follows runs on the backend; windows on other memory stay themselves",
        "handed", identity=True,
    ),
    Departure(
        r"np\.(asarray_chkfinite|asmatrix|matrix|from_dlpack|lib\.stride_tricks\.as_strided)\(", _NOT_DISPATCHED, "library"
    ),
    Departure(r"a\.view\((type=)?np\.ndarray", "the C code of an ndarray's view wants a class of its own, which np.ndarray is not in user files", "handed"),
    Departure(r"np\.ndarray\(", "NumPy's own array of a buffer cannot share memory that the host cannot write, or where the core is not compiled sees none", "library", "jax tensorflow" if handles.compiled else ""),
    Departure(r"a\.view\((type=)?np\.ndarray", "an ndarray cannot share memory that the host cannot write", "library", "jax tensorflow"),
]  # fmt: skip


def departs(case: Case, world: str, backend: str) -> Departure | None:
    """Why a case may differ from NumPy; None if it may not."""
    return next((d for d in DEPARTURES if d.holds(case, world, backend)), None)
