"""How many threads libraries use: what the process may use, what is asked for, and fewer while others keep the processors busy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.backends.devices import processors
from arraydispatch.common.process_state import process
from arraydispatch.dispatch import fp_errors
from arraydispatch.runtime import resources
from tests.launched import Zygotes

ROOT = Path(__file__).parents[2]


def _fresh(code: str, **more: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3", **more}
    for name in (*resources.THREADS, "NPROC", "PJRT_NPROC"):
        if name not in more:
            env.pop(name, None)
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return done.stdout


# -- what may be used ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({}, 8),
        ({"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "max 100000\n"}, 8),
        ({"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "250000 100000\n"}, 3),
        ({"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "50000 100000\n"}, 1),
        ({"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "6400000 100000\n"}, 8),
        (
            {
                "/proc/self/cgroup": "0::/a.slice/b\n",
                "/sys/fs/cgroup/a.slice/cpu.max": "400000 100000\n",
                "/sys/fs/cgroup/a.slice/b/cpu.max": "max 100000\n",
            },
            4,
        ),
        (
            {
                "/proc/self/cgroup": "4:memory:/x\n2:cpu,cpuacct:/docker/1\n",
                "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "200000\n",
                "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            2,
        ),
        (
            {
                "/proc/self/cgroup": "2:cpu:/\n",
                "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            8,
        ),
    ],
)
def test_affinity_and_quota(files: dict[str, str], found: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "_read", lambda path: files.get(path, ""))
    monkeypatch.setattr(resources, "processors", lambda: 8)
    assert resources.available() == found


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="inapplicable: needs an affinity")
def test_the_affinity_of_this_process() -> None:
    code = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); from arraydispatch.runtime import resources; print(resources.available())"
    assert _fresh(code) == "1\n"


# -- what is asked for ---------------------------------------------------------------------------------------------------

_COUNT = {
    "jax": "import jax, os\nprint(sum('XLAEigen' in open(f'/proc/self/task/{t}/comm').read() for t in os.listdir('/proc/self/task')))",
    "torch": "import torch\nprint(torch.get_num_threads())",
    "tensorflow": "import tensorflow as tf\nprint(tf.config.threading.get_intra_op_parallelism_threads())\n"
    "assert tf.config.threading.get_inter_op_parallelism_threads() == 3",
    "numpy": "import threadpoolctl\nprint(*{p['num_threads'] for p in threadpoolctl.threadpool_info()})",
}


@pytest.mark.skipif(sys.platform != "linux", reason="inapplicable: looks at Linux's tasks")
@pytest.mark.one_backend
def test_a_number_for_every_library(backend: str) -> None:
    """Of the backend, of NumPy's BLAS, and of what is loaded later."""
    told = _fresh(f"""
import numpy as np, arraydispatch as ad
ad.use({backend!r}, threads=3)
x = ad.asarray(np.ones((20, 20)))
x @ x
{_COUNT[backend]}
{_COUNT["numpy"]}
assert ad.backend({backend!r}).threads == 3
ad.use(threads=3)
for name in ad.available_backends():
    assert ad.backend(name).threads == 3, name
""")
    assert told == "3\n3\n"


def test_a_library_that_has_started_refuses_another_number(backend: str, tmp_path: Path, zygotes: Zygotes) -> None:
    (tmp_path / "main.py").write_text(f"""
import arraydispatch as ad
ad.use({backend!r})
ad.asarray([1.0]) + 1
before = ad.backend({backend!r}).threads
try:
    ad.use(threads=before + 1, precision=32)
    print("changed", ad.backend({backend!r}).threads - before)
except RuntimeError as error:
    print("refused", ad.backend({backend!r}).threads - before, ad.get_precision(), "thread" in str(error).lower() or "parallelism" in str(error))
""")
    done = zygotes.with_library(backend).run("main.py", cwd=tmp_path)
    assert done.stdout == ("refused 0 None True\n" if backend in ("jax", "tensorflow") else "changed 1\n"), done.stderr


def test_none_is_what_may_be_used() -> None:
    assert _fresh("import arraydispatch as ad; print(ad.use(threads=None).threads)") == f"{resources.available()}\n"


@pytest.mark.parametrize(
    ("wrong", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), ("2", TypeError), (True, TypeError)]
)
def test_what_is_no_number_of_threads(wrong: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="threads must be"):
        ad.use(threads=wrong)


def test_a_block_puts_the_numbers_back(monkeypatch: pytest.MonkeyPatch) -> None:
    held = ad.backend("numpy")
    before, later = held.threads, process.threads
    with resources.kept():
        ad.use("numpy", threads=before + 1)
        assert (held.threads, process.threads) == (before + 1, before + 1)
    assert (held.threads, process.threads) == (before, later)


def test_by_default_no_more_than_a_quota_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in resources.THREADS:
        monkeypatch.delenv(name, raising=False)
    held = ad.backend("numpy")
    with resources.kept():
        held.use_threads(7)
        monkeypatch.setattr(resources, "processors", lambda: 64)
        monkeypatch.setattr(resources, "_quota", lambda: 2.5)
        resources.fit()
        assert (held.threads, process.threads) == (3, 3)
        held.use_threads(2)
        resources.fit()
        assert held.threads == 2
        held.use_threads(7)
        monkeypatch.setenv(resources.THREADS[0], "7")  # somebody has chosen
        resources.fit()
        assert held.threads == 7


# -- the launcher ----------------------------------------------------------------------------------------------------------


def test_the_option(tmp_path: Path, zygotes: Zygotes) -> None:
    name = "torch" if "torch" in ad.available_backends() else "numpy"
    (tmp_path / "main.py").write_text(
        "import os\nimport numpy as np\n"
        f"{_COUNT[name]}\n"
        "print(os.environ['OMP_NUM_THREADS'], os.environ['OPENBLAS_NUM_THREADS'])\n"
    )
    done = zygotes.of(name).run("main.py", cwd=tmp_path, options=("--threads", "3"))
    assert (done.code, done.stdout) == (0, "3\n3 3\n"), done.stderr


def test_without_it_the_program_sees_nothing_of_ours(tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text(
        "import os, threading\nimport numpy as np\nnp.ones(3)\n"
        "print(threading.active_count(), [name for name in os.environ if 'THREADS' in name])\n"
    )
    run = "import sys; from arraydispatch.launcher.commands.cli import main; sys.exit(main(['run', '--backend', 'numpy', sys.argv[1]]))"
    assert _fresh(run.replace("sys.argv[1]", repr(str(script)))) == _fresh(script.read_text()) == "1 []\n"


@pytest.mark.parametrize("wrong", ["0", "-1", "many", "1.5"])
def test_a_wrong_option(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    from arraydispatch.launcher.commands.cli import main

    assert main(["run", f"--threads={wrong}", "x.py"]) == 2
    assert "must be a positive integer" in capsys.readouterr().err


# -- the look at results -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("char", "fdFD")
def test_a_look_misses_nothing(char: str) -> None:
    for n in (1, 9_999, 10_000, 10_001, 20_000, 20_001, 70_003, 1 << 17, (1 << 17) + 1):
        x = np.ones(n, char)
        assert fp_errors._finite(x)
        for at in {0, n // 2, n - 1, min(n - 1, 10_000)}:
            for bad in (np.inf, -np.inf, np.nan):
                x[at] = bad
                assert not fp_errors._finite(x)
                assert not fp_errors._finite(x.reshape(1, -1).T)
                assert not fp_errors._finite(x[::-1])
            x[at] = 1
    assert fp_errors._finite(np.ones((200, 100), char, order="F"))


def test_a_look_at_what_is_not_large_is_one_threads_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenBLAS shares products of more than 10,000 elements among threads that wait for each other."""
    sizes: list[int] = []
    real = np.vdot
    monkeypatch.setattr(fp_errors, "_vdot", lambda a, b: sizes.append(a.size) or real(a, b))
    for n in (10_000, 17_970, 110_000, 1 << 17):
        assert fp_errors._finite(np.ones(n))
    assert max(sizes) == 10_000
    assert processors() >= 1


@pytest.mark.parametrize("name", [name for name in ad.available_backends() if name != "numpy"])
def test_a_look_at_what_is_cast_is_one_threads_work(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    real = np.vdot
    monkeypatch.setattr(fp_errors, "_vdot", lambda a, b: sizes.append(a.size) or real(a, b))
    monkeypatch.setattr(np, "vdot", lambda a, b: sizes.append(a.size) or real(a, b))
    x = np.full(17_970, 2.5)
    with np.errstate(invalid="raise"):
        assert int(ad.asarray(x, backend=name).astype(int)[-1]) == 2
        x[-1] = 1e30
        with pytest.raises(FloatingPointError):
            ad.asarray(x, backend=name).astype(int)
    assert max(sizes) == 10_000
