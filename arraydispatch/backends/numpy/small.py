"""Small arrays on the host: NumPy holds an ``Array`` whose size does not pay for a trip to the device.

The launcher's ``--min-size`` decides which arrays start here (:func:`arraydispatch.conversion.home`). NumPy runs what
meets only its like (``dispatch/small.py``); what meets an array on the device is taken along, as any array that NumPy
holds is.
"""

from __future__ import annotations

from arraydispatch.backends.numpy.backend import NumpyBackend


class SmallBackend(NumpyBackend):
    """NumPy, for arrays of few elements whose home would be a device."""

    small = True
    native_views = True
