"""The HTML report of the heat example in headless Chromium: no error on the console, plots drawn, source annotated.

Needs Chromium (Debian: ``apt-get install chromium``); a machine without one skips it and says so.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: the report is not looked at in a browser"),
]


class _Page(HTMLParser):
    """What a test asks of the page after its scripts have run."""

    def __init__(self) -> None:
        super().__init__()
        self.plot = ""
        self.shapes: dict[str, int] = {}
        self.rows: dict[int, str] = {}
        self._row = 0
        self._text = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = {key: value or "" for key, value in attributes}
        if named.get("id", "").startswith("plot-"):
            self.plot = named["id"]
            self.shapes[self.plot] = 0
        if tag == "path" and self.plot and "fill: rgb" in named.get("style", ""):
            self.shapes[self.plot] += 1
        if tag == "tr":
            found = re.search(r"heat_equation\.py:(\d+)$", named.get("id", ""))
            self._row = int(found[1]) if found else 0

    def handle_data(self, data: str) -> None:
        if self._row:
            self.rows[self._row] = self.rows.get(self._row, "") + data


def _chromium(*args: str) -> subprocess.CompletedProcess[str]:
    assert CHROMIUM is not None
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=10000")
    return subprocess.run([CHROMIUM, *flags, *args], capture_output=True, text=True, timeout=180)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("plotly")
    path = tmp_path_factory.mktemp("report") / "heat.html"
    command = [sys.executable, "-m", "arraydispatch", "run", "--report", str(path)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, str(ROOT / "docs" / "examples" / "heat_equation.py")], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return path


def test_no_console_error_plots_drawn_source_annotated(report: Path) -> None:
    done = _chromium("--enable-logging=stderr", "--log-level=0", "--dump-dom", report.as_uri())
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stderr.splitlines() if ":CONSOLE" in line] == []
    page = _Page()
    page.feed(done.stdout)
    assert page.shapes.keys() >= {"plot-functions", "plot-share", "plot-line"}
    assert all(count > 3 for name, count in page.shapes.items() if name in ("plot-functions", "plot-line"))
    assert page.shapes["plot-share"] >= 2
    source = (ROOT / "docs" / "examples" / "heat_equation.py").read_text().splitlines()
    assert len(page.rows) == len(source)
    busiest = next(n for n, line in enumerate(source, 1) if "u[1:-1, 1:-1] +=" in line)
    assert source[busiest - 1].strip() in page.rows[busiest]
    assert re.match(rf"{busiest}4,800[\d.,]+ m?s", page.rows[busiest])
    assert page.rows[source.index("import numpy as np") + 1].strip().endswith("import numpy as np")


def test_an_error_would_be_seen(tmp_path: Path) -> None:
    page = tmp_path / "broken.html"
    page.write_text("<script>missing.function()</script>")
    done = _chromium("--enable-logging=stderr", "--log-level=0", "--dump-dom", page.as_uri())
    assert any(":CONSOLE" in line for line in done.stderr.splitlines())


def test_it_can_be_looked_at(report: Path, tmp_path: Path) -> None:
    """A picture of the first screen is not one colour: something is drawn."""
    picture = tmp_path / "report.png"
    _chromium("--window-size=1280,2000", f"--screenshot={picture}", report.as_uri())
    assert picture.stat().st_size > 50_000
