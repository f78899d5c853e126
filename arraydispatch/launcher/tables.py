"""How the facade treats each of NumPy's functions: the tables behind :mod:`.facade`.

A function that NumPy dispatches and no table names is pure: it adopts (:class:`.adoption.Function`). A test holds
every name of NumPy's modules against these tables, so a new one is noticed.
"""

from __future__ import annotations

__all__ = [
    "CREATION",
    "HOST_MADE",
    "LOOKS",
    "OUTPUT",
    "REAL",
    "SEQUENCES",
    "SUBMODULES",
    "VIEWS",
    "VIEWS_OF_MANY",
    "WRITES",
]

SUBMODULES: frozenset[str] = frozenset(
    "numpy numpy.fft numpy.lib numpy.lib.scimath numpy.lib.stride_tricks numpy.linalg numpy.random numpy.testing".split()
)
"""Modules that have a facade. The others (``ma``, ``polynomial``, ``char`` …) are NumPy's own: they work on the host by
nature and take an ``Array`` through ``__array__``. ``testing`` looks at types, so its assertions get host arrays."""

CREATION: frozenset[str] = frozenset(
    "arange bartlett blackman diag_indices empty eye fftfreq fromfunction full geomspace hamming hanning identity indices"
    " kaiser linspace logspace mask_indices meshgrid ones rfftfreq tri tril_indices triu_indices zeros".split()
)
"""Made on the backend by :mod:`arraydispatch.creation`."""

HOST_MADE: frozenset[str] = frozenset("fromfile fromiter fromregex fromstring genfromtxt loadtxt".split())
"""Made by NumPy on the host, then moved."""

INDEX_OBJECTS: frozenset[str] = frozenset({"c_", "mgrid", "ogrid", "r_"})
"""Objects that make arrays when they are indexed."""

VIEWS: frozenset[str] = frozenset(
    "array_split atleast_1d atleast_2d atleast_3d broadcast_to diag diagonal dsplit expand_dims flip fliplr flipud"
    " hsplit imag matrix_transpose moveaxis permute_dims ravel real real_if_close reshape rollaxis rot90"
    " sliding_window_view split squeeze swapaxes transpose trim_zeros unstack vsplit".split()
)
"""The result may be a view of the first argument."""

VIEWS_OF_MANY: frozenset[str] = frozenset({"broadcast_arrays"})
"""The results may be views of the arguments."""

SEQUENCES: frozenset[str] = frozenset(
    "block column_stack concat concatenate dstack einsum histogramdd hstack ix_ lexsort multi_dot ravel_multi_index"
    " row_stack select stack vstack".split()
)
"""The first argument is a sequence of arrays (or, for ``einsum``, no array)."""

OUTPUT: frozenset[str] = frozenset({"save", "savetxt", "savez", "savez_compressed"})
"""Takes host arrays by nature: an ``Array`` is brought to the host without ado."""

LOOKS: frozenset[str] = frozenset(
    "array2string array_repr array_str busday_count busday_offset can_cast common_type datetime_as_string einsum_path"
    " iscomplexobj isrealobj is_busday may_share_memory min_scalar_type ndim result_type shape shares_memory size".split()
)
"""Tells something about arrays without computing on them: an ndarray need not move for that."""

WRITES: frozenset[str] = frozenset("copyto fill_diagonal place put put_along_axis putmask".split())
"""Writes into its first argument: an ndarray there must be written itself."""

REAL: frozenset[str] = frozenset(
    "add_docstring add_newdoc asmatrix base_repr binary_repr bmat broadcast_shapes datetime_data"
    " format_float_positional format_float_scientific frompyfunc get_include get_printoptions getbufsize geterr"
    " geterrcall info isdtype isfortran issubdtype iterable mintypecode nested_iters printoptions promote_types"
    " set_printoptions setbufsize seterr seterrcall show_config show_runtime test typename".split()
)
"""No array goes in that could move, or none comes out."""
