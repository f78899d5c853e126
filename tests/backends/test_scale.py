"""Cost on many devices: what compiled programs send is what the page of the cost model says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| ([\w ]+?) \| ([a-z-]+) \| `([^`]+)` \|$", re.MULTILINE)
SIZE = 1024


def _formulas(devices: int) -> dict[str, Counter[str]]:
    page = (ROOT / "docs" / "explanation" / "scale.md").read_text(encoding="utf-8")
    found: dict[str, Counter[str]] = {}
    for program, kind, formula in ROW.findall(page):
        value = eval(formula, {"N": SIZE, "P": devices})
        found.setdefault(program, Counter())[kind] += int(value)
    return found


@pytest.mark.parametrize("devices", [4, *[pytest.param(devices, marks=pytest.mark.long) for devices in (2, 8, 64)]])
def test_the_page_has_what_programs_send(devices: int) -> None:
    pytest.importorskip("jax")
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}"
    run = subprocess.run(
        [sys.executable, "-m", "tests.backends.mesh_scale"],
        cwd=ROOT,
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]
    formulas = _formulas(devices)
    counted = json.loads(run.stdout)
    assert counted.keys() == formulas.keys()
    for program, each in counted.items():
        sent: Counter[str] = Counter()
        for collective in each:
            sent[collective["kind"]] += collective["bytes"]
        wanted = formulas[program]
        if not sent:
            assert wanted == Counter(none=0), program
            continue
        assert sent.keys() == wanted.keys(), program
        for kind, nbytes in sent.items():
            least = 0 if devices == 2 and kind == "collective-permute" else wanted[kind] - 4 * 8
            assert least <= nbytes <= wanted[kind], (program, kind, nbytes, wanted)
