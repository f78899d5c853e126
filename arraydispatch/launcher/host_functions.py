"""Stand-ins for functions of NumPy's that know nothing of arrays: those of ``np.ma``, ``np.polynomial``, ``np.char`` and the like."""

from __future__ import annotations

from typing import Any

import arraydispatch as ad

from .adoption import Stand, asked_by_user, received
from .memory_writes import shared


class Received(Stand):
    """Stand-in for a function that works on the host: NumPy's result, as arrays on the backend or on the memory that it has."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the NumPy function by this class's rule."""
        if not asked_by_user(1):
            return self.real(*args, **kwargs)
        given = args
        if self._what.startswith(_RETURN_ARGUMENTS):
            args = tuple([self._inside(value) for value in args])
            kwargs = {key: self._inside(value) for key, value in kwargs.items()}
        made = [self.real(*args, **kwargs)]
        for array, value in zip(given, args):
            if made[0] is value:
                return array
        return received(made, self._what, args)[0]

    def _inside(self, value: Any) -> Any:
        return shared(value, self._what) if isinstance(value, ad.Array) else value


_RETURN_ARGUMENTS = "numpy.ma."
"""Beginning of the names of functions that may return an ndarray itself, or a view of it, and copy whatever else they are given."""
