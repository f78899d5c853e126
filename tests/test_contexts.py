"""Context managers act when they are entered and undo that when they are left, in any order; making one changes nothing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch import settings
from arraydispatch.array import Array
from arraydispatch.state import process
from arraydispatch.verification import Verification

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
"""Two contexts of a kind, and what shows which is in force."""
PROCESS_WIDE: dict[str, Callable[[], Any]] = {"profile": ad.profile, "verification": Verification}


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


@pytest.mark.parametrize("make", [make for pair in CONTEXTS.values() for make in pair[:2]] + [*PROCESS_WIDE.values()])
def test_making_one_changes_nothing(make: Callable[[], Any]) -> None:
    before = _state()
    made = make()
    assert _state() == before
    for _ in range(2):  # it may be entered again
        with made:
            pass
        assert _state() == before


def test_left_in_any_order(contexts: Any) -> None:
    first, second, now = contexts
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


def test_inside_itself(contexts: Any) -> None:
    first, second, now = contexts
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
        with pytest.raises(RuntimeError, match="runs already"):
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
    with pytest.raises(RuntimeError, match="in force already"):
        second.start()
    second.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert seen
