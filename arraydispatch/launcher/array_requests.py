"""Answer to ``isinstance(x, np.ndarray)`` in libraries, which reads ``x.__class__``."""

from __future__ import annotations

from types import FrameType

from ..common.callers import is_core, is_installed, is_library
from ..common.process_state import process

TAKE_ARRAYS = frozenset(
    "IPython _pytest array_api_compat array_api_extra cloudpickle cv2 dask dill h5py jax jaxlib joblib keras matplotlib mpl_toolkits"
    " numba numexpr pandas PIL pytest scipy sklearn tensorflow torch xarray".split()
)
"""Libraries that take an ``Array`` for what it is: they have a door here (``interop/scipy_stand_ins.py``), know arrays of many kinds, or ask
``np.asarray`` of whatever is no ndarray, before it gets to code that takes nothing else."""


def expects_ndarrays(frame: FrameType) -> bool:
    """Whether ``isinstance`` reports an ``Array`` as an ndarray to the code of a frame: true in all libraries but :data:`TAKE_ARRAYS`.

    Many libraries take other objects for scalars or sequences, and silently compute something else. An ``Array`` has all members of
    an ndarray that they use. In programs it is an instance of their own ``np.ndarray``; Python's standard library looks at types.
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
