"""What is loaded when: `import arraydispatch` loads no library, and a backend loads only its own."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from arraydispatch.backends import loader

ROOT = Path(__file__).resolve().parent.parent.parent

LAZY = ("jax", "jaxlib", "torch", "tensorflow", "keras", "scipy", "rich", "ml_dtypes", "array_api_compat")

LIBRARIES = {"numpy": set(), "jax": {"jax", "jaxlib"}, "torch": {"torch"}, "tensorflow": {"tensorflow", "keras"}}


def loaded(*codes: str) -> list[set[str]]:
    """Which of the lazily loaded packages a fresh interpreter has after running each of them, one after the other."""
    tell = f"\nimport sys\nprint(*[name for name in {LAZY!r} if name in sys.modules])\n"
    code = "".join(code + tell for code in codes)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return [set(line.split()) for line in done.stdout.splitlines()]


def test_the_probe_sees_what_is_loaded() -> None:
    assert loaded("import sys", "import ml_dtypes") == [set(), {"ml_dtypes"}]


def test_importing_the_package_loads_nothing() -> None:
    assert loaded("import arraydispatch") == [set()]


def test_numpy_arrays_load_nothing() -> None:
    code = "import numpy as np, arraydispatch as ad\na = ad.wrap(np.arange(3.0))\nassert np.sum(a + a) == 6.0"
    assert loaded(code) == [set()]


@pytest.mark.parametrize("backend", LIBRARIES)
def test_a_backend_loads_only_its_own_library(backend: str) -> None:
    library = "numpy" if backend == "numpy" else backend
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    code = (
        f"import numpy as np, arraydispatch as ad\nad.use({backend!r})\n"
        f"a = ad.asarray([1.0, 2.0])\nassert a.backend.name == {backend!r}\nassert float(np.sum(a + a)) == 6.0"
    )
    # A library may load another by itself (TensorFlow loads JAX): that is its own affair.
    by_itself, at_all = loaded(f"import {library}", code)
    others = set().union(*LIBRARIES.values()) - LIBRARIES[backend] - by_itself
    assert not at_all & others
    assert by_itself >= LIBRARIES[backend]


@pytest.mark.one_backend("first use of tensorflow")
@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_what_tensorflow_imports_on_first_use_too_waits_for_that(first: str) -> None:
    """Keras, with scikit-learn, pandas and Matplotlib where they are installed: 40 % of TensorFlow's import."""
    if importlib.util.find_spec("tensorflow") is None:
        pytest.skip("tensorflow is not installed")
    uses = (
        "import arraydispatch as ad, sys\nad.use('tensorflow')\nad.asarray([1.0])\n"
        "assert not [finder for finder in sys.meta_path if 'arraydispatch' in type(finder).__module__]"
    )
    if first == "theirs":
        (at_once,) = loaded(f"import keras\n{uses}")
        assert "keras" in at_once
        return
    by_user = "import tensorflow as tf\nfrom tensorflow.keras import layers\nassert layers.Dense is tf.keras.layers.Dense\ntf.optimizers.Adam()"
    before, after = loaded(uses, by_user)
    assert "tensorflow" in before
    assert "keras" not in before
    assert "keras" in after


@pytest.mark.parametrize("backend", [name for name in LIBRARIES if name != "numpy"])
def test_a_missing_library_names_its_install_command(backend: str) -> None:
    code = (
        f"import sys; sys.modules[{backend!r}] = None\nimport arraydispatch as ad\n"
        f"assert {backend!r} not in ad.available_backends()\n"
        f"try:\n    ad.use({backend!r})\nexcept ad.BackendNotInstalledError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert "pip install" in done.stdout
    assert backend in done.stdout


@pytest.mark.one_backend("a library that cannot be imported")
@pytest.mark.parametrize(
    "error", ["ImportError('no library')", "OSError('no library')", "AttributeError('no library')"]
)
@pytest.mark.parametrize("backend", [name for name in LIBRARIES if name != "numpy"])
def test_a_library_that_cannot_be_imported_is_named_with_the_reason(backend: str, error: str, tmp_path: Path) -> None:
    (tmp_path / backend).mkdir()
    (tmp_path / backend / "__init__.py").write_text(f"raise {error}")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport arraydispatch as ad\n"
        f"try:\n    ad.use({backend!r})\nexcept ad.BackendNotInstalledError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == (
        f"backend {backend!r}: the library {backend!r} is installed and cannot be imported: {error.partition('(')[0]}: no library;"
        f" to install it again, run: {loader.KNOWN[backend].install}\n"
    )


LOOKS = """
import numpy as np, arraydispatch as ad


class Foreign:
    \"\"\"An array of somebody else's, which knows nothing of ours.\"\"\"

    def __array__(self, dtype=None, copy=None):
        return np.ones(4)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if any(not isinstance(x, np.ndarray | float | Foreign) for x in inputs):
            return NotImplemented
        return getattr(ufunc, method)(*(np.ones(4) if isinstance(x, Foreign) else x for x in inputs), **kwargs)

    def __array_function__(self, function, types, args, kwargs):
        return "foreign"


def looks(x):
    device = x.device
    assert hasattr(x, "device") and str(device) == "cpu" == device and device == x.device and device.kind == "CPU"
    assert isinstance(device, ad.Device) and hash(device) == hash(x.device) and "name='cpu'" in repr(device)
    assert x.to_device(device) is x and x.to_device("cpu") is x
    assert np.add(x, Foreign()).tolist() == (x + Foreign()).tolist() == [1, 2, 3, 4]
    assert np.concatenate([x, Foreign()]) == "foreign"
    assert np.stack([x, np.ma.array([1.0, 2, 3, 4])]).shape == (2, 4)
"""


@pytest.mark.parametrize("backend", [name for name in LIBRARIES if name != "numpy"])
def test_looking_at_an_array_on_the_host_loads_nothing(backend: str, tmp_path: Path) -> None:
    """Its device, and a call in which an object of another library takes part; the library is loaded for what only it can tell."""
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    script = tmp_path / "looks.py"
    tell = f"print([name for name in {sorted(LIBRARIES[backend])!r} if name in sys.modules])\n"
    script.write_text(
        f"import sys\n{LOOKS}\nx = np.arange(4.0)\nlooks(x)\n{tell}"
        f"y = ad.asarray(x)\nassert x.device.native is not None and x.device.processor_count\nassert {backend!r} in sys.modules\nlooks(x)\n"
    )
    command = [sys.executable, "-W", "ignore", "-m", "arraydispatch", "run", "--backend", backend, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "[]"


def test_several_devices_of_a_cpu_are_named_by_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=2")
    assert loader.several_cpus("jax")
    assert not loader.several_cpus("torch")
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_max_isa=AVX")
    assert not loader.several_cpus("jax")
