"""What eight threads do together, and whether it came out as if each had done its part alone.

This runs on arrays of a library's user, and as a part of a script under the launcher: it imports nothing of ours.
"""

from __future__ import annotations

import os
import pickle
import queue
import random
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from .writers import BY_ROW, SCATTERED

__all__ = ["SCENES", "THREADS", "World", "run"]

T = TypeVar("T")
THREADS = 8
_host: Any = sys.modules["numpy"]
"""NumPy's own, under the launcher too."""


class World(NamedTuple):
    """Where threads work: what they call ``np`` and ``ad``, an array with the values of an ndarray there.

    ``without``: names of scenes and words of statements that cannot be had, and ``signals in PACKAGE``, whose code no handler may
    leave by raising; ``few``: few shapes and functions, where a library compiles a program for each.
    """

    np: Any
    ad: Any
    make: Callable[[Any], Any]
    without: tuple[str, ...] = ()
    few: bool = False

    @property
    def sizes(self) -> tuple[int, ...]:
        """Columns of arrays."""
        return (16,) if self.few else (16, 64, 640)

    def chosen(self, numbers: random.Random, things: Sequence[T], most: int) -> list[T]:
        """Some of them."""
        return numbers.choices(things, k=1 if self.few else most)


def together(*actions: Callable[[], Any]) -> None:
    """All of them at one time; the first error of one is raised."""
    barrier = threading.Barrier(len(actions))
    errors: list[BaseException] = []

    def act(action: Callable[[], Any]) -> None:
        barrier.wait()
        try:
            action()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=act, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def values(x: Any) -> Any:
    """An ndarray of the values of an array of any world."""
    return _host.array(x.tolist(), x.dtype).reshape(x.shape)


# -- disjoint writes -----------------------------------------------------------------------------------------------------


def _names(np: Any, x: Any, i: int) -> dict[str, Any]:
    n = x.shape[1]
    m = _host.zeros(x.shape, bool)
    m[:, i::THREADS] = True
    return {"np": np, "x": x, "i": i, "n": n, "m": m, "k": _host.flatnonzero(m), "c": _host.arange(i, n, THREADS),
            "f": x.reshape(-1), "r": x[i]}  # fmt: skip


def write(np: Any, x: Any, i: int, statements: list[str]) -> None:
    """One thread's part."""
    names = _names(np, x, i)
    for statement in statements:
        try:
            exec(statement, names)
        except Exception as error:
            error.add_note(f"in {statement}")
            raise


def _possible(statements: list[str], dtype: str) -> list[str]:
    found = []
    for statement in statements:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                write(_host, _host.ones((8, 16), dtype), 1, [statement])
        except (TypeError, ValueError, RuntimeWarning):
            continue
        found.append(statement)
    return found


_possible_of: dict[tuple[str, str], list[str]] = {}


def disjoint_writes(world: World, numbers: random.Random) -> None:
    """Nobody's writes are lost."""
    dtype = "d" if world.few else numbers.choice("dfl")
    for kind, every in (("scattered", SCATTERED), ("by row", BY_ROW)):
        can = _possible_of.get((kind, dtype)) or _possible_of.setdefault((kind, dtype), _possible(every, dtype))
        statements = [statement for statement in can if not any(word in statement for word in world.without)]
        n = numbers.choice(world.sizes)
        # Few enough that no number grows beyond what is exact.
        parts = [world.chosen(numbers, statements, 5) for _ in range(THREADS)]
        start = (_host.arange(8 * n).reshape(8, n) % 5).astype(dtype)
        theirs = start.copy()
        with _host.errstate(all="ignore"):
            for i, part in enumerate(parts):
                write(_host, theirs, i, part)
        ours = world.make(start)
        together(*(lambda x=ours, i=i, part=part: write(world.np, x, i, part) for i, part in enumerate(parts)))
        found = values(ours)
        close = _host.isclose(found, theirs, rtol=1e-5 if dtype == "f" else 1e-10, equal_nan=True)
        if not close.all():
            at = _host.argwhere(~close)
            owners = {int(j) % 8 for _, j in at} if kind == "scattered" else {int(i) for i, _ in at}
            told = "\n".join(f"  thread {i}: {parts[i]}" for i in sorted(owners))
            raise AssertionError(
                f"{len(at)} elements of {dtype}{list(start.shape)}, {kind}, are others:\n{told}\n{found[~close]}, not {theirs[~close]}"
            )


# -- readers beside writers ------------------------------------------------------------------------------------------------

_LOOKS: dict[str, Callable[[Any, Any, int], Any]] = {
    "tolist": lambda np, x, j: x[j].tolist(),
    "asarray": lambda np, x, j: _host.asarray(x)[j].copy(),
    "copy": lambda np, x, j: x.copy()[j].tolist(),
    "element": lambda np, x, j: [float(x[j, 3])],
    "pick": lambda np, x, j: x[[j]].tolist()[0],
    "column": lambda np, x, j: x.T[3:5, j].tolist(),
    "backwards": lambda np, x, j: x[::-1][7 - j].tolist(),
    "largest": lambda np, x, j: [float(x[j].max())],
    "mean": lambda np, x, j: [float(np.mean(x[j]))],
    "sorted": lambda np, x, j: np.sort(x[j]).tolist(),
    "sum with": lambda np, x, j: (x[j] + x[j]).tolist(),
    "all and one": lambda np, x, j: (x + 0)[j].tolist(),
    "where": lambda np, x, j: np.where(x[j] >= 0, x[j], -1).tolist(),
    "stacked": lambda np, x, j: np.stack([x[j], x[j]]).tolist()[1],
    "mask": lambda np, x, j: x[j][x[j] > -1].tolist(),
    "bytes": lambda np, x, j: _host.frombuffer(x[j].tobytes(), x.dtype).tolist(),
    "pickle": lambda np, x, j: pickle.loads(pickle.dumps(x[j])).tolist(),
    "iterated": lambda np, x, j: [float(y) for y in x[j]],
    "shape": lambda np, x, j: [float(x[j].reshape(4, -1)[1, 1])],
    "printed": lambda np, x, j: [float(word) for word in str(x[j, :2]).strip("[]").split()],
    "dlpack": lambda np, x, j: x[j].astype("f8").tolist(),
}


def _read(world: World, x: Any, j: int, rounds: int, numbers: random.Random, done: threading.Event) -> None:
    """What is written only grows, and so does what is seen."""
    view, seen = x[j], 0.0
    names = world.chosen(numbers, list(_LOOKS), len(_LOOKS))
    while not done.is_set():
        name = numbers.choice(names)
        try:
            found = [*_LOOKS[name](world.np, x, j), float(view[0])]
        except Exception as error:
            error.add_note(f"reading: {name}")
            raise
        if not all(y == y and seen <= y <= rounds * 2 for y in found):
            raise AssertionError(f"{name} of what is between {seen} and {rounds}: {found}")
        seen = max(seen, float(min(_LOOKS["tolist"](world.np, x, j))))


_GROWS = [
    "r[...] = s", "x[i] = s", "x[i, :] = [s] * n", "r += 1", "np.add(r, 1, out=r)", "np.maximum(x, s, out=x, where=m)",
    "np.put(x, k, s)", "x[m] = s", "np.copyto(x, s, where=m)", "r.fill(s)", "np.add.at(x, i, 1)", "x[[i]] = s",
]  # fmt: skip


def readers_beside_writers(world: World, numbers: random.Random) -> None:
    """Readers see what somebody wrote, and nothing that has gone."""
    n, rounds = numbers.choice(world.sizes), 30
    x = world.make(_host.zeros((8, n)))
    done = threading.Event()
    left = [4]

    def writer(i: int, how: str) -> None:
        m = _host.zeros((8, n), bool)
        m[i] = True
        names = {"np": world.np, "x": x, "i": i, "n": n, "m": m, "k": _host.flatnonzero(m), "r": x[i]}
        try:
            for s in range(1, rounds + 1):
                exec(how, names | {"s": float(s)})
        except Exception as error:
            error.add_note(f"in {how}")
            raise
        finally:
            left[0] -= 1
            if not left[0]:
                done.set()

    hows = numbers.choices(_GROWS, k=4)
    reading = [random.Random(numbers.random()) for _ in range(4)]
    together(
        *(lambda i=i: writer(i, hows[i]) for i in range(4)),
        *(lambda j=j: _read(world, x, j, rounds, reading[j], done) for j in range(4)),
    )
    found = values(x)
    expected = _host.zeros((8, n))
    expected[:4] = rounds
    if not (found == expected).all():
        raise AssertionError(f"{hows}: {found}")


# -- the first look, the first slice ---------------------------------------------------------------------------------------

_FIRST = [
    "x[i]", "x[:, i]", "x[::-1][i]", "x.T[i]", "x[i:, ::2].sum(1)", "x.reshape(-1)[i::8]", "x[[i, 0]]", "x[x > i]", "x.flat[i]",
    "np.broadcast_to(x[i], (3, n))[1]", "x.real[i]", "x.view(x.dtype)[i]", "np.diagonal(x, i)", "x.swapaxes(0, 1)[i::8]",
]  # fmt: skip


def first_slices(world: World, numbers: random.Random) -> None:
    """The first views of an array are of one memory: what is written through one, all see."""
    n = numbers.choice(world.sizes)
    start = _host.arange(8.0 * n).reshape(8, n)
    for _ in range(3):
        x = world.make(start)
        asked = numbers.choices(_FIRST, k=THREADS)
        seen: dict[int, Any] = {}
        rows: dict[int, Any] = {}

        def look(i: int, expression: str, x: Any = x, seen: Any = seen, rows: Any = rows) -> None:
            seen[i] = eval(expression, {"np": world.np, "x": x, "i": i, "n": n})
            rows[i] = x[i, 1:]

        together(*(lambda i=i, one=one: look(i, one) for i, one in enumerate(asked)))
        for i, expression in enumerate(asked):
            theirs = eval(expression, {"np": _host, "x": start, "i": i, "n": n})
            ours = seen[i]
            if not _host.array_equal(values(ours) if getattr(ours, "shape", ()) else float(ours), theirs):
                raise AssertionError(f"{expression} with i={i}: {ours}")
        for i in range(THREADS):
            rows[i][...] = -i
        if not (values(x)[:, 1:] == -_host.arange(8.0)[:, None]).all():
            raise AssertionError(f"{asked}: views of other memory: {values(x)}")


# -- settings --------------------------------------------------------------------------------------------------------------


def settings(world: World, numbers: random.Random) -> None:
    """What a thread sets is its own."""
    np, ad = world.np, world.ad
    shared = world.make(_host.arange(64.0).reshape(8, 8) - 8)
    divisor, one_for_all = shared[1], ad.precision(32)

    def act(i: int) -> None:
        bits = (None, 32)[i % 2]
        for _ in range(6):
            with np.errstate(all="raise" if i % 2 else "ignore"), np.printoptions(precision=i):
                kept = np.geterr()
                try:
                    divided = shared[i] / divisor  # by a zero among others
                except FloatingPointError:
                    divided = None
                _agree("errstate", i, divided is None, bool(i % 2))
                with one_for_all if bits else ad.precision(None), ad.fallback("silent" if i % 4 < 2 else "warn"):
                    _agree("precision", i, str((shared + shared).dtype), "float32" if bits else "float64")
                    _agree("precision", i, ad.get_precision(), bits)
                _agree("precision after it", i, str((shared + shared).dtype), "float64")
                _agree("printoptions", i, np.get_printoptions()["precision"], i)
                _agree("errstate after it", i, np.geterr(), kept)

    together(*(lambda i=i: act(i) for i in range(THREADS)))


def _agree(what: str, i: int, found: Any, expected: Any) -> None:
    if found != expected:
        raise AssertionError(f"{what} in thread {i}: {found}, not {expected}")


# -- signals ---------------------------------------------------------------------------------------------------------------


class _Raised(Exception):
    pass


_SETS = [
    "x[0] = s", "r[...] = s", "x[0, :] = s", "x[[0]] = s", "x[m] = s", "np.put(x, k, s)", "np.copyto(x, s, where=m)",
    "x[:1].fill(s)", "np.place(x, m, s)", "np.putmask(x, m, s)", "np.add(s, 0, out=r)",
]  # fmt: skip
_ADDS = [
    "np.add(r, 1, out=r)", "r += 1", "x[0] += 1", "np.add(x, 1, out=x, where=m)", "np.add.at(x, 0, 1)", "x[[0]] += 1",
]  # fmt: skip


class _Alarm:
    """A signal that comes once, after so many seconds."""

    number = getattr(signal, "SIGALRM", None)

    def send(self, after: float) -> None:
        signal.setitimer(signal.ITIMER_REAL, after)

    def stop(self) -> None:
        self.send(0)

    def raises(self, *at: Any) -> None:
        raise _Raised


class _Interrupt(_Alarm):
    """Ctrl-C: Python's own handler raises KeyboardInterrupt."""

    number = signal.SIGINT

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[float | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._act, daemon=True)
        self._thread.start()

    def _act(self) -> None:
        while (after := self._asked.get()) is not None:
            time.sleep(after)
            os.kill(os.getpid(), self.number)

    def send(self, after: float) -> None:
        self._asked.put(after)

    def stop(self) -> None:
        self._asked.put(None)
        self._thread.join()

    def raises(self, *at: Any) -> None:
        signal.default_int_handler(*at)


def signals(world: World, numbers: random.Random) -> None:
    """A handler that raises in the middle of a write leaves the array alive, each element as it was or as it was to be."""
    _signalled(world, numbers, _Alarm())


def interrupts(world: World, numbers: random.Random) -> None:
    """So does Ctrl-C."""
    _signalled(world, numbers, _Interrupt())


def _signalled(world: World, numbers: random.Random, sent: _Alarm) -> None:
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        return
    x = world.make(_host.zeros((8, numbers.choice(world.sizes))))
    stop, errors, counts = threading.Event(), [], [0] * THREADS  # type: ignore[var-annotated]

    def others(i: int) -> None:
        try:
            while not stop.is_set():
                x[i] = counts[i] + 1
                counts[i] += 1
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=others, args=(i,)) for i in range(1, THREADS)]
    for thread in threads:
        thread.start()
    try:
        _interrupted(world, x, numbers, sent)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
    if not (values(x)[1:] == _host.array(counts[1:])[:, None]).all():
        raise AssertionError(f"of the others' {counts[1:]}: {values(x)[1:, 0]}")


def _paths(frame: Any) -> Iterator[str]:
    """The files of the calls that are under way."""
    while frame is not None:
        yield frame.f_code.co_filename
        frame = frame.f_back


def _interrupted(world: World, x: Any, numbers: random.Random, sent: _Alarm) -> None:
    """Write the first row again and again, while signals come."""
    how = numbers.choice(_SETS + _ADDS)
    m = _host.zeros(x.shape, bool)
    m[0] = True
    names = {"np": world.np, "x": x, "m": m, "k": _host.arange(x.shape[1]), "r": x[0]}
    armed = raised = False

    spared = [word.removeprefix("signals in ") for word in world.without if word.startswith("signals in ")]

    def handler(number: int, frame: Any) -> None:
        nonlocal raised
        if not armed:
            return
        if spared and any(f"/{name}/" in path for path in _paths(frame) for name in spared):
            sent.send(1e-4)
            return
        raised = True
        sent.raises(number, frame)

    before = signal.signal(sent.number, handler)
    try:
        low = 0.0
        for s in range(1, 40):
            code = compile(how, "<write>", "exec")
            names["s"] = float(s)
            done = 0
            try:
                armed, raised = True, False
                sent.send(numbers.random() ** 2 * 2e-3 + 1e-6)
                while True:  # no condition: see tests/common/test_signal_safety.py
                    if done == 20:
                        break
                    exec(code, names)
                    done += 1
                armed = False
            except (
                Exception,
                KeyboardInterrupt,
            ):  # a library may tell of it in words of its own, as JAX does where it compares pytrees
                armed = False
                if not raised:
                    raise
            first, last = (low + done, low + done + 1) if how in _ADDS else (float(s) if done else low, float(s))
            row = values(x)[0]
            if not ((row == first) | (row == last)).all():
                raise AssertionError(f"{how}: neither {first} nor {last}: {row}")
            low = float(row.max())
            if not (row == low).all():
                x[0] = low
    finally:
        armed = False
        sent.stop()
        signal.signal(sent.number, before)


# -- first use -------------------------------------------------------------------------------------------------------------

_USES = """
np.linalg.norm(x), np.median(x, 0), np.unique(x)[3], np.percentile(x, 30), np.histogram(x)[0], np.where(x > 5, x, 0.5)[0],
np.einsum("ij->j", x), np.sort(x, axis=None)[4], np.add.reduce(x, axis=0), x @ x.T, np.linalg.inv(x @ x.T + np.eye(8)), np.fft.fft(x)[1],
np.cumsum(x, 1), np.diff(x), np.clip(x, 1, 3), np.interp(x[0], [0, 5, 10], [0, 1, 0]), np.argsort(x[0], kind="stable"), np.nanmean(x, 0),
np.pad(x, 1)[0], np.roll(x, 2), np.kron(x[0], x[0]), np.outer(x[0], x[1]), np.convolve(x[0], [1, 2, 1]), np.searchsorted(np.sort(x[0]), 3),
np.take_along_axis(x, np.argsort(x, 1, kind="stable"), 1), np.linalg.solve(x @ x.T + np.eye(8), x), np.var(x), np.corrcoef(x[:2] + np.eye(2, x.shape[1])),
np.tile(x[0], 2), np.logaddexp(x, 1), np.hypot(x, 3), np.frexp(x)[0], np.bincount(x[0].astype(int)), np.digitize(x[0], [1, 3]), np.gradient(x[0]),
np.polyfit(np.arange(8.0), x[:, 0], 1), np.polyval([1, 2], x), np.trapezoid(x), np.tril(x), np.nonzero(x)[0], np.isin(x, [1, 2]), np.cross(x[:, :3], x[:, 3:6]),
np.allclose(x, x), np.all(x >= 0), np.ptp(x), np.linalg.svd(x, compute_uv=False), np.meshgrid(x[0], x[1])[0][0], np.split(x, 2)[1], np.block([[x, x]])[0],
np.nan_to_num(x), np.round(x, 1), np.fmod(x, 3), np.exp(x), np.sinc(x), np.i0(x), np.unwrap(x[0]), np.count_nonzero(x, 1), np.lexsort((x[0], x[1])), np.rot90(x)
"""


def first_use(world: World, numbers: random.Random) -> None:
    """Functions that nobody has called yet, called by all threads."""
    uses = [use.strip() for use in _split(_USES)]
    x = (_host.arange(8.0 * 24).reshape(8, 24) * 7) % 11
    chosen = world.chosen(numbers, uses, 6)
    shared = world.make(x)
    found: list[list[Any]] = [[] for _ in range(THREADS)]

    def act(i: int) -> None:
        for use in chosen:
            found[i].append(_host.asarray(eval(use, {"np": world.np, "x": shared})))

    together(*(lambda i=i: act(i) for i in range(THREADS)))
    for at, use in enumerate(chosen):
        theirs = _host.asarray(eval(use, {"np": _host, "x": x}))
        for mine in found:
            if mine[at].dtype != theirs.dtype or not _host.allclose(mine[at], theirs, 1e-8, 1e-8, equal_nan=True):
                raise AssertionError(f"{use}: {mine[at]}, not {theirs}")


def _split(text: str) -> list[str]:
    """At the commas that are in no brackets."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return found


# -- all of it ---------------------------------------------------------------------------------------------------------------

SCENES: dict[str, Callable[[World, random.Random], None]] = {
    scene.__name__: scene
    for scene in (first_use, disjoint_writes, readers_beside_writers, first_slices, settings, signals, interrupts)
}


def run(world: World, seed: int, seconds: float, wrong: int = 10) -> tuple[dict[str, int], list[str]]:
    """Scene after scene for so long, or until so many went wrong: how many of each there were, and what was wrong."""
    end = time.monotonic() + seconds
    scenes = {name: scene for name, scene in SCENES.items() if name not in world.without}
    counts, found = dict.fromkeys(scenes, 0), []
    numbers = random.Random(seed)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        while len(found) < wrong and (time.monotonic() < end or not all(counts.values())):
            for name, scene in scenes.items():
                turn = numbers.randrange(2**32)
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        scene(world, random.Random(turn))
                except Exception as error:
                    notes = " ".join(getattr(error, "__notes__", ()))
                    found.append(f"{name}, {turn}: {type(error).__name__}: {error} {notes}\n{_where(error)}")
                counts[name] += 1
    finally:
        sys.setswitchinterval(interval)
    return counts, found


def _where(error: BaseException) -> str:
    return "".join(traceback.format_tb(error.__traceback__)[-6:])
