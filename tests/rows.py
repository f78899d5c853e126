"""Tables of rows that one test runs, instead of a test for each row: twenty thousand tests cost more than what they test.

:func:`each` stands where ``pytest.mark.parametrize`` would. The test collects the rows that fail and names all of them;
``--row TEXT`` runs only rows that contain the text. A run of the whole suite takes on JAX, which compiles a program for nearly
every row, one of three of these tests, and of its table one row of thirty, drawn anew each time: ``--seed`` draws the same again,
``--all`` takes all. Of a test that is marked ``traces(n)`` it takes on TensorFlow one row of n.

:func:`drawn`, the fixture of that name, is for tests that walk a table themselves.
"""

from __future__ import annotations

import inspect
import itertools
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pytest

SHARE = 30
INAPPLICABLE = "inapplicable: "
"""How the reason of a skip begins that is no want of a program or a package: under ``--no-skips`` any other fails."""
Row = dict[str, Any]
Test = Callable[..., None]


def each(names: str, rows: Iterable[Any] | Mapping[Any, Iterable[Any]]) -> Callable[[Test], Test]:
    """Run a test for each row, as one test; of a mapping, as one test for each key. Several of these multiply.

    Parameters
    ----------
    names : str
        The parameters that a row gives, with commas between.
    rows : iterable or mapping
        A value for each row, or a tuple of as many values as there are names; or key -> such rows, then outermost.
    """
    keys = [name.strip() for name in names.split(",")]

    def table(values: Iterable[Any]) -> list[Row]:
        return [dict(zip(keys, value if len(keys) > 1 else (value,), strict=True)) for value in values]

    def decorate(test: Test) -> Test:
        inner: list[list[Row]] = getattr(test, "_tables", [])
        body: Test = getattr(test, "_body", test)
        if not isinstance(rows, Mapping):
            tables = [table(rows), *inner]
            return _collected(body, test, tables, lambda _: tables)
        by_label = {_label(key): [table(values), *inner] for key, values in rows.items()}
        assert len(by_label) == len(rows)
        collected = _collected(
            body, test, next(iter(by_label.values()), [[dict.fromkeys(keys)]]), lambda label: by_label[label], "rows_of"
        )
        return pytest.mark.parametrize("rows_of", by_label)(collected)

    return decorate


def _label(key: Any) -> str:
    if isinstance(key, str):
        return key
    return f"{str(getattr(key, '__module__', None) or 'np').replace('numpy', 'np')}.{key.__name__}"


def _collected(
    body: Test, test: Test, like: list[list[Row]], tables: Callable[[str], list[list[Row]]], *more: str
) -> Test:
    """A test that has the body's name and marks, and asks for its fixtures but for what rows give."""
    filled = [name for table in like for row in table[:1] for name in row]
    wanted = list(inspect.signature(body).parameters)
    assert set(filled) <= set(wanted), f"{body.__name__} does not take all of {filled}"

    def collected(request: pytest.FixtureRequest, rows_of: str = "", **fixtures: Any) -> None:
        if "request" in wanted:
            fixtures["request"] = request
        _run(body, tables(rows_of), request, fixtures)

    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(collected, name, getattr(body, name))
    asked = dict.fromkeys([*more, *(name for name in wanted if name not in filled), "request"])
    kind = inspect.Parameter.KEYWORD_ONLY
    signature = inspect.Signature([inspect.Parameter(name, kind) for name in asked])
    marks = [*getattr(test, "pytestmark", []), pytest.mark.compiles(3).mark]
    vars(collected).update(__signature__=signature, pytestmark=marks, _tables=like, _body=body)
    return collected


def _drawn(rows: list[Row], request: pytest.FixtureRequest, fixtures: Row) -> list[Row]:
    option = request.config.option
    if option.row:
        rows = [row for row in rows if option.row in _text(row)]
        if not rows:
            pytest.skip(f"inapplicable: no row contains {option.row!r}")
    given = [
        value for value in (*fixtures.values(), *(rows[0].values() if rows else ())) if not hasattr(value, "shape")
    ]
    named = {value if isinstance(value, str) else getattr(value, "name", "") for value in given}
    if option.row:
        return rows
    if "jax" in named:
        return drawn(request, rows)
    mark = request.node.get_closest_marker("traces")
    return drawn(request, rows, one_of=mark.args[0]) if mark and "tensorflow" in named else rows


def drawn(
    request: pytest.FixtureRequest, values: Iterable[Any], backend: str = "jax", one_of: int = SHARE
) -> list[Any]:
    """One of so many values, at least one, in their order: others in the next run. All of them where nothing is left to chance.

    Parameters
    ----------
    request : pytest.FixtureRequest
        The test's.
    values : iterable
        What there is.
    backend : str
        What it would run on. All values of any but JAX are taken: only there each is compiled.
    one_of : int
        How many there are for one that is taken.
    """
    found, option = list(values), request.config.option
    if option.whole or backend != "jax":
        return found
    chance = random.Random(f"{option.seed} {request.node.nodeid}")
    return [found[i] for i in sorted(chance.sample(range(len(found)), math.ceil(len(found) / one_of)))]


def _run(body: Test, tables: list[list[Row]], request: pytest.FixtureRequest, fixtures: Row) -> None:
    __tracebackhide__ = True
    rows = [{name: value for row in several for name, value in row.items()} for several in itertools.product(*tables)]
    chosen = _drawn(rows, request, fixtures)
    failed: list[tuple[Row, BaseException]] = []
    skipped: list[str] = []
    for row in chosen:
        try:
            body(**fixtures, **row)
        except pytest.skip.Exception as skip:
            skipped.append(str(skip))
        except (Exception, pytest.fail.Exception) as error:
            failed.append((row, error))
    if failed:
        told = [line for row, error in failed for line in _told(row, error)]
        of = f"{len(chosen)} rows" if len(chosen) == len(rows) else f"{len(chosen)} of {len(rows)} rows"
        what = f"{len(failed)} fail of {of} (--seed {request.config.option.seed}); the first is shown above"
        raise AssertionError("\n".join([what, *told])) from failed[0][1]
    wanting = [reason for reason in skipped if not reason.startswith(INAPPLICABLE)]
    if chosen and (len(skipped) == len(chosen) or (wanting and request.config.option.no_skips)):
        pytest.skip((wanting or skipped)[0])


def _text(row: Row) -> str:
    return ", ".join(value if isinstance(value, str) else repr(value) for value in row.values())


def _told(row: Row, error: BaseException) -> Iterator[str]:
    what = str(error).strip().splitlines()[:6] or [""]
    yield f"- {_text(row)}"
    yield f"    {type(error).__name__}: {what[0]}"[:600]
    yield from (f"    {line}"[:600] for line in what[1:])
