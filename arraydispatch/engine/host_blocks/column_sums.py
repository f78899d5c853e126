"""Sums along the axis before a short last one, such as ``force.sum(axis=1)`` of the forces between bodies in three dimensions.

NumPy starts a loop for each addition of the two or three numbers of the last axis. A kernel keeps each sum in a register
and adds in the same order.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import Any

import numpy as np

from ...common.sentinels import DECLINED
from . import kernels

__all__ = ["LENGTHS", "Columns", "of"]

LENGTHS = range(2, 8)
"""Lengths of the last axis that have a kernel. For a length of one, NumPy sums pairwise."""

_SOURCE = """\
declare i32 @feclearexcept(i32)
declare i32 @fetestexcept(i32)
define i32 @kernel(ptr %table, ptr %addresses) nounwind {{
entry:
  %n = load i64, ptr %table
  %columns.at = getelementptr i64, ptr %table, i64 1
  %columns.n = load i64, ptr %columns.at
  %row.at = getelementptr i64, ptr %table, i64 2
  %row.step = load i64, ptr %row.at
  %column.at = getelementptr i64, ptr %table, i64 3
  %column.step = load i64, ptr %column.at
  %out.at = getelementptr i64, ptr %table, i64 4
  %out.step = load i64, ptr %out.at
  %x.word = load i64, ptr %addresses
  %x = inttoptr i64 %x.word to ptr
  %out.place = getelementptr i64, ptr %addresses, i64 1
  %out.word = load i64, ptr %out.place
  %out = inttoptr i64 %out.word to ptr
  %cleared = call i32 @feclearexcept(i32 {mask})
  br label %rows
rows:
  %i = phi i64 [0, %entry], [%i.next, %done]
  %row.of = mul i64 %i, %row.step
  %row = getelementptr i8, ptr %x, i64 %row.of
  br label %columns
columns:
  %j = phi i64 [0, %rows], [%j.next, %columns]
{sums}
  %column.of = mul i64 %j, %column.step
  %column = getelementptr i8, ptr %row, i64 %column.of
{adds}
  %j.next = add nuw nsw i64 %j, 1
  %j.more = icmp slt i64 %j.next, %columns.n
  br i1 %j.more, label %columns, label %done
done:
  %to.of = mul i64 %i, %out.step
  %to = getelementptr i8, ptr %out, i64 %to.of
{stores}
  %i.next = add nuw nsw i64 %i, 1
  %i.more = icmp slt i64 %i.next, %n
  br i1 %i.more, label %rows, label %end
end:
  %status = call i32 @fetestexcept(i32 {mask})
  ret i32 %status
}}
"""


def source(dtype: np.dtype[Any], length: int, mask: int) -> str:
    """Return the LLVM module of the kernel for this length of the last axis."""
    t, size = {4: "float", 8: "double"}[dtype.itemsize], dtype.itemsize
    each = range(length)
    return _SOURCE.format(
        mask=mask,
        sums="\n".join(f"  %sum{k} = phi {t} [0.0, %rows], [%next{k}, %columns]" for k in each),
        adds="\n".join(
            f"  %at{k} = getelementptr i8, ptr %column, i64 {k * size}\n  %x{k} = load {t}, ptr %at{k}, align {size}\n"
            f"  %next{k} = fadd {t} %sum{k}, %x{k}"
            for k in each
        ),
        stores="\n".join(
            f"  %to{k} = getelementptr i8, ptr %to, i64 {k * size}\n  store {t} %next{k}, ptr %to{k}, align {size}"
            for k in each
        ),
    )


class Columns:
    """``np.add.reduce(x, axis=1)`` of an array with three axes, as the callable that a node holds.

    Parameters
    ----------
    dtype : np.dtype
        Floating dtype.
    length : int
        Length of the last axis.
    keepdims : bool
    """

    __name__ = "reduce"  # the name in warnings

    def __init__(self, dtype: np.dtype[Any], length: int, keepdims: bool) -> None:
        self._dtype, self._length, self._keepdims = dtype, length, keepdims
        self._work = 0
        self._kernel: Any = None

    def __call__(self, x: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> None:
        """Sum the columns of ``x`` into ``out``, by a kernel as soon as one is compiled."""
        size = self._dtype.itemsize
        self._work += x.size
        kernel = self._kernel
        if kernel is None and 8 * self._work >= kernels.HOT:  # NumPy's time per number is larger by this factor here
            kernel = kernels.function((self._dtype, self._length), lambda mask: source(self._dtype, self._length, mask))
            self._kernel = kernel = False if kernel is DECLINED else kernel
        if kernel and x.strides[2] == out.strides[-1] == size and x.flags.aligned and out.flags.aligned:
            words = array("q", (*x.shape[:2], *x.strides[:2], out.strides[0]))
            places = array("q", (x.__array_interface__["data"][0], out.__array_interface__["data"][0]))
            if not kernel(words.buffer_info()[0], places.buffer_info()[0]):
                return
        np.add.reduce(x, axis=1, keepdims=self._keepdims, out=out)  # NumPy reports the error, if there is one


@lru_cache(64)
def of(dtype: np.dtype[Any], length: int, keepdims: bool) -> Columns:
    """Return the instance for these parameters."""
    return Columns(dtype, length, keepdims)
