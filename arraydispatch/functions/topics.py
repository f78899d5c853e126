"""Table of topics: the module that registers each NumPy function, so that a program imports only modules of functions that it calls.

A test compares the table with the registrations. For a NumPy function that is not in it, all topics are imported.
"""

from __future__ import annotations

from typing import Any

import numpy as np

TOPICS = {
    "creation": """
        empty_like full_like geomspace linspace logspace meshgrid ones_like zeros_like
    """,
    "manipulation": """
        append array_split astype atleast_1d atleast_2d atleast_3d block broadcast_arrays broadcast_to can_cast column_stack common_type
        concatenate copy copyto delete diag diagflat diagonal dsplit dstack expand_dims flip fliplr flipud hsplit hstack insert iscomplexobj
        isrealobj matrix_transpose may_share_memory min_scalar_type moveaxis ndim ravel repeat reshape resize result_type roll rollaxis rot90
        row_stack shape shares_memory size split squeeze stack swapaxes tile transpose tril trim_zeros triu unstack vander vsplit vstack
        lib.stride_tricks.sliding_window_view
    """,
    "indexing": """
        choose compress diag_indices_from extract fill_diagonal ix_ place put put_along_axis putmask ravel_multi_index take take_along_axis
        tril_indices_from triu_indices_from unravel_index
    """,
    "reductions": """
        amax amin cumprod cumsum max min nancumprod nancumsum nanmax nanmin nanprod nansum prod sum
    """,
    "statistics": """
        average corrcoef cov mean median nanmean nanmedian nanpercentile nanquantile nanstd nanvar percentile ptp quantile std var
    """,
    "histograms": """
        bincount histogram histogram2d histogram_bin_edges histogramdd
    """,
    "sorting": """
        argmax argmin argpartition argsort argwhere count_nonzero flatnonzero lexsort nanargmax nanargmin nonzero partition searchsorted sort
        sort_complex where
    """,
    "sets": """
        ediff1d intersect1d isin setdiff1d setxor1d union1d unique unique_all unique_counts unique_inverse unique_values
    """,
    "logic": """
        all allclose any array_equal array_equiv isclose iscomplex isneginf isposinf isreal
    """,
    "elementwise": """
        angle around clip cumulative_prod cumulative_sum diff digitize fix gradient i0 imag interp nan_to_num real real_if_close round select
        sinc trapezoid unwrap
    """,
    "functional": """
        apply_along_axis apply_over_axes piecewise
    """,
    "products": """
        convolve correlate cross dot einsum einsum_path inner kron linalg.cross linalg.diagonal linalg.matmul linalg.matrix_transpose
        linalg.outer linalg.tensordot linalg.trace linalg.vecdot outer tensordot trace vdot
    """,
    "linalg": """
        linalg.cholesky linalg.cond linalg.det linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.inv linalg.lstsq linalg.matrix_norm
        linalg.matrix_power linalg.matrix_rank linalg.multi_dot linalg.norm linalg.pinv linalg.qr linalg.slogdet linalg.solve linalg.svd
        linalg.svdvals linalg.tensorinv linalg.tensorsolve linalg.vector_norm
    """,
    "padding": """
        pad
    """,
    "polynomials": """
        poly polyadd polyder polydiv polyfit polyint polymul polysub polyval roots
    """,
    "scimath": """
        lib.scimath.arccos lib.scimath.arcsin lib.scimath.arctanh lib.scimath.log lib.scimath.log10 lib.scimath.log2 lib.scimath.logn
        lib.scimath.power lib.scimath.sqrt
    """,
    "bits": """
        packbits unpackbits
    """,
    "host_only": """
        array2string array_repr array_str busday_count busday_offset datetime_as_string empty frombuffer fromfile fromiter fromregex fromstring
        genfromtxt is_busday loadtxt save savetxt savez savez_compressed
    """,
}
"""Module of ``arraydispatch.functions`` -> names of the functions that it registers, without ``numpy.``."""

LATER = {
    "numpy.fft": "fft",
    "numpy.polynomial.polynomial": "power_series",
    **dict.fromkeys(("numpy.strings", "numpy.char"), "strings"),
    "numpy.lib.recfunctions": "structured_arrays",
}
"""NumPy module that NumPy itself imports lazily -> topic of its functions."""

_TOPIC_OF = {name: topic for topic, names in TOPICS.items() for name in names.split()}


def topics_of(func: Any) -> tuple[str, ...]:
    """Return the topics that may register a function.

    No topic registers functions outside NumPy, or methods of ufuncs; topics for ufuncs are imported by code that needs more than
    their facts.
    """
    module, name = getattr(func, "__module__", None), getattr(func, "__name__", None)
    if isinstance(func, np.ufunc) or not isinstance(module, str) or not (module + ".").startswith("numpy."):
        return ()
    topic = LATER.get(module) or _TOPIC_OF.get(f"{module}.{name}"[6:])
    return (topic,) if topic is not None else tuple(TOPICS)
