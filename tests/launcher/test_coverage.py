"""``arraydispatch coverage``: the matrix as a table, as JSON and as a page."""

from __future__ import annotations

import json

import pytest

from arraydispatch.backends import loader
from arraydispatch.launcher.commands import cli, coverage


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["coverage", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["unclassified"] == []
    assert list(data["backends"]) == loader.available()
    by_name = {(row["kind"], row["name"]): row["backends"] for row in data["rows"]}
    assert by_name["function", "np.sum"]["numpy"] == {"class": "native"}
    assert by_name["ufunc method", "np.add.reduce"]["numpy"] == {"class": "native"}
    assert by_name["member", "ndarray.__add__"]["numpy"] == {"class": "native"}
    assert by_name["creation", "np.linspace"]["numpy"] == {"class": "composed"}
    assert by_name["function", "np.save"]["numpy"]["class"] == "host"
    assert by_name["scipy", "scipy.linalg.expm"]["numpy"] == {"class": "native"}
    for name in set(loader.available()) - {"numpy"}:
        assert by_name["scipy", "scipy.linalg.expm"][name] == {"class": "composed"}
        assert by_name["scipy", "scipy.signal.find_peaks"][name]["class"] == "host"
        assert by_name["scipy ufunc", "scipy.special.erf"][name]["class"] in ("native", "composed")
    assert len({row["kind"] for row in data["rows"]}) == len(coverage.KINDS)
    for kind, by_backend in data["counts"].items():
        for counts in by_backend.values():
            assert sum(counts.values()) == sum(1 for row in data["rows"] if row["kind"] == kind)


def test_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert cli.main(["coverage"]) == 0
    out = capsys.readouterr().out
    for said in (
        "np.linalg.svd",
        "np.add.reduceat",
        "ndarray.T",
        "np.mgrid",
        "dates exist only on the host",
        "Ufuncs: native",
    ):
        assert said in out


@pytest.mark.parametrize("columns", [80, None])
def test_nothing_is_cut_off(
    columns: int | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not at 80 columns, and in a pipe each row is one line."""
    if columns is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", str(columns))
    rows = coverage.rows(["numpy"])
    answers = {"numpy": ("native", ""), "elsewhere": ("host", "a reason " * 15)}
    cli._print_coverage([*rows, coverage.Row("function", "np.long", answers)])
    out = capsys.readouterr().out
    assert "…" not in out
    lines = [line.rstrip() for line in out.splitlines()]
    if columns is None:
        assert f"numpy: native; elsewhere: host: {'a reason ' * 15}".strip() in " ".join(lines)
        assert {row.name for row in rows} <= {line.split(" ")[0] for line in lines}
    else:
        assert max(map(len, lines)) <= columns
        assert {row.name for row in rows if len(row.name) < 30} <= {line.split(" ")[0] for line in lines}


def test_what_is_unclassified_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(coverage.registry.SPECS, coverage.np.ptp)
    backend = loader.load("numpy")
    monkeypatch.delitem(backend.entries, coverage.np.ptp, raising=False)
    assert coverage.as_dict(coverage.rows(["numpy"]))["unclassified"] == ["np.ptp"]
    backend.entries.pop(coverage.np.ptp, None)


def test_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["coverage", "--yaml"]) == 2
    assert "--yaml" in capsys.readouterr().err
