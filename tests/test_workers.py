"""The tests of a library are one worker's, as long as there is something else for the others."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest

pytest.importorskip("xdist")

from tests.workers import LIBRARIES, ByLibrary, library_of

FILES = "abcdefgh"
TESTS = [f"tests/{file}.py::test[{library}-{i}]" for file in FILES for library in LIBRARIES for i in range(5)]
ALONE = [f"tests/{file}.py::test_{i}" for file in FILES for i in range(5)]


class Worker:
    """Of pytest-xdist's, what a scheduler sees."""

    def __init__(self) -> None:
        self.waiting: list[int] = []
        self.done: list[str] = []
        self.shutting_down = False
        self.gateway = SimpleNamespace(id="worker")

    def send_runtest_some(self, indices: list[int]) -> None:
        self.waiting += indices

    def shutdown(self) -> None:
        self.shutting_down = True


def _run(
    config: pytest.Config, count: int, seconds: dict[str, int], tests: tuple[str, ...] = (*TESTS, *ALONE)
) -> list[Worker]:
    """What each of so many workers has run, where a test of a library takes so long."""
    config.option.tx = [f"{count}*popen"]
    scheduler = ByLibrary(config)
    workers = [Worker() for _ in range(count)]
    for worker in workers:
        scheduler.add_node(worker)
        scheduler.add_node_collection(worker, [*tests])
    scheduler.schedule()
    clocks = dict.fromkeys(workers, 0)
    while ready := [worker for worker in workers if worker.waiting]:
        worker = min(ready, key=clocks.__getitem__)
        index = worker.waiting.pop(0)
        worker.done.append(tests[index])
        clocks[worker] += seconds[library_of(worker.done[-1])]
        scheduler.mark_test_complete(worker, index)
    assert sorted(test for worker in workers for test in worker.done) == sorted(tests)
    assert all(worker.shutting_down for worker in workers)
    assert scheduler.tests_finished
    return workers


@pytest.fixture
def config(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> pytest.Config:
    monkeypatch.setattr(pytestconfig.option, "tx", [])
    monkeypatch.setattr(pytestconfig.option, "loadscopereorder", True)
    return pytestconfig


def test_each_library_has_its_worker(config: pytest.Config) -> None:
    one, other = _run(config, 2, {"jax": 3, "tensorflow": 1, "torch": 1, "numpy": 1, "": 1})
    assert {library_of(test) for test in one.done} == {"jax", ""}
    assert {library_of(test) for test in other.done} == {"tensorflow", "torch", "numpy", ""}


def test_what_looks_at_last_bits_comes_last(config: pytest.Config) -> None:
    """JAX forgets what it has compiled where it compiles another way."""
    places = "a.py", "scipy_support/special/b.py", "c.py", "functions/d.py", "e.py"
    tests = tuple(f"tests/{place}::test[jax-{i}]" for place in places for i in range(3))
    (one,) = _run(config, 1, {"jax": 1}, tests)
    files = list(dict.fromkeys(test.partition("::")[0] for test in one.done))
    assert files == [
        "tests/a.py",
        "tests/c.py",
        "tests/e.py",
        "tests/scipy_support/special/b.py",
        "tests/functions/d.py",
    ]


def test_who_has_nothing_left_takes_of_another_workers(config: pytest.Config) -> None:
    one, other = _run(config, 2, {"jax": 100, "tensorflow": 1, "torch": 1, "numpy": 1, "": 1})
    shares = [Counter(map(library_of, worker.done))["jax"] for worker in (one, other)]
    assert min(shares) >= 15
    scopes = [{test.partition("::")[0] for test in worker.done if library_of(test) == "jax"} for worker in (one, other)]
    assert not scopes[0] & scopes[1]


@pytest.mark.parametrize(
    ("nodeid", "library"),
    [
        ("tests/a.py::test[jax]", "jax"),
        ("tests/a.py::test[np.add-torch-float32]", "torch"),
        ("tests/a.py::test[tensorflow-on-torch]", "tensorflow"),
        ("tests/jax/test_torch.py::test_numpy", ""),
        ("tests/a.py::test[jaxlike]", ""),
    ],
)
def test_the_library_of_a_test(nodeid: str, library: str) -> None:
    assert library_of(nodeid) == library


def test_the_seed_is_printed(request: pytest.FixtureRequest, seed: int) -> None:
    """Before the tests, and after them where one failed; by it the same is drawn again."""
    config = request.config
    header = config.hook.pytest_report_header(config=config, start_path=config.rootpath)
    said = f"seed: {seed} (to draw the same again: --seed {seed})"
    assert said in header
