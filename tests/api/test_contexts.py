"""Context managers act when they are entered and undo that when they are left, in any order; making one changes nothing."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.array import Array
from arraydispatch.common.process_state import process
from arraydispatch.profiling.verification import Verification
from arraydispatch.runtime import settings

OTHER = next((name for name in ad.available_backends() if name != "numpy"), "numpy")

CONTEXTS: dict[str, tuple[Callable[[], Any], Callable[[], Any], Callable[[], Any]]] = {
    "fallback": (lambda: ad.fallback("error"), lambda: ad.fallback("silent"), settings.current_fallback),
    "precision": (lambda: ad.precision(32), lambda: ad.precision(16), ad.get_precision),
    "no precision": (lambda: ad.precision(32), lambda: ad.precision(None), ad.get_precision),
    "scalars": (
        lambda: settings.scalars_context("device"), lambda: settings.scalars_context("numpy"), settings.current_scalars
    ),
    "backend": (lambda: ad.backend(OTHER), lambda: ad.backend("numpy"), lambda: ad.default_backend().name),
}  # fmt: skip
"""Two contexts of a kind, and what shows which is in force: of a thread's or a task's own."""
FOR_ALL: dict[str, tuple[Callable[[], Any], Callable[[], Any], Callable[[], Any]]] = {
    "execution": (lambda: ad.execution("eager"), lambda: ad.execution("fused"), lambda: process.held("execution", "min_size")),
    "no execution": (lambda: ad.execution("fused"), lambda: ad.execution(None), lambda: process.execution),
}  # fmt: skip
"""The same of the whole process."""
SETTINGS = CONTEXTS | FOR_ALL
WATCHERS: dict[str, Callable[[], Any]] = {"profile": ad.profile, "Verification": Verification}


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    ad.backend(OTHER)  # which teaches the class of arrays what the library calls
    before = _state()
    yield
    assert _state() == before


def _state() -> tuple[Any, ...]:
    held = settings.context_rules.get(), settings.current_fallback(), settings.context_backend()
    return process.held(*(set(process.__slots__) - {"blocks_entered"})), held, dict(vars(Array))


@pytest.fixture(params=CONTEXTS)
def contexts(request: pytest.FixtureRequest) -> Any:
    return CONTEXTS[request.param]


@pytest.fixture(params=SETTINGS)
def settings_contexts(request: pytest.FixtureRequest) -> Any:
    return SETTINGS[request.param]


@pytest.mark.parametrize("make", [make for pair in SETTINGS.values() for make in pair[:2]] + [*WATCHERS.values()])
def test_making_one_changes_nothing(make: Callable[[], Any]) -> None:
    before = _state()
    made = make()
    assert _state() == before
    for _ in range(2):  # it may be entered again
        with made:
            pass
        assert _state() == before


def test_left_in_any_order(settings_contexts: Any) -> None:
    first, second, now = settings_contexts
    with first():
        inside = now()
    with second():
        inside_second = now()
    before = now()
    a, b = first(), second()
    a.__enter__()
    b.__enter__()
    assert now() == inside_second
    a.__exit__(None, None, None)
    assert now() == inside_second
    b.__exit__(None, None, None)
    assert now() == before
    a.__enter__()
    b.__enter__()
    b.__exit__(None, None, None)
    assert now() == inside
    a.__exit__(None, None, None)


def test_inside_itself(settings_contexts: Any) -> None:
    first, second, now = settings_contexts
    a, b = first(), second()
    with a:
        inside = now()
        with b, a:
            assert now() == inside
            with a:
                assert now() == inside
        assert now() == inside


def test_one_object_in_many_threads(contexts: Any) -> None:
    first, _, now = contexts
    made, before = first(), now()
    barrier = threading.Barrier(8)

    def act(i: int) -> tuple[Any, Any]:
        found = []
        for _ in range(20):
            barrier.wait()
            with made:
                barrier.wait()
                found.append(now())
            found.append(now())
        return found[0], found[-1] if found == found[:2] * 20 else found

    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(act, range(8)))
    with made:
        assert found == {(now(), before)}


def test_one_object_in_many_tasks(contexts: Any) -> None:
    first, _, now = contexts
    made, before = first(), now()

    async def task(i: int) -> tuple[Any, Any]:
        await asyncio.sleep(0)
        with made:
            await asyncio.sleep(0.001 * (i % 3))
            inside = now()
        await asyncio.sleep(0)
        return inside, now()

    async def main() -> list[Any]:
        return await asyncio.gather(*map(task, range(8)))

    found = asyncio.run(main())
    with made:
        assert found == [(now(), before)] * 8


def test_left_in_another_thread(contexts: Any) -> None:
    """Nothing was entered there, so nothing changes there."""
    first, second, now = contexts
    made, other = first(), second()

    def leave() -> bool:
        made.__exit__(None, None, None)
        with other:
            inside = now()
            made.__exit__(None, None, None)
            return bool(now() == inside)

    with made, ThreadPoolExecutor(1) as pool:
        inside = now()
        assert pool.submit(leave).result()
        assert now() == inside


@pytest.mark.parametrize("kind", [*SETTINGS, *WATCHERS])
def test_leaving_one_that_was_never_entered_changes_nothing(kind: str) -> None:
    first, second = SETTINGS[kind][:2] if kind in SETTINGS else (WATCHERS[kind],) * 2
    never, before = first(), _state()
    assert never.__exit__(None, None, None) is None
    assert _state() == before
    with second():
        before = _state()
        never.__exit__(None, None, None)
        assert _state() == before


def test_a_block_of_a_generator_closed_inside_another(settings_contexts: Any) -> None:
    first, second, now = settings_contexts

    def steps() -> Iterator[None]:
        with first():
            yield

    before, generator = now(), steps()
    next(generator)
    with second():
        inside = now()
        generator.close()
        assert now() == inside
    assert now() == before


@pytest.mark.parametrize("kind", FOR_ALL)
def test_blocks_of_threads_that_overlap(kind: str) -> None:
    """What holds for the process is the innermost block's, whoever entered it, and any thread may leave it."""
    first, second, now = FOR_ALL[kind]
    before, a, b = now(), first(), second()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(a.__enter__).result()
        inside = now()
        b.__enter__()
        inside_second = now()
        pool.submit(a.__exit__, None, None, None).result()
        assert now() == inside_second
        a.__enter__()
        assert pool.submit(now).result() == inside
        pool.submit(a.__exit__, None, None, None).result()
        assert now() == inside_second
        pool.submit(b.__exit__, None, None, None).result()
    assert now() == before


@pytest.mark.parametrize("kind", FOR_ALL)
def test_one_object_for_all_in_many_threads(kind: str) -> None:
    first, _, now = FOR_ALL[kind]
    made, before = first(), now()
    with made:
        inside = now()

    def act(_: int) -> bool:
        for _ in range(200):
            with made:
                if now() != inside:
                    return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(act, range(4)))
    assert now() == before


def test_the_execution_of_the_process_is_set_below_the_blocks() -> None:
    with settings.kept():
        with ad.execution("eager"):
            ad.use(execution="fused")
            ad.use("numpy")
            assert process.execution == "eager"
        assert (process.execution, process.min_size) == ("fused", settings.CPU_FROM)
        block = ad.execution("eager")
        block.__enter__()
        with settings.kept():
            block.__exit__(None, None, None)
        assert process.execution == "fused"
    assert process.execution is None


def test_every_context_of_the_reference_is_here() -> None:
    """A name whose row says that it is a context."""
    page = Path(__file__).parents[2] / "docs/reference/api/settings.md"
    rows = re.findall(r"^\| `[\w.]*?(\w+)\(.*?\| (.*) \|$", page.read_text(), re.MULTILINE)
    told = {name for name, meaning in rows if re.search(r"\bcontext\b", meaning)}
    assert told == {*SETTINGS, *WATCHERS} - {"scalars", "no precision", "no execution"}


def test_kinds_do_not_undo_each_other() -> None:
    """One that was made elsewhere knows nothing of what is in force where it is entered."""
    precision, scalars, policy = ad.precision(32), settings.scalars_context("device"), ad.fallback("error")
    with scalars, precision, policy, ad.backend("numpy"):
        assert (ad.get_precision(), settings.current_scalars()) == (32, "device")
        scalars.__exit__(None, None, None)
        assert (ad.get_precision(), settings.current_scalars()) == (32, "numpy")
        scalars.__enter__()
        assert settings.current_fallback() == "error"
    with precision, scalars:
        assert (ad.get_precision(), settings.current_scalars()) == (32, "device")


def test_precision_is_checked_where_it_is_entered() -> None:
    made = ad.precision("bf16") if ad.default_backend().supports("bfloat16") else None
    if made is None:
        with ad.backend(OTHER):
            made = ad.precision("bf16")
        with pytest.raises(ad.PrecisionError), made:
            pass
    assert ad.get_precision() is None


def test_the_policy_of_the_process() -> None:
    before = settings.default.fallback
    try:
        ad.use(fallback="error")
        assert settings.default.fallback == "error"
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(settings.current_fallback).result() == "error"
        with ad.fallback("silent"):
            assert settings.current_fallback() == "silent"
        with pytest.raises(ValueError, match="'warn', 'error' or 'silent'"):
            ad.use(fallback="maybe", precision=32)
        assert (settings.current_fallback(), ad.get_precision()) == ("error", None)
    finally:
        ad.use(fallback=before)


# -- what holds for the whole process ----------------------------------------------------------------------------------------


def test_profiles_in_any_order() -> None:
    x = ad.asarray([1.0, 2.0])
    first, second = ad.profile(), ad.profile()
    first.__enter__()
    np.sin(x)
    second.__enter__()
    np.cos(x)
    first.__exit__(None, None, None)
    np.tan(x)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(second.__exit__, None, None, None).result()
    np.exp(x)
    assert sorted(call.function for call in first.calls()) == ["np.cos", "np.sin"]
    assert sorted(call.function for call in second.calls()) == ["np.cos", "np.tan"]


def test_a_profile_that_is_running_or_never_began() -> None:
    outer, never = ad.profile(), ad.profile()
    with outer:
        with pytest.raises(RuntimeError, match="already running"):
            outer.start()
        never.stop()
        np.sin(ad.asarray([1.0, 2.0]))
    assert outer.calls_on_backend == 1


def test_verifications_in_any_order() -> None:
    x = ad.asarray([1.0, 2.0])
    first, second = Verification(), Verification()
    first.__enter__()
    np.sin(x)
    second.__enter__()
    np.cos(x)
    first.__exit__(None, None, None)
    seen = first.checked
    np.tan(x)
    assert first.checked == seen
    assert second.checked > 1
    with pytest.raises(RuntimeError, match="already in force"):
        second.start()
    second.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert seen
