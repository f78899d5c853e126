"""``--on-fallback error`` is about numeric work that a device could do: it stops at nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

import arraydispatch as ad
from tests.launched import Zygotes

PROGRAM = """\
import decimal, io, json
import numpy as np
import pandas as pd

x, i, big = np.arange(5.0), np.arange(5), np.linspace(0.0, 1.0, 300_000)
letters, things = np.array(list("abcde")), np.array([1, "a", None, 3.0, 4], object)
days = np.array(["2020-01-03"] * 5, "M8[D]")

class Table:
    names = letters
    def __init__(self):
        self.labels = letters

table, columns = Table(), {"letter": letters}

def show(*values):
    for value in values:
        print(type(value).__name__, getattr(value, "dtype", ""), str(value).strip())

show(np.array2string(big), repr(big), f"{x[0]:.3f}", str(np.poly1d(x)))
show(x.astype(object), x.astype(str), i.astype("U5"), i.astype("S5"), i.astype("M8[D]"), x.astype(np.longdouble), x.astype(">f8"))
show(np.char.add(x.astype(str), "a"), np.strings.upper(letters), np.char.multiply(letters, i), np.strings.str_len(letters))
show(np.datetime64("2020-01-01") + i, days + i, np.timedelta64(1, "D") * i, i.astype("m8[D]") * x, np.busday_offset(days, i))
show(things == x, np.array([1, 2, 3, 4, 5], object) * x, x == "a", x.astype(object).sum(), np.sum(i.astype(object)))
show(letters[i > 2], table.labels[i], columns["letter"][x > 2], letters.copy()[i], letters.take(i), letters.repeat(i))
letters[i > 3] = "z"
letters[x < 1] = letters[i == 2]
show(letters)
show(np.where(x > 2, "a", "b"), np.where(x > 2, None, "b"), np.select([x > 2, x < 1], ["a", "b"], "c"), np.choose(i % 2, ["a", "b"]))
show(np.take(["a", "b"], i % 2), np.concatenate([x, letters]), np.vstack([x, things]), np.lexsort((letters, x)))
show(np.frompyfunc(lambda v: v + 1, 1, 1)(x), np.vectorize(str)(i), np.longdouble(2) * x)
records = np.zeros(5, [("a", float), ("b", int)])
records["a"] = x
records["b"][i > 2] = 7
records["a"] += x
show(records, records[i], np.rec.fromarrays([x, i], names="a,b"))
out = io.BytesIO()
np.save(out, big)
np.savetxt(io.StringIO(), x)
show(len(out.getvalue()), np.loadtxt(io.StringIO("1 2")), np.genfromtxt(io.StringIO("1 2")), np.fromiter(range(3), float))
show(json.dumps(x.tolist()), decimal.Decimal(float(x[1])), bytes(i[:2]))
frame = pd.DataFrame({"a": x, "b": list("ababa")})
show(frame.groupby("b").mean(), frame.loc[x > 2], pd.Series(x) * x, x * pd.Series(x), np.log(pd.Series(x) + 1), pd.cut(x, np.array([0.0, 2, 5])))
show(np.where(pd.Series(x) > 2, x, 0), pd.Series(x).to_numpy() + x, pd.Index(i).get_indexer(i), pd.to_datetime(i, unit="D"))
"""


@pytest.mark.parametrize("least", ["0", "262144"])
def test_what_no_device_could_do_goes_on(tmp_path: Path, zygotes: Zygotes, backend: str, least: str) -> None:
    pytest.importorskip("pandas")
    (tmp_path / "main.py").write_text(PROGRAM)
    plain = zygotes.plain.run("main.py", cwd=tmp_path)
    assert plain.code == 0, plain.stderr
    done = zygotes.of(backend).run(
        "main.py", cwd=tmp_path, options=("--on-fallback", "error", "--min-size", least), reported=True
    )
    assert done.stderr.partition("arraydispatch: ")[0] == ""
    assert (done.code, done.stdout) == (0, plain.stdout)
    assert done.report["host_fallbacks"] == []
    assert not [row["text"] for row in done.report["advice"] if row["kind"] == "host"]


def test_numeric_work_that_the_library_cannot_do_stops(tmp_path: Path, zygotes: Zygotes, backend: str) -> None:
    if backend == "numpy":
        pytest.skip("inapplicable: the NumPy backend is the host")
    pytest.importorskip("scipy")
    script = "import numpy as np\nfrom scipy.special import pro_ang1\nprint(pro_ang1(1, 1, 1.0, np.full(3, 0.5)))\n"
    (tmp_path / "main.py").write_text(script)
    options = ("--on-fallback", "error", "--min-size", "0")
    done = zygotes.of(backend).run("main.py", cwd=tmp_path, options=options)
    assert done.code == 1
    assert "HostFallbackError: scipy.special.pro_ang1 runs on the host" in done.stderr


def test_operands_that_exist_only_on_the_host_stop_nothing(backend: str) -> None:
    import numpy as np

    if backend == "numpy":
        pytest.skip("inapplicable: the NumPy backend is the host")
    x = ad.asarray(np.arange(3.0), backend=backend)
    with ad.fallback("error"):
        assert (x + np.array([1, 2, 3], object)).dtype == object
        assert (np.array(["2020-01-01"] * 3, "M8[D]") + x.astype(int)).dtype == "M8[D]"
