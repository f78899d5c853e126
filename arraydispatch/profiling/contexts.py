"""Profiles of a ``with`` block or of calls of a function."""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from time import perf_counter
from types import TracebackType
from typing import IO, Any

from ..backends import loader
from . import recorder, report


class Profile(recorder.Profile):
    """Profile that prints and writes its report; see :class:`arraydispatch.profiling.recorder.Profile`.

    Parameters
    ----------
    save : str or path, optional
        File for the profile at the end of the block: a ``.html`` report, else the trace.
    **options
        Options of the base class.
    """

    def __init__(self, *, save: str | os.PathLike[str] | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._save = save

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        super().__exit__(kind, error, tb)
        if self._save is not None:
            self.save(self._save)

    def print(self, stream: IO[str] | None = None, *, full: bool = True) -> None:
        """Print the report, to standard output unless a stream is given."""
        report.print_report(self, report.Run.of(self), sys.stdout if stream is None else stream, full=full)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the calls with their times in Chrome's trace-event format (``chrome://tracing``, Perfetto, Speedscope).

        To a path that ends in ``.html`` the report is written instead, as by :meth:`to_html`.
        """
        writer = report.WRITERS[".html"] if os.fspath(path).endswith(".html") else report.write_trace
        report.write(writer, path, self, report.Run.of(self))

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write the report as one HTML file: plots, tables, the annotated source."""
        report.write(report.WRITERS[".html"], path, self, report.Run.of(self))


def profile(
    *, backends: Iterable[str] | None = None, trace: bool = True, synchronize: bool = False,
    save: str | os.PathLike[str] | None = None,
) -> Profile:  # fmt: skip
    """Profile the calls inside a ``with`` block: ``with ad.profile() as p: …``.

    Parameters
    ----------
    backends : sequence of str, optional
        Report only calls on these backends.
    trace : bool
        Keep each call with its time, for ``p.save(path)``; False keeps counts and sums only.
    synchronize : bool
        Wait for the result of each call, so that its time includes the work, even if the library runs asynchronously.
    save : str or path, optional
        File for the profile at the end of the block: a ``.html`` report, else the trace.

    Returns
    -------
    Profile
        ``p.print()``, ``p.save("trace.json")``, ``p.to_html("report.html")``, ``p.message("…")``.
    """
    return Profile(trace=trace, synchronize=synchronize, backends=backends, save=save)


def profile_function(
    fun: Callable[..., Any], args: Iterable[Any] = (), kwargs: Mapping[str, Any] | None = None, *,
    backends: Iterable[str] | None = None, trace: bool = True, warmup: int = 1, retime: bool = True,
    call_count: int = 1,
) -> Profile:  # fmt: skip
    """Profile calls of a function.

    Parameters
    ----------
    fun : callable
        The function.
    args, kwargs
        Its arguments.
    backends : sequence of str, optional
        Report only calls on these backends.
    trace : bool
        Keep each call with its time.
    warmup : int
        Number of calls before the profile begins: libraries compile and load code on first use.
    retime : bool
        Time ``call_count`` more calls without the profile: ``Profile.wall`` is then exact.
    call_count : int
        Number of calls that are profiled; counts and times are the mean over them.

    Returns
    -------
    Profile

    Raises
    ------
    TypeError, ValueError
        If ``call_count`` or ``warmup`` is not an integer, or is too small.

    Examples
    --------
    >>> import numpy as np
    >>> import arraydispatch as ad
    >>> p = ad.profile_function(np.sin, (ad.asarray([1.0, 2.0]),), call_count=3)
    >>> p.calls_on_backend
    1
    """
    call_count, warmup = operator.index(call_count), operator.index(warmup)  # TypeError if not an integer
    if call_count < 1 or warmup < 0:
        raise ValueError("call_count must be at least 1 and warmup at least 0.")
    arguments, keywords = tuple(args), dict(kwargs or {})
    for _ in range(warmup):
        fun(*arguments, **keywords)
    found = Profile(trace=trace, synchronize=True, backends=backends)
    found.runs = call_count
    with found:
        for _ in range(call_count):
            fun(*arguments, **keywords)
    if retime:
        _synchronize_all()
        start = perf_counter()
        for _ in range(call_count):
            fun(*arguments, **keywords)
        _synchronize_all()
        found.retimed = (perf_counter() - start) / call_count
    return found


def _synchronize_all() -> None:
    for backend in loader.loaded():
        backend.synchronize()
