"""Replacements of the entry points of ``Array`` while a program is verified: each runs the call, runs NumPy, and
compares.

While a :class:`Verification` is in force, the methods and operators of ``Array``, the two protocols and the creation functions are
replaced by functions that run the library and NumPy. A method of an array is compared with that of ndarray. Without verification
nothing is replaced, so it costs nothing.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import IO, Any, Self

import numpy as np

import arraydispatch

from ..._core import handles
from ..._core.handles import Handle
from ...api import creation, public
from ...array.flat import Flat
from ...backends import loader
from ...common.callers import shown, straight
from ...common.errors import ArrayDispatchError
from ...common.members import MEMBERS, Member
from ...common.names import name_of
from ...common.process_state import process
from ...common.user_warnings import FLOATING_ERRORS
from ...dispatch import scipy_calls
from ...dispatch.handover import handed
from ...functions.registry import METHODS, SPECS, facts_of, spec_of
from ...runtime import dtypes, settings
from ..recorder import Profile
from .comparison import Finding, compare, largest
from .host_inputs import Hosts, Unfit, library_computes, to_host
from .known_errors import amplified, check_for, raw, scale_for, unverified
from .rounding import Nearby, jump

_SET = ("real", "imag")
"""Attributes that are views; assigning to one writes the array."""
_LARGEST = 10


def _updates(func: Any) -> bool:
    spec = spec_of(func)
    return spec is not None and spec.mode == "update"


@dataclass
class Difference:
    """Largest difference found at one line for one function."""

    function: str
    file: str
    line: int
    count: int
    error: float
    tolerance: float
    text: str
    ours: str
    numpy: str


_in_force: list[Verification] = []
_changing = threading.RLock()


class Verification:
    """Comparison of every call that a library computes with NumPy while it is in force; ``with Verification() as v: …``.

    The program's results do not change. Calls that take functions of the program are not run twice, because
    these may have side effects; the calls they make are compared.

    Parameters
    ----------
    stream : file, optional
        Stream on which the first difference is reported when it is found.

    Examples
    --------
    >>> import numpy as np
    >>> import arraydispatch as ad
    >>> from arraydispatch.profiling.verification import Verification
    >>> with Verification() as v:
    ...     y = np.cumsum(ad.asarray([1.0, 2.0, 3.0]))
    >>> v.differences()
    []
    """

    def __init__(self, stream: IO[str] | None = None, owns: Callable[[str], bool] | None = None) -> None:
        self._stream = stream
        self._places = Profile(owns=owns)  # this profile only finds the user's frame
        self._inside = threading.local()
        self._lock = threading.RLock()
        self._rows: dict[tuple[str, str, int, bool], Difference] = {}
        self._undo: list[tuple[Any, str, Any]] = []
        self._output: dict[Any, int] = {}
        self.checked = 0
        """Number of results that a library computed and that were compared."""
        self.by_numpy = 0
        """Number of results that NumPy computed, which are not compared."""
        self.unchecked: dict[str, int] = {}

    # -- starting and stopping ---------------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def start(self) -> None:
        """Replace the entry points; raise RuntimeError if this verification is in force already."""
        with _changing:
            if self in _in_force:
                raise RuntimeError("this verification is already in force.")
            self._replace_all()
            _in_force.append(self)

    def stop(self) -> None:
        """Restore everything; replacements by verifications that started later stay."""
        with _changing:
            if self not in _in_force:
                return
            later = _in_force[_in_force.index(self) + 1 :]
            for each in (*reversed(later), self):
                each._put_back()
            for each in later:
                each._replace_all()
            _in_force.remove(self)

    def _replace_all(self) -> None:
        process.add("suspended", 1)  # so that the general path is in force
        handles.lay_over(self._form)
        self._replace(Flat, "__setitem__", self._flat_door(Flat.__setitem__))
        for name in creation.__all__:
            real = getattr(np, name, None) or getattr(np.fft, name, None)
            if real is not None:
                self._replace(creation, name, self._creation_door(real, getattr(creation, name), real))
        entry = self._creation_door(np.asarray, public.asarray, lambda obj, dtype=None, **_: np.asarray(obj, dtype))
        self._replace(public, "asarray", entry)
        self._replace(arraydispatch, "asarray", entry)

    def _put_back(self) -> None:
        handles.take_off(self._form)
        while self._undo:
            owner, name, before = self._undo.pop()
            if before is None:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
        process.add("suspended", -1)

    def _replace(self, owner: Any, name: str, made: Any) -> None:
        self._undo.append((owner, name, vars(owner).get(name) if isinstance(owner, type) else getattr(owner, name)))
        setattr(owner, name, made)

    # -- the entry points --------------------------------------------------------------------------------------------

    def _form(self, name: str, ours: Any) -> Any:
        """Make the form of a member that compares its calls with NumPy's; return None for a member that is not compared."""
        row = MEMBERS[name]
        if name == "__array_ufunc__":
            return self._ufunc_door(ours)
        if name == "__array_function__":
            return self._function_door(ours)
        if not row.compared:
            return None
        return self._property(name, ours) if row.form == "view" else self._method(row, ours)

    def _method(self, row: Member, ours: Callable[..., Any]) -> Callable[..., Any]:
        name, writes, real = row.name, row.writes, getattr(np.ndarray, row.name)
        func = row.func or name
        elementwise = name.startswith("__") and row.func is not np.matmul

        @functools.wraps(ours)
        def method(*args: Any, **kwargs: Any) -> Any:
            return self._both(func, ours, real, args, kwargs, writes or kwargs.get("out") is not None, elementwise)

        return method

    def _property(self, name: str, ours: Any) -> property:
        def read(a: Any) -> Any:
            return self._both(name, ours.__get__, lambda x: getattr(x, name), (a,), {}, False, True)

        def write(a: Any, value: Any) -> None:
            self._both(name, ours.__set__, lambda x, v: setattr(x, name, v), (a, value), {}, True)

        return property(read, write if name in _SET else None, doc=ours.__doc__)

    def _ufunc_door(self, ours: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(ours)
        def door(a: Any, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
            real = ufunc if method == "__call__" else getattr(ufunc, method)
            writes = method == "at" or kwargs.get("out") is not None

            def run(*args: Any, **keywords: Any) -> Any:
                return ours(a, ufunc, method, *args, **keywords)

            elementwise = ufunc.signature is None and method in ("__call__", "outer", "at")
            return self._both(ufunc, run, real, inputs, kwargs, writes, elementwise)

        return door

    def _function_door(self, ours: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(ours)
        def door(a: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            writes = _updates(func) or kwargs.get("out") is not None or kwargs.get("copy") is False
            writes = writes or len(args) > self._output_at(func)

            def run(*positional: Any, **keywords: Any) -> Any:
                return ours(a, func, types, positional, keywords)

            return self._both(func, run, func, args, kwargs, writes)

        return door

    def _flat_door(self, ours: Callable[..., Any]) -> Callable[..., Any]:
        def real(host: Any, key: Any, value: Any) -> None:
            host.flat[key] = value

        @functools.wraps(ours)
        def door(flat: Any, key: Any, value: Any) -> None:
            self._both("flat", lambda _, k, v: ours(flat, k, v), real, (flat.base, key, value), {}, True)

        return door

    def _creation_door(self, func: Any, ours: Callable[..., Any], real: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(ours)
        def door(*args: Any, **kwargs: Any) -> Any:
            return self._both(func, ours, real, args, kwargs, False, creates=True)

        return door

    def _output_at(self, func: Any) -> int:
        """Return the number of positional arguments that a function takes before ``out``; ``sys.maxsize`` if it takes none."""
        at = self._output.get(func)
        if at is None:
            try:
                known = dict(inspect.signature(func).parameters)
            except (ValueError, TypeError):
                known = {}
            # An `out` after *operands cannot be passed by position.
            named = "out" in known and known["out"].kind is not inspect.Parameter.KEYWORD_ONLY
            at = self._output[func] = list(known).index("out") if named else sys.maxsize
        return at

    # -- the comparison ----------------------------------------------------------------------------------------------

    def _both(
        self, func: Any, run: Callable[..., Any], real: Callable[..., Any], args: tuple[Any, ...],
        kwargs: dict[str, Any], writes: bool, elementwise: bool = False, creates: bool = False,
    ) -> Any:  # fmt: skip
        if getattr(self._inside, "now", False) or not self._undo:
            # The call is made inside another one, or verification has ended.
            return run(*args, **kwargs)
        if not library_computes(func, args, kwargs, writes, creates):
            with self._lock:
                self.by_numpy += 1
            return run(*args, **kwargs)
        if why := unverified(func):
            self._skip(why)
            return run(*args, **kwargs)
        policy = settings.current_precision()
        overwrites = scipy_calls.may_overwrite(func, args, kwargs)
        hosts = Hosts(writes or overwrites, policy is not None and not raw(func))
        self._inside.now = True
        try:
            try:
                kept = func in METHODS and func in SPECS and _holds_none(args[0])
                inputs = tuple(x if kept and x is args[0] else hosts.of(x) for x in args)
                keywords = {key: hosts.of(x) for key, x in kwargs.items()}
                if overwrites:
                    inputs, keywords = scipy_calls.kept(func, inputs, keywords)
            except Unfit as unfit:
                method = func in METHODS and not kept
                name = scipy_calls.known_as(func, args) if method else _name(func)
                self._skip(
                    f"{name} is of an object of SciPy's, which the call may change" if method else f"{name} {unfit}"
                )
                self._inside.now = False  # verify the calls that the program's own function makes
                return run(*args, **kwargs)
            scale = None
            if not writes:
                scale = _quietly(scale_for, func, inputs, keywords, real, not elementwise)[0]
            ear = _Heard()
            reference, refused = _heard(ear, real, *inputs, **keywords)
            try:
                result = run(*args, **kwargs)
            except ArrayDispatchError:
                raise
            except Exception as error:
                if refused is None and reference is not NotImplemented and not ear.explains(error):
                    says = f"{type(error).__name__}: {error}"
                    self._found(func, Finding(np.inf, 0.0, (), None, None, f"raises {says}, where NumPy does not"))
                raise
            if result is NotImplemented:
                return result
            if refused is not None:
                self._skip(f"{_name(func)}: NumPy refuses the call ({type(refused).__name__})")
                return result
            written = hosts.mutated() if writes else None
            findings = self._findings(func, real, inputs, keywords, result, reference, scale, written, policy)
            if not writes and policy is None:
                findings += self._decided(func, real, args, inputs, keywords, result, reference)
            if findings:
                self._found(func, max(findings, key=lambda finding: (finding.beyond, finding.error)))
            with self._lock:
                self.checked += 1
            return result
        finally:
            self._inside.now = False

    def _findings(
        self, func: Any, real: Callable[..., Any], inputs: tuple[Any, ...], keywords: dict[str, Any], result: Any,
        reference: Any, scale: Any, written: Iterable[tuple[Any, Any]] | None, policy: Any,
    ) -> list[Finding]:  # fmt: skip
        if written is not None:
            # The result is what was written, or None; values outside of the written part must be unchanged.
            return [compare(now, left, _written_scale(left)) for now, left in written]
        check = check_for(func)
        ours = _plain(result)
        if check is not None:
            found = _quietly(check, inputs, keywords, ours, reference)[0]
            if found is not None:
                return list(found)
        pairs: list[tuple[Any, Any]] = []
        if not _pair(ours, reference, pairs):
            return [Finding(np.inf, 0.0, (), None, None, f"gives {_kind(ours)} where NumPy gives {_kind(reference)}")]
        found = [self._leaf(a, b, scale, policy) for a, b in pairs]
        relative = _quietly(amplified, func, real, inputs, keywords, pairs, found)[0]
        return found if relative is None else list(relative)

    def _decided(
        self, func: Any, real: Callable[..., Any], args: tuple[Any, ...], inputs: tuple[Any, ...],
        keywords: dict[str, Any], result: Any, reference: Any,
    ) -> list[Finding]:  # fmt: skip
        """Return a list with a finding if a function has jumped because an argument differs from NumPy's value by rounding; else an empty
        list, and keep NumPy's value of the result for later calls.

        ``real``: NumPy's function; ``inputs``, ``keywords``: its arguments on the host; ``reference``: its result.
        """
        nearby: Nearby = self._inside.__dict__.setdefault("nearby", Nearby())
        known = [nearby.of(x, host) for x, host in zip(args, inputs)]
        others = [other for other in known if other is not None]
        ours, calls, findings = _plain(result), 1, []
        if others:
            theirs = [host if other is None else other.numpys for host, other in zip(inputs, known)]
            reference, refused = _quietly(real, *theirs, **keywords)
            if refused is not None:
                return []
            calls += max(other.calls for other in others)
            found = jump(facts_of(func).checks.jumps, ours, reference, largest(inputs), others[0].origin)
            findings = [] if found is None else [found]
        if isinstance(result, Handle) and not findings:
            nearby.keep(result, ours, reference, calls, lambda: others[0].origin if others else self._here(func))
        return findings

    def _here(self, func: Any) -> str:
        frame = self._places.origin(sys._getframe())
        return f"{_name(func)} at {shown(frame.f_code.co_filename, frame.f_lineno, os.path.basename)}"

    def _leaf(self, ours: Any, reference: Any, scale: Any, policy: Any) -> Finding:
        if policy is None and ours.dtype != reference.dtype and not dtypes.is_bfloat16(ours.dtype):
            says = f"dtype {ours.dtype} where NumPy has {reference.dtype}"
            return Finding(np.inf, 0.0, (), ours.dtype, reference.dtype, says)
        if isinstance(scale, str):
            scale = largest((reference,))
        elif scale is not None and np.shape(scale) not in ((), reference.shape):
            scale = largest((scale,))
        return compare(ours, reference, scale)

    def _skip(self, why: str) -> None:
        with self._lock:
            self.unchecked[why] = self.unchecked.get(why, 0) + 1

    def _found(self, func: Any, finding: Finding) -> None:
        if finding.error == 0:
            return
        frame = self._places.origin(sys._getframe())
        place = straight(frame.f_code.co_filename), frame.f_lineno
        beyond = finding.beyond
        with self._lock:
            first = beyond and not any(key[3] for key in self._rows)
            row = self._rows.get((_name(func), *place, beyond))
            if row is None:
                made = Difference(_name(func), *place, 0, -1.0, finding.tolerance, "", "", "")
                row = self._rows[made.function, *place, beyond] = made
            row.count += 1
            if finding.error > row.error:
                row.error, row.tolerance, row.text = finding.error, finding.tolerance, _text(finding)
                row.ours, row.numpy = _values(finding)
        if first and self._stream is not None:
            print(
                f"arraydispatch: {shown(row.file, row.line)}: {row.function} differs from NumPy: {row.text}",
                file=self._stream, flush=True,
            )  # fmt: skip

    # -- reading -----------------------------------------------------------------------------------------------------

    def differences(self) -> list[Difference]:
        """Return the differences beyond the tolerance, in the order in which they were found."""
        with self._lock:
            return [row for (*_, beyond), row in self._rows.items() if beyond]

    def largest(self) -> list[Difference]:
        """Return the largest differences within the tolerance."""
        with self._lock:
            within = [row for (*_, beyond), row in self._rows.items() if not beyond]
        return sorted(within, key=lambda row: -row.error)[:_LARGEST]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        differences = self.differences()
        return {
            "checked": self.checked,
            "by_numpy": self.by_numpy,
            "backend": settings.current_name(),
            "unchecked": dict(self.unchecked),
            "differing": sum(row.count for row in differences),
            "differences": [asdict(row) for row in differences],
            "largest": [asdict(row) for row in self.largest()],
        }


_one_at_a_time = threading.RLock()
"""Lock for exchanging the warning filters: threads would otherwise restore each other's."""


class _Heard:
    """Collector of NumPy's floating-point errors and warnings in a call, which are not shown.

    Python remembers which lines have warned until filters change, so the filters are replaced without notifying it.
    ``warnings.catch_warnings`` would make each line warn again and again.
    """

    def __init__(self) -> None:
        self.kinds: set[str] = set()
        self.warnings: list[warnings.WarningMessage] = []

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Collect everything while the block runs."""
        told: Any = warnings
        with _one_at_a_time, np.errstate(all="call", call=lambda kind, _: self.kinds.add(kind)):
            before = told.filters, told._showwarnmsg
            told.filters, told._showwarnmsg = [("always", None, Warning, None, 0)], self.warnings.append
            try:
                yield
            finally:
                told.filters, told._showwarnmsg = before

    def explains(self, error: Exception) -> bool:
        """Whether NumPy would have raised this error too, under the user's settings for its floating-point errors and
        warnings.
        """
        modes: dict[str, Any] = {**np.geterr()}
        due = {kind: modes[FLOATING_ERRORS[kind]] for kind in self.kinds}
        kind = str(error).partition(" encountered")[0]
        if isinstance(error, FloatingPointError):
            return due.get(kind) == "raise"
        if isinstance(error, Warning):
            said = {(w.category, str(w.message)) for w in self.warnings}
            return due.get(kind) == "warn" or (type(error), str(error)) in said
        return not {"call", "log"}.isdisjoint(due.values())  # a user's function is called, which may raise anything


def _quietly(call: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Exception | None]:
    """Return (result, None) or (None, exception) of a call, whose warnings are not shown."""
    return _heard(_Heard(), call, *args, **kwargs)


def _heard(ear: _Heard, call: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Exception | None]:
    with ear.listening():
        try:
            return call(*args, **kwargs), None
        except Exception as error:  # noqa: BLE001 -- whatever NumPy raises is its answer
            return None, error


def _name(func: Any) -> str:
    return f"ndarray.{func}" if isinstance(func, str) and not func.startswith("__") else name_of(func)


def _holds_none(owner: Any) -> bool:
    """Whether a SciPy object contains no `Array`, so that its own code works with NumPy arrays."""
    return not any(isinstance(x, Handle) for x in getattr(owner, "__dict__", {}).values())


def _plain(x: Any) -> Any:
    """Return a result with ndarrays in place of the arrays and native arrays within it."""
    return handed(x, to_host, _plain_native)


def _plain_native(x: Any) -> Any:
    if not isinstance(x, np.ndarray | np.generic | int | float | complex | str | None):
        backend = loader.backend_of(x)
        return x if backend is None else backend.to_numpy(x)
    return x


def _pair(ours: Any, reference: Any, found: list[tuple[Any, Any]]) -> bool:
    """Append the pairs of corresponding arrays and numbers of two results to ``found``; return False if their structures differ."""
    if isinstance(reference, list | tuple):
        if not isinstance(ours, list | tuple) or len(ours) != len(reference):
            return False
        return all(_pair(a, b, found) for a, b in zip(ours, reference))
    if isinstance(reference, np.ndarray | np.generic | bool | int | float | complex):
        if not isinstance(ours, np.ndarray | np.generic | bool | int | float | complex):
            return False
        if np.asarray(reference).dtype.hasobject:
            return True
        found.append((np.asarray(ours), np.asarray(reference)))
    return True


def _kind(x: Any) -> str:
    return f"{type(x).__name__} of {len(x)}" if isinstance(x, list | tuple) else type(x).__name__


def _written_scale(left: np.ndarray[Any, Any]) -> Any:
    return None if left.dtype.kind not in "fc" else largest((left,))


def _value(x: Any, digits: int) -> str:
    return "" if x is None else f"{x:.{digits}g}" if isinstance(x, float | np.inexact) else str(x)


def _values(finding: Finding) -> tuple[str, str]:
    """Format our value and NumPy's, with as many digits as needed to tell them apart."""
    for digits in range(9, 18):
        found = _value(finding.ours, digits), _value(finding.numpy, digits)
        if found[0] != found[1]:
            break
    return found


def _text(finding: Finding) -> str:
    if finding.says:
        return finding.says
    at = f" at {list(finding.place)}" if finding.place else ""
    dtype = getattr(finding.ours, "dtype", "")
    relative = (
        ""
        if not np.isfinite(finding.error)
        else f"; relative error {finding.error:.2g}, tolerance {finding.tolerance:.2g}"
    )
    ours, numpys = _values(finding)
    return f"{ours} ({dtype}) where NumPy has {numpys}{at}{relative}"
