"""dask looks up by the class of a chunk what it does with it."""

import dask.array as da
import numpy as np
from dask.array import dispatch
from dask.base import tokenize
from dask.sizeof import sizeof
from dask.utils import Dispatch

x = np.arange(24.0).reshape(4, 6)
chunked, line = da.from_array(x, chunks=(2, 3)), da.from_array(x.ravel(), chunks=5)
for found in (
    da.percentile(line, 50), da.percentile(line, [10, 90], method="lower"), da.median(chunked, axis=0), da.concatenate([chunked, chunked]),
    da.tensordot(chunked, chunked, axes=([1], [1])), da.einsum("ij,kj", chunked, chunked), chunked.mean(), da.nanmean(chunked, axis=1),
    da.take(chunked, [2, 0], axis=1), chunked / 7, da.cov(chunked), chunked.map_blocks(lambda block: np.sqrt(block) + x[0, :3]),
):  # fmt: skip
    made = found.compute(scheduler="sync")
    print(np.round(made, 8), type(made).__name__)
for name in "concatenate take tensordot einsum empty divide percentile numel nannumel".split():
    look_up = getattr(dispatch, f"{name}_lookup")
    print(name, look_up.dispatch(type(x)) is look_up.dispatch(np.ndarray))
print(sizeof(x), sizeof(np.ones(1000)), tokenize(x) == tokenize(x.copy()), tokenize(x) == tokenize(x + 1), tokenize(x) == tokenize(list(x)))

own = Dispatch("own")
own.register((object, int), lambda x: "anything")
own.register(np.ndarray)(lambda x: f"array of {x.dtype}")
print(own(x), own(np.array(["a"])), own(x[0]), own("a"), own(np.ma.ones(2)), own.dispatch(type(x)) is own.dispatch(np.ndarray))
