"""Fixtures that every test shares."""

from __future__ import annotations

import os
import signal
import zlib
from pathlib import Path

import pytest

import arraydispatch as ad
from tests.launched import zygotes

__all__ = ["zygotes"]

# What JAX compiled is shared by the workers, by the scripts that tests start, and with the next run. (Before JAX is
# imported, which nothing has done yet: arraydispatch imports libraries on first use.)
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "0")


# A shell that runs tests in the background has them ignore Ctrl-C, and what they start too, which tests of Ctrl-C start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_COMPILED = (
    "functions", "backends", "array_api/test_values.py", "test_assignment.py", "test_indexing_oracle.py",
    "test_view_relations.py",
)  # fmt: skip
"""Tables whose rows each make JAX compile something new."""
_SHARE = 8


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--whole``: every row of every table on JAX too."""
    parser.addoption(
        "--whole", action="store_true", help="every row of the tables on JAX, not one of eight (10 minutes)"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A run of everything takes one of eight of the rows that JAX compiles; runs of files or of a choice take them all."""
    if config.option.whole or config.option.keyword or config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    here = Path(__file__).parent
    left = [
        item
        for item in items
        if item.path.relative_to(here).as_posix().startswith(_COMPILED)
        and ("[jax" in item.name or "-jax" in item.name)
        and zlib.crc32(item.nodeid.encode()) % _SHARE
    ]
    out = set(map(id, left))
    items[:] = [item for item in items if id(item) not in out]
    config.hook.pytest_deselected(items=left)


@pytest.fixture(params=["numpy", "jax", "torch", "tensorflow"])
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend by name; skipped where its library is missing."""
    if request.param not in ad.available_backends():
        pytest.skip(f"{request.param} is not installed")
    return str(request.param)
