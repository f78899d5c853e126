"""What stands in place of functions of others: what it needs of them, and that it goes without a trace, in any order."""

from __future__ import annotations

import importlib
import inspect
import itertools
import re
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from arraydispatch.common.patching import NEEDS, OUTSIDE, SURFACES, Exchange, Exchanges, Surface
from arraydispatch.launcher import package_patches

ROOT = Path(__file__).parents[2]


def plainly(signature: inspect.Signature) -> str:
    """A signature without its annotations, which say nothing of how it is called."""
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    return re.sub(
        r" at 0x[0-9a-f]+", "", str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    )


@pytest.mark.parametrize("where", NEEDS)
def test_what_an_exchange_needs_is_there(where: str) -> None:
    check(where)


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_what_is_needed_of_a_library_that_the_program_uses_by_itself(backend: str) -> None:
    pytest.importorskip(backend)
    for where in importlib.import_module(f"arraydispatch.backends.{backend}.direct_use").ROWS:
        check(where)


def check(where: str) -> None:
    module, _, path = where.partition(":")
    since = re.match(r"Python 3\.(\d+)", NEEDS[where].known)
    if since is not None and sys.version_info < (3, int(since[1])):
        pytest.skip(f"inapplicable: Python has it from 3.{since[1]} on")
    pytest.importorskip(module.partition(".")[0])
    found: Any = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    if path == "excepthook":
        found = importlib.import_module(module).__excepthook__  # in whose place pytest has one of its own
    try:
        signature = plainly(inspect.signature(found))
    except ValueError:  # of C code
        signature = ""
    assert callable(found)
    needed = NEEDS[where].call
    assert signature in ((needed,) if isinstance(needed, str) else needed)


def test_the_switch_of_scipy_is_there() -> None:
    pytest.importorskip("scipy")
    standard = importlib.import_module("arraydispatch.scipy_support.array_api_functions")
    for name in standard._HOLDERS:
        assert isinstance(getattr(importlib.import_module(name), standard._NAME), bool | standard._Switch)


@pytest.mark.parametrize("name", ["scipy._lib._array_api_override", "scipy._lib._array_api"])
def test_a_scipy_without_the_switch_is_left_as_it_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those before 1.17 have no such module, or not the name in it."""
    standard = importlib.import_module("arraydispatch.scipy_support.array_api_functions")
    monkeypatch.setattr(standard, "_exchanges", [])
    with monkeypatch.context() as context:
        context.setitem(sys.modules, name, None)
        assert not standard._prepare()
    monkeypatch.delattr(f"{name}.{standard._NAME}")
    assert not standard._prepare()
    assert not standard._exchanges


@pytest.mark.parametrize("library", package_patches._SURFACES)
def test_the_modules_with_doors_are_there(library: str) -> None:
    pytest.importorskip(library)
    for name in package_patches._SURFACES[library]:
        assert list(package_patches._surface(importlib.import_module(name), library)), name


@pytest.mark.parametrize("module", package_patches._CALLED)
def test_what_has_a_door_of_its_own_is_there(module: str) -> None:
    pytest.importorskip(module.partition(".")[0])
    members = package_patches._CALLED[module]
    assert len(list(package_patches._some(importlib.import_module(module), members))) == len(members)


def test_the_insides_of_pandas_are_there() -> None:
    pandas = pytest.importorskip("pandas")
    modules = [importlib.import_module(name) for name in package_patches._SURFACES["pandas"]]
    found = {exchange.name for module in modules for exchange in package_patches._surface(module, "pandas")}
    assert found >= package_patches._INSIDE, (package_patches._INSIDE - found, pandas.__version__)


@pytest.mark.parametrize("library", package_patches._SEEDS)
def test_seeds_pass_through_one_function(library: str) -> None:
    pytest.importorskip(library)
    assert list(package_patches._seeds(importlib.import_module(package_patches._SEEDS[library]), library))


def test_parameters_of_estimators_pass_through_one_method() -> None:
    pytest.importorskip("sklearn")
    (patched,) = package_patches._PATCHES["sklearn.base"]
    owner, _, method = patched.partition(".")
    estimator = getattr(importlib.import_module("sklearn.base"), owner)
    assert isinstance(estimator, type)
    assert method == "__setattr__" not in vars(estimator)


# -- taking them out ---------------------------------------------------------------------------------------------------


class Base:
    def inherited(self) -> str:
        return "inherited"


class Holder(Base):
    def method(self) -> str:
        return "method"

    @staticmethod
    def static() -> str:
        return "static"

    @classmethod
    def of_class(cls) -> str:
        return f"of {cls.__name__}"


def marked(mark: str) -> Any:
    def make(exchange: Exchange) -> Any:
        def ours(*args: Any) -> str:
            made = exchange.real(*args)
            return f"{mark}({made})" if exchange.on else made

        return ours

    return make


NAMES = ["method", "static", "of_class", "inherited"]
ROW = "tests"


@pytest.fixture(autouse=True)
def row_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SURFACES, ROW, Surface("", "", "", ""))


def test_without_a_row_nothing_is_exchanged() -> None:
    with pytest.raises(KeyError):
        Exchange(Holder, "method", marked("a"), "no such row")
    with pytest.raises(LookupError, match="is none of what"):
        Exchange(Holder, "method", marked("a"), "guests")


def tables() -> list[str]:
    """Make the tables of ``docs/reference/exchanges.md``."""
    rows = ["| in place of | known of | what passes through it |", "|---|---|---|"]
    rows += [f"| `{where.replace(':', '.')}` | {need.known} | {need.why} |" for where, need in sorted(NEEDS.items())]
    parts = ["\n".join(rows)]
    for library in (False, True):
        rows = ["| in place of | of | known of | why |", "|---|---|---|---|"]
        rows += [
            f"| {row.what} | {row.within.replace(' ', ', ') or 'the program'} | {row.known} | {row.why} |"
            for row in SURFACES.values()
            if row.library is library
        ]
        parts.append("\n".join(rows))
    parts.append(
        "\n".join(["| place | what happens |", "|---|---|", *(f"| {place} | {why} |" for place, why in OUTSIDE)])
    )
    return parts


def test_the_page_says_what_the_registry_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of libraries that a program uses by itself the rows are in their backends."""
    for backend in ("jax", "torch"):
        pytest.importorskip(backend)
        importlib.import_module(f"arraydispatch.backends.{backend}.direct_use")
    monkeypatch.delitem(SURFACES, ROW)
    page = (ROOT / "docs" / "reference" / "exchanges.md").read_text(encoding="utf-8")
    for made in tables():
        assert made in page, made


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_in_any_order(name: str, order: tuple[int, ...]) -> None:
    before = dict(vars(Holder))
    plain = getattr(Holder(), name)()
    all_of_them = [Exchange(Holder, name, marked(mark), ROW) for mark in "abc"]
    for each in all_of_them:
        assert each.put()
    on = list("abc")
    for at in order:
        said = plain
        for mark in on:
            said = f"{mark}({said})"
        assert getattr(Holder(), name)() == said
        all_of_them[at].undo()
        on.remove("abc"[at])
    assert dict(vars(Holder)) == before


def test_what_somebody_has_wrapped_stays_as_a_passage() -> None:
    module = SimpleNamespace(f=lambda: "f")
    real, first, second = module.f, Exchange(module, "f", marked("a"), ROW), Exchange(module, "f", marked("b"), ROW)
    first.put()
    kept = module.f
    module.f = wrapped = lambda: f"theirs({kept()})"
    second.put()
    assert module.f() == "b(theirs(a(f)))"
    first.undo()
    assert module.f() == "b(theirs(f))"
    assert kept() == "f"
    second.undo()
    assert module.f is wrapped
    assert first.put() is first  # again, where it is
    assert module.f() == "theirs(a(f))"
    first.undo()
    module.f = real
    again = second.put()
    assert module.f() == "b(f)"
    assert again is not None
    again.undo()
    assert module.f is real
    assert kept() == "f"


def test_what_has_changed_meanwhile_is_exchanged_anew() -> None:
    module = SimpleNamespace(f=lambda: "f")
    each = Exchange(module, "f", marked("a"), ROW)
    each.put()
    kept = module.f
    each.undo()
    module.f = lambda: f"other({kept()})"
    with Exchanges() as exchanges:
        exchanges.add(each)
        assert module.f() == "a(other(f))"
    assert module.f() == "other(f)"


def test_again() -> None:
    module = SimpleNamespace(f=lambda: "f")
    real, made = module.f, []
    each = Exchange(module, "f", lambda exchange: made.append(1) or marked("a")(exchange), ROW)
    for _ in range(3):
        assert each.put()
        assert each.put()
        assert module.f() == "a(f)"
        each.undo()
        each.undo()
        assert module.f is real
    assert made == [1]


def test_what_is_taken_out_below_another_is_called_no_more() -> None:
    module = SimpleNamespace(f=lambda: "f")
    real = module.f
    first, second, third = (Exchange(module, "f", marked(mark), ROW) for mark in "abc")
    for each in (first, second, third):
        each.put()
    second.undo()
    assert third.real is first._ours
    first.undo()
    assert third.real is real
    assert module.f() == "c(f)"
    again = first.put()
    assert again is not None
    assert again is not first
    assert module.f() == "a(c(f))"
    third.undo()
    assert module.f() == "a(f)"
    again.undo()
    assert module.f is real


def test_nothing_where_there_is_nothing() -> None:
    assert not Exchange(SimpleNamespace(), "f", marked("a"), ROW).put()
    assert not Exchange(dict, "keys", marked("a"), ROW).put()
    exchanges = Exchanges()
    where = next(iter(NEEDS))
    NEEDS["no_such_module:f"] = NEEDS[where]
    try:
        exchanges.put("no_such_module:f", marked("a"))
    finally:
        del NEEDS["no_such_module:f"]
    assert not exchanges._put


def test_by_many_threads() -> None:
    before = dict(vars(Holder))
    start = threading.Barrier(8)

    def act(mark: str) -> None:
        start.wait()
        for _ in range(200):
            with Exchanges() as exchanges:
                for name in NAMES:
                    exchanges.at(Holder, name, marked(mark), ROW)
                    assert f"{mark}(" in getattr(Holder(), name)()

    threads = [threading.Thread(target=act, args=(mark,)) for mark in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert dict(vars(Holder)) == before
